// ceaz_symbols.sv - one stream's residuals to symbols (format.md 1.4): each cycle takes a residual, or several zeros,
// and gives a symbol.
//
// It counts zeros until something else comes. The run, and the residual that ends it, go through a queue, so that it
// writes the symbols of a run while it counts the next zeros. There are never more symbols than residuals.
module ceaz_symbols (
    input  logic        clk,
    input  logic        rst,
    input  logic [20:0] runs,      // which runs have a code: 2..15, 16, 32 .. 1024
    input  logic [31:0] r,
    input  logic [ 5:0] times,     // if the residual is 0: the number of zeros
    input  logic        last,
    input  logic        valid,
    output logic        ready,
    // A symbol, the bits behind its code, and its residual: 0 for runs.
    output logic [ 9:0] symbol,
    output logic [ 4:0] extra,
    output logic [31:0] residual,
    output logic        m_last,
    output logic        m_valid
);
  localparam int DEPTH = 16;

  // ---- runs, and the residuals that end them ----
  logic [13:0] zeros, run_in;
  logic push, is_zero;
  assign is_zero = r == 32'b0;
  assign run_in  = zeros + (is_zero ? {8'b0, times} : 14'd0);
  assign push    = valid && ready && (!is_zero || last);

  logic [46:0] queue[DEPTH];  // last, run, residual
  logic [4:0] head, tail;     // one bit more than needed: full or empty
  logic empty, pop;
  assign empty = head == tail;
  assign ready = !(head[3:0] == tail[3:0] && head[4] != tail[4]);
  always_ff @(posedge clk) begin
    if (valid && ready) zeros <= push ? 14'd0 : run_in;
    if (push) begin
      queue[tail[3:0]] <= {last, run_in, r};
      tail             <= tail + 5'd1;
    end
    if (pop) head <= head + 5'd1;
    if (rst) begin
      zeros <= 14'd0;
      head  <= 5'd0;
      tail  <= 5'd0;
    end
  end

  // ---- the longest run that fits and has a code ----
  logic [13:0] run;
  logic [31:0] value;
  logic ending, busy;
  logic [9:0] run_symbol;
  logic [13:0] run_length;
  always_comb begin
    run_symbol = 10'd16;
    run_length = 14'd1;
    for (int i = 0; i < 14; i++)
    if (runs[i] && run >= 14'(i) + 14'd2) begin
      run_symbol = 10'd976 + 10'(i);
      run_length = 14'(i) + 14'd2;
    end
    for (int i = 0; i < 7; i++)
    if (runs[14+i] && run >= (14'd16 << i)) begin
      run_symbol = 10'd990 + 10'(i);
      run_length = 14'd16 << i;
    end
  end

  // ---- a residual's class: the residual without its lowest bits ----
  logic [31:0] m, rest;
  logic [5:0] bits;
  logic [4:0] low;
  logic [2:0] high;
  assign m = value[31] ? ~value : value;
  always_comb begin
    bits = 6'd0;
    for (int i = 0; i < 32; i++) if (m[i]) bits = 6'(i) + 6'd1;
    low  = bits < 6'd5 ? 5'd0 : 5'(bits - 6'd4);
    rest = value >> low;
    high = rest[2:0];
  end

  logic in_run, finished;
  assign in_run   = run != 14'd0;
  assign finished = in_run ? run == run_length && value == 32'b0 : 1'b1;
  assign pop      = !empty && (!busy || finished);
  always_ff @(posedge clk) begin
    m_valid <= busy;
    m_last  <= ending && finished;
    if (in_run) begin
      symbol   <= run_symbol;
      extra    <= 5'd0;
      residual <= 32'd0;
    end else begin
      symbol   <= low == 5'd0 ? value[9:0] + 10'd16 :
          10'd16 + {1'b0, low, 4'b0} + {6'b0, value[31], high};
      extra    <= low;
      residual <= value;
    end
    if (busy) begin
      if (in_run) run <= run - run_length;
      if (finished) busy <= 1'b0;
    end
    if (pop) begin
      {ending, run, value} <= queue[head[3:0]];
      busy                 <= 1'b1;
    end
    if (rst) begin
      busy    <= 1'b0;
      m_valid <= 1'b0;
    end
  end
  logic unused;
  assign unused = &{1'b0, rest[31:3]};
endmodule

// flare_collect.sv - FIFO1: the codes of M arrays in the order of blocks, of 8 bits, up to four a cycle. Codes that do
// not fit are escapes. Each array has memory for the codes of a block, so that it need not wait for arrays before it.
module flare_collect #(
    parameter int M = 4,
    parameter int LOG = M > 1 ? $clog2(M) : 1,
    parameter int DEPTH = 8192  // rows of four codes; a block begins a new one
) (
    input  logic            clk,
    input  logic            rst,
    // Blocks that have codes, in order. `full`: no more at present.
    input  logic            job,
    input  logic [ LOG-1:0] job_array,
    output logic            full,
    input  logic [24*M-1:0] s_code,
    input  logic [   M-1:0] s_last,    // of a block
    input  logic [   M-1:0] s_valid,
    output logic [   M-1:0] s_ready,
    output logic [     2:0] m_count,   // 1 to 4
    output logic [    31:0] m_code,
    output logic [     3:0] m_escape,
    output logic [    95:0] m_value,   // the codes, of which some are escapes
    output logic            m_valid,
    input  logic            m_ready,
    output logic            empty
);
  localparam int A = $clog2(DEPTH);
  // The array whose turn it is: of each array one block goes out, and one waits behind it.
  localparam int JOBS = 4 * M;
  localparam int JA = $clog2(JOBS);
  logic [LOG-1:0] jobs[JOBS];
  logic [JA:0] in, out;
  logic turns, taken;
  logic [LOG-1:0] turn;
  assign turns = in != out;
  assign full  = in - out == (JA + 1)'(JOBS);
  assign turn  = jobs[out[JA-1:0]];

  // A row is read ahead from each memory.
  logic [M-1:0] there, some;
  logic [4*M-1:0] last;
  logic [96*M-1:0] code;
  generate
    for (genvar k = 0; k < M; k++) begin : queue
      logic [A:0] write_at, read_at;
      logic [1:0] place;
      logic reads, put, next;
      assign put = s_valid[k] && s_ready[k];
      assign s_ready[k] = write_at - read_at != (A + 1)'(DEPTH);
      assign next = taken && turn == LOG'(k);
      assign reads = write_at != read_at && (!there[k] || next);
      assign some[k] = write_at != read_at || there[k];
      always_ff @(posedge clk) begin
        if (put) place <= s_last[k] ? 2'd0 : place + 1'b1;
        if (put && (s_last[k] || place == 2'd3)) write_at <= write_at + 1'b1;
        if (reads) read_at <= read_at + 1'b1;
        if (reads) there[k] <= 1'b1;
        else if (next) there[k] <= 1'b0;
        if (rst) begin
          place    <= '0;
          write_at <= '0;
          read_at  <= '0;
          there[k] <= 1'b0;
        end
      end
      for (genvar i = 0; i < 4; i++) begin : word
        ceaz_memory #(
            .W(25),
            .DEPTH(DEPTH)
        ) memory (
            .clk,
            .write(put && place == 2'(i)),
            .write_at(write_at[A-1:0]),
            .write_data({s_last[k], s_code[24*k+:24]}),
            .read(reads),
            .read_at(read_at[A-1:0]),
            .read_data({last[4*k+i], code[96*k+24*i+:24]})
        );
      end
    end
  endgenerate
  assign taken = turns && there[turn] && (!m_valid || m_ready);
  assign empty = !turns && some == '0 && !m_valid;

  logic [95:0] row;
  logic [3:0] ends, fits;
  logic [2:0] length;
  assign row    = code[96*turn+:96];
  assign ends   = last[4*turn+:4];
  assign length = ends[0] ? 3'd1 : ends[1] ? 3'd2 : ends[2] ? 3'd3 : 3'd4;
  always_comb for (int i = 0; i < 4; i++) fits[i] = row[24*i+7+:17] == {17{row[24*i+7]}} && row[24*i+:8] != 8'h80;
  always_ff @(posedge clk) begin
    if (job) begin
      jobs[in[JA-1:0]] <= job_array;
      in <= in + 1'b1;
    end
    if (taken && ends != 4'b0) out <= out + 1'b1;
    if (!m_valid || m_ready) begin
      m_valid  <= taken;
      m_count  <= length;
      m_escape <= ~fits;
      m_value  <= row;
      for (int i = 0; i < 4; i++) m_code[8*i+:8] <= fits[i] ? row[24*i+:8] : 8'h80;
    end
    if (rst) begin
      in      <= '0;
      out     <= '0;
      m_valid <= 1'b0;
    end
  end
endmodule

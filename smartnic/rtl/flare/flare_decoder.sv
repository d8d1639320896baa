// flare_decoder.sv - a stream of bits to codes (format.md 1.6): a symbol in three cycles, a code a cycle. The table,
// which the driver writes between batches, tells the symbol of the next 12 bits.
module flare_decoder (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [13:0] total,        // codes of the stream, at most 2048
    input  logic [13:0] size,         // bytes
    output logic        busy,
    output logic        wrong,        // the stream is invalid, until the next start
    input  logic        table_write,
    input  logic [11:0] table_at,     // bits, the first lowest
    input  logic [13:0] table_entry,  // length, symbol
    input  logic [63:0] s_word,
    input  logic        s_valid,
    output logic        s_ready,
    output logic [ 7:0] m_code,
    output logic        m_valid,
    input  logic        m_ready
);
  typedef enum logic [2:0] {IDLE, LOOK, READ, TAKE, GIVE, CLOSE} state_t;
  state_t state;
  logic [13:0] come, given;  // bytes, codes
  logic [127:0] held;
  logic [7:0] bits;   // in `held`
  logic [17:0] used;  // of the stream
  assign busy = state != IDLE;
  // ---- bits ----
  logic wants, takes;
  assign wants   = come < size && bits <= 8'd64;
  assign s_ready = state == LOOK && wants;
  assign takes   = s_ready && s_valid;

  // ---- a symbol ----
  logic [13:0] entry;
  logic [9:0] symbol, class_at;
  logic [3:0] length;
  logic [5:0] extra, all;
  logic [31:0] rest, value;
  logic [13:0] run, zeros;
  logic is_run, fits;
  ceaz_memory #(
      .W(14),
      .DEPTH(4096)
  ) entries (
      .clk,
      .write(table_write),
      .write_at(table_at),
      .write_data(table_entry),
      .read(state == READ),
      .read_at(held[11:0]),
      .read_data(entry)
  );
  assign {length, symbol} = entry;
  assign class_at = symbol - 10'd32;
  assign is_run   = symbol >= 10'd976 && symbol != 10'd997;
  assign zeros    = symbol < 10'd990 ? {4'b0, symbol} - 14'd974 : 14'd16 << 3'(symbol - 10'd990);
  assign extra    = symbol < 10'd32 || is_run ? 6'd0 : symbol == 10'd997 ? 6'd32 : class_at[9:4] + 6'd1;
  assign all      = {2'b0, length} + extra;
  assign rest     = 32'(held >> length) & ~(32'hFFFF_FFFF << extra);
  always_comb begin
    if (symbol < 10'd32) value = {22'b0, symbol} - 32'd16;
    else if (symbol == 10'd997) value = rest;
    else value = ({{28{class_at[3]}}, !class_at[3], class_at[2:0]} << extra) + rest;
  end
  assign fits    = is_run ? given + zeros <= total : value[31:7] == {25{value[7]}} && extra <= 6'd32;
  assign m_valid = state == GIVE;
  always_ff @(posedge clk) begin
    if (takes) begin
      held <= held | {64'b0, s_word} << bits;
      bits <= bits + 8'd64;
      come <= come + 14'd8;
    end
    case (state)
      IDLE:
      if (start) begin
        held  <= '0;
        bits  <= 8'd0;
        come  <= 14'd0;
        used  <= 18'd0;
        given <= 14'd0;
        wrong <= 1'b0;
        state <= total == 14'd0 ? CLOSE : LOOK;
      end
      LOOK: if (!wants) state <= READ;
      READ: state <= TAKE;
      TAKE: begin
        held   <= held >> all;
        bits   <= bits > {2'b0, all} ? bits - {2'b0, all} : 8'd0;
        used   <= used + {12'b0, all};
        m_code <= is_run ? 8'd0 : value[7:0];
        run    <= is_run ? zeros : 14'd1;
        state  <= fits && !(used + {12'b0, all} > {1'b0, size, 3'b0}) ? GIVE : CLOSE;
        wrong  <= wrong || !fits || used + {12'b0, all} > {1'b0, size, 3'b0};
      end
      GIVE:
      if (m_ready) begin
        given <= given + 14'd1;
        run   <= run - 14'd1;
        if (run == 14'd1) state <= given + 14'd1 == total ? CLOSE : LOOK;
      end
      default: begin  // all bytes were taken, and what is left of the last one is zeros
        state <= IDLE;
        if ((used + 18'd7) >> 3 != {4'b0, size} || held != '0) wrong <= 1'b1;
      end
    endcase
    if (rst) state <= IDLE;
  end
endmodule

// ceaz_bits.sv - packs codes and the bits behind them into words of 64 bits, lowest first (format.md 1.4): one of each
// a cycle.
module ceaz_bits #(
    parameter int A = 11  // 2^A words
) (
    input  logic         clk,
    input  logic         start,
    input  logic [ 43:0] value,   // zeros above its bits
    input  logic [  5:0] count,   // of bits
    input  logic         last,
    input  logic         valid,
    output logic         write,
    output logic [A-1:0] at,
    output logic [ 63:0] word,
    output logic         done,
    output logic         overflow,
    output logic [A+2:0] bytes
);
  logic [63:0] held;
  logic [5:0] fill;
  logic flush, full;
  logic [A-1:0] words;
  logic [106:0] wide;
  logic [6:0] total;
  assign wide  = {43'b0, held} | {63'b0, value} << fill;
  assign total = {1'b0, fill} + {1'b0, count};

  always_ff @(posedge clk) begin
    write <= 1'b0;
    if (write) {full, words} <= {1'b0, words} + 1'b1;
    if (full) overflow <= 1'b1;
    if (valid) begin
      word  <= wide[63:0];
      write <= total[6];
      held  <= total[6] ? {21'b0, wide[106:64]} : wide[63:0];
      fill  <= total[5:0];
      flush <= last;
    end
    if (flush) begin
      word  <= held;
      write <= fill != 6'd0;
      flush <= 1'b0;
      done  <= 1'b1;
      bytes <= {words + {{A - 1{1'b0}}, write}, 3'b0} + {{A - 1{1'b0}}, 4'((7'(fill) + 7'd7) >> 3)};
    end
    if (start) begin
      words    <= '0;
      held     <= 64'b0;
      fill     <= 6'd0;
      flush    <= 1'b0;
      full     <= 1'b0;
      overflow <= 1'b0;
      done     <= 1'b0;
      bytes    <= '0;
      write    <= 1'b0;
    end
  end
  assign at = words;
endmodule

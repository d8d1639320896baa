// flare_scale.sv - scales decoded values of a slice to the 8 bits that the network takes (FLARE 3.2, fused): it
// subtracts the slice's minimum and multiplies by an integer reciprocal of its range. A slice divides once for that,
// which takes 24 cycles; then it takes a value a cycle.
module flare_scale (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [31:0] least,
    input  logic [31:0] largest,   // more than that
    output logic        ready,
    input  logic [31:0] s_value,
    output logic [ 7:0] m_value    // a cycle later
);
  // The range in 16 bits: `drop` lower ones are left out.
  logic [31:0] range, offset;
  logic [4:0] drop;
  assign range = largest - least;
  always_comb begin
    drop = 5'd0;
    for (int i = 16; i < 32; i++) if (range[i]) drop = 5'(i - 15);
  end
  // 2^24 by the range and one, bit by bit.
  logic [4:0] left, dropped;
  logic [16:0] divisor, rest, twice;
  logic [23:0] quotient;
  logic fits;
  assign twice = {rest[15:0], 1'b0};
  assign fits  = twice >= divisor;
  assign ready = left == 5'd0;
  always_ff @(posedge clk) begin
    if (start) begin
      left     <= 5'd24;
      dropped  <= drop;
      divisor  <= 17'(range >> drop) + 17'd1;
      rest     <= 17'd1;
      quotient <= '0;
    end else if (!ready) begin
      left     <= left - 5'd1;
      rest     <= fits ? twice - divisor : twice;
      quotient <= {quotient[22:0], fits};
    end
    if (rst) left <= 5'd0;
  end
  logic [39:0] product;
  assign offset  = (s_value - least) >> dropped;
  assign product = {24'b0, offset[15:0]} * {16'b0, quotient};
  always_ff @(posedge clk) m_value <= product[23:16];
  logic unused;
  assign unused = &{1'b0, offset[31:16], product[39:24], product[15:0], rest[16]};
endmodule

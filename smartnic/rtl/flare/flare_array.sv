// flare_array.sv - a one-dimensional systolic array: four multipliers, whose sum goes from one to the next, then the
// quantizer (format.md 1.6). It takes a point a cycle, which comes out six cycles later. Without `go` everything stands
// still.
module flare_array (
    input  logic        clk,
    input  logic        go,
    input  logic        decode,  // `value` is a code
    input  logic [ 2:0] has,     // which of the points at -3, 1, 3 the block has, lowest first
    input  logic [31:0] a,
    input  logic [31:0] b,
    input  logic [31:0] c,
    input  logic [31:0] d,
    input  logic [31:0] value,
    input  logic        none,    // has no value: its code is 0
    output logic [31:0] m_code,
    output logic [31:0] m_value
);
  // Of the four points, in sixteenths.
  function automatic logic [5:0] weight(input logic [1:0] number, input logic [2:0] there);
    logic left, behind, right;
    left   = there[0];
    behind = there[1];
    right  = there[2];
    case (number)
      2'd0: weight = !left ? 6'd0 : !behind ? -6'sd8 : right ? -6'sd1 : -6'sd2;
      2'd1: weight = !behind ? (left ? 6'd24 : 6'd16) : left ? (right ? 6'd9 : 6'd12) : (right ? 6'd6 : 6'd8);
      2'd2: weight = !behind ? 6'd0 : left ? (right ? 6'd9 : 6'd6) : (right ? 6'd12 : 6'd8);
      default: weight = !behind || !right ? 6'd0 : left ? -6'sd1 : -6'sd2;
    endcase
  endfunction

  // Points and weights wait until the sum has passed the multipliers before them.
  logic [31:0] b1, c1, c2, d1, d2, d3, sum1, sum2, sum3, sum4, value1, value2, value3, value4;
  logic [2:0] has1, has2, has3;
  logic none1, none2, none3, none4;
  function automatic logic [31:0] product(input logic [5:0] w, input logic [31:0] v);
    product = {{26{w[5]}}, w} * v;
  endfunction
  always_ff @(posedge clk)
    if (go) begin
      sum1 <= 32'd8 + product(weight(2'd0, has), a);
      {has1, b1, c1, d1, value1, none1} <= {has, b, c, d, value, none};
      sum2 <= sum1 + product(weight(2'd1, has1), b1);
      {has2, c2, d2, value2, none2} <= {has1, c1, d1, value1, none1};
      sum3 <= sum2 + product(weight(2'd2, has2), c2);
      {has3, d3, value3, none3} <= {has2, d2, value2, none2};
      sum4 <= sum3 + product(weight(2'd3, has3), d3);
      {value4, none4} <= {value3, none3};
    end

  logic [31:0] predicted, predicted5, difference, code5;
  assign predicted  = 32'($signed(sum4) >>> 4);
  assign difference = value4 - predicted + 32'd128;
  always_ff @(posedge clk)
    if (go) begin
      predicted5 <= predicted;
      code5      <= decode ? value4 : none4 ? 32'd0 : 32'($signed(difference) >>> 8);
      m_code     <= code5;
      m_value    <= predicted5 + (code5 << 8);
    end
endmodule

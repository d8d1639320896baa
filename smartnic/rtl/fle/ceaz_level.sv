// ceaz_level.sv - one lane that tests whether a step reproduces an element bit for bit (format.md 4.4): is x = q step?
//
// Five stages. `differs` is not set for elements that cannot be quantized. A step has at most 10 significant bits, and
// q step at most 24, so the product is exact. The unit compares significands; it shifts x's by the difference of the
// exponents.
module ceaz_level (
    input  logic        clk,
    input  logic [31:0] x,
    input  logic [16:0] step,     // exponent and the highest bits below the leading one
    input  logic [30:0] inverse,
    input  logic [30:0] limit,
    output logic        differs
);
  logic [31:0] q;
  logic ok;
  ceaz_quant quant (
      .clk,
      .x,
      .inverse,
      .limit,
      .q,
      .ok
  );

  logic [30:0] x1, x2, x3;
  always_ff @(posedge clk) begin
    x1 <= x[30:0];
    x2 <= x1;
    x3 <= x2;
  end

  logic [31:0] magnitude;
  logic [7:0] apart;
  assign magnitude = q[31] ? -q : q;
  assign apart     = x3[30:23] - step[16:9];

  logic [32:0] product;
  logic [46:0] wanted;
  logic ok4, is_zero, q_zero, near;
  always_ff @(posedge clk) begin
    product <= {10'b0, magnitude[22:0]} * {23'b0, 1'b1, step[8:0]};
    wanted  <= {23'b0, 1'b1, x3[22:0]} << apart[4:0];
    near    <= x3[30:23] >= step[16:9] && apart < 8'd24;
    is_zero <= x3 == 31'b0;
    q_zero  <= magnitude == 32'b0;
    ok4     <= ok;
    differs <= ok4 && (q_zero ? !is_zero : !near || {product, 14'b0} != wanted);
  end
endmodule

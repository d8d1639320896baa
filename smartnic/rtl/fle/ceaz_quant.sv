// ceaz_quant.sv - one lane of the first quantization (format.md 4.5; CEAZ 3.3): q = rint(x * inverse), three stages.
//
// The product is rounded to 24 bits, then to an integer, each time to nearest even, as the codec does with floats.
// `ok`: the element can be quantized, that is |x| <= limit, and it is not -0. The codec also checks that |x - q step|
// is below the bound. Here that holds for every such element whose q step is finite; format.md 4.4 has the proof: |q|
// <= 2^(23-b), and so the error is at most (1/2 + 2^-b) step <= (1 + 2^(1-b)) (1 - 2^(1-b)) bound. For the few others,
// beside the largest floats, the driver lowers the limit (register `reach`). Products below the normal numbers round to
// 0 however they are computed. The limit is finite, so NaN and infinities are not ok. q is not used where ok is not
// set.
module ceaz_quant (
    input  logic        clk,
    input  logic [31:0] x,
    input  logic [30:0] inverse,  // of the step, normal
    input  logic [30:0] limit,
    output logic [31:0] q,
    output logic        ok
);
  // 1: the product of the significands; exponents, twice biased.
  logic [47:0] product;
  logic [9:0] exponent1;
  logic sign1, ok1;
  always_ff @(posedge clk) begin
    product   <= {24'b0, 1'b1, x[22:0]} * {24'b0, 1'b1, inverse[22:0]};
    exponent1 <= x[30:23] == 8'b0 ? 10'b0 : {2'b0, x[30:23]} + {2'b0, inverse[30:23]};
    sign1     <= x[31];
    ok1       <= x[30:0] <= limit && x != 32'h8000_0000;
  end

  // 2: to 24 bits.
  logic [23:0] cut;
  logic half2, rest2;
  logic [24:0] sum;
  always_comb begin
    cut   = product[47] ? product[47:24] : product[46:23];
    half2 = product[47] ? product[23] : product[22];
    rest2 = product[47] ? |product[22:0] : |product[21:0];
    sum   = {1'b0, cut} + {24'b0, half2 & (rest2 | cut[0])};
  end
  logic [23:0] mantissa;
  logic [9:0] exponent2;
  logic sign2, ok2;
  always_ff @(posedge clk) begin
    mantissa  <= sum[24] ? sum[24:1] : sum[23:0];
    exponent2 <= exponent1 + {9'b0, product[47]} + {9'b0, sum[24]};
    sign2     <= sign1;
    ok2       <= ok1;
  end

  // 3: to an integer. 254 is the exponent of 1; magnitudes below 1/2 become 0.
  logic [4:0] shift;
  logic [47:0] fixed;
  logic [31:0] whole;
  always_comb begin
    shift = 5'd21 - exponent2[4:0];  // 277 - exponent, modulo 32
    fixed = {mantissa, 24'b0} >> shift;
    whole = {8'b0, fixed[47:24]} + {31'b0, fixed[23] & ((|fixed[22:0]) | fixed[24])};
    if (exponent2 < 10'd253 || exponent2 > 10'd277) whole = 32'b0;
  end
  always_ff @(posedge clk) begin
    q  <= sign2 ? -whole : whole;
    ok <= ok2;
  end
endmodule

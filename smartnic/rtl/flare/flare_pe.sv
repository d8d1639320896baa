// flare_pe.sv - P x P multipliers of 8 bits and P sums of 32: in a cycle an output's sum takes P inputs. Sums come two
// cycles after their inputs.
module flare_pe #(
    parameter int P = 8
) (
    input  logic             clk,
    input  logic             go,
    input  logic             valid,
    input  logic             first,    // sums begin with the biases
    input  logic             straight, // an input goes to its own output, once
    input  logic [  8*P-1:0] in,       // no signs
    input  logic [8*P*P-1:0] weight,   // of output j and input i: place P j + i
    input  logic [ 32*P-1:0] bias,
    output logic [ 32*P-1:0] sum
);
  logic valid1, first1;
  logic [32*P-1:0] bias1;
  always_ff @(posedge clk)
    if (go) begin
      valid1 <= valid;
      first1 <= first;
      bias1  <= bias;
    end
  generate
    for (genvar j = 0; j < P; j++) begin : output_of
      logic [16*P-1:0] product;
      logic [31:0] all;
      for (genvar i = 0; i < P; i++) begin : input_of
        logic [7:0] w;
        assign w = !straight ? weight[8*(P*j+i)+:8] : i == j ? 8'd1 : 8'd0;
        always_ff @(posedge clk) if (go) product[16*i+:16] <= {8'b0, in[8*i+:8]} * {{8{w[7]}}, w};
      end
      always_comb begin
        all = first1 ? bias1[32*j+:32] : sum[32*j+:32];
        for (int i = 0; i < P; i++) all += {{16{product[16*i+15]}}, product[16*i+:16]};
      end
      always_ff @(posedge clk) if (go && valid1) sum[32*j+:32] <= all;
    end
  endgenerate
endmodule

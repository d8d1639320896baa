// ceaz_pack.sv - packs items of 0 to P words into beats of N words without gaps. It keeps a beat until it knows whether
// this is the last one, which carries `last` and its number of words.
module ceaz_pack #(
    parameter int N = 4,
    parameter int P = N > 32 ? 66 : 33
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [ 32*P-1:0] s_words,
    input  logic [      6:0] s_count,
    input  logic             s_last,
    input  logic             s_valid,
    output logic             s_ready,
    output logic [ 32*N-1:0] m_words,
    output logic [      6:0] m_count,
    output logic             m_last,
    output logic             m_valid,
    input  logic             m_ready
);
  localparam int W = P + N;
  localparam logic [7:0] LANES = 8'(N);

  logic [32*W-1:0] held, rest, mask;
  logic [7:0] fill, fill_rest;
  logic ending, emit;
  assign m_valid = fill > LANES || ending;
  assign m_words = held[32*N-1:0];
  assign m_last  = fill <= LANES;
  assign m_count = m_last ? fill[6:0] : LANES[6:0];
  assign emit    = m_valid && m_ready;

  assign fill_rest = !emit ? fill : m_last ? 8'd0 : fill - LANES;
  assign rest      = emit ? held >> (32 * N) : held;
  assign s_ready   = fill_rest <= LANES && (!ending || (emit && m_last));
  assign mask      = {{32 * N{1'b0}}, s_words & ~({32 * P{1'b1}} << {s_count, 5'b0})};

  always_ff @(posedge clk) begin
    if (emit) begin
      held   <= rest;
      fill   <= fill_rest;
      if (m_last) ending <= 1'b0;
    end
    if (s_valid && s_ready) begin
      held   <= rest | mask << {fill_rest[6:0], 5'b0};
      fill   <= fill_rest + {1'b0, s_count};
      ending <= s_last;
    end
    if (rst) begin
      held   <= '0;
      fill   <= 8'd0;
      ending <= 1'b0;
    end
  end
endmodule

// ceaz_block.sv - residuals to blocks of encoder 1: signs, planes and the length (format.md 1.2). The answer comes
// three stages behind a block's last beat.
module ceaz_block #(
    parameter int N = 4
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             valid,
    input  logic             last,     // beat of the chunk
    input  logic [ 32*N-1:0] r,        // zeros behind the chunk's end
    output logic             m_valid,
    output logic             m_last,
    output logic [33*32-1:0] m_words,  // the signs, then all 32 planes
    output logic [      5:0] m_length
);
  localparam int G = 32 / N;
  localparam int GA = $clog2(G + 1);

  // 1: the beats of a block, with zeros behind the chunk's end.
  logic [GA-1:0] beat;
  logic [1023:0] block, gathered;
  logic whole, full1, last1;
  assign whole = last || beat == GA'(G - 1);
  always_comb begin
    gathered = beat == '0 ? 1024'b0 : block;
    gathered[32*N*beat+:32*N] = r;
  end
  always_ff @(posedge clk) begin
    full1 <= valid && whole;
    last1 <= last;
    if (valid) begin
      block <= gathered;
      beat  <= whole ? '0 : beat + 1'b1;
    end
    if (rst) begin
      beat  <= '0;
      full1 <= 1'b0;
    end
  end

  // 2: magnitudes, transposed: plane k is bit k of all of them.
  logic [1023:0] planes;
  logic [31:0] signs;
  logic full2, last2;
  always_ff @(posedge clk) begin
    full2 <= full1 && !rst;
    last2 <= last1;
    for (int i = 0; i < 32; i++) begin
      logic [31:0] m;
      m = block[32*i+31] ? -block[32*i+:32] : block[32*i+:32];
      signs[i] <= block[32*i+31];
      for (int k = 0; k < 32; k++) planes[32*k+i] <= m[k];
    end
  end

  // 3: how many planes there are.
  logic [5:0] length;
  always_comb begin
    length = 6'd0;
    for (int k = 0; k < 32; k++) if (planes[32*k+:32] != 32'b0) length = 6'(k) + 6'd1;
  end
  always_ff @(posedge clk) begin
    m_valid  <= full2 && !rst;
    m_last   <= last2;
    m_words  <= {planes, signs};
    m_length <= length;
  end
endmodule

// ceaz_outliers.sv - the outlier channel: which elements of each block are exceptions, whether all of these have the
// same bits (format.md 1.2), and whether the block has nothing else (1.4). The answer comes two stages behind a block's
// last beat.
module ceaz_outliers #(
    parameter int N = 4
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            valid,
    input  logic            last,       // beat of the chunk
    input  logic [32*N-1:0] x,
    input  logic [   N-1:0] is_in,      // the chunk
    input  logic [   N-1:0] exception,
    output logic            m_valid,
    output logic [    31:0] m_mask,
    output logic            m_uniform,
    output logic            m_full,
    output logic [    31:0] m_pattern,  // of the first
    output logic [     5:0] m_values    // that are stored
);
  localparam int G = 32 / N;
  localparam int GA = $clog2(G + 1);

  logic [GA-1:0] beat;
  logic [31:0] mask, mask_now, pattern, pattern_now;
  logic differ, differ_now, other, other_now, start, whole, full1;
  assign start = beat == '0;
  assign whole = last || beat == GA'(G - 1);
  always_comb begin
    mask_now = start ? 32'b0 : mask;
    pattern_now = pattern;
    differ_now = differ && !start;
    other_now = (other && !start) || exception != is_in;
    if (mask_now == 32'b0)
      for (int i = N - 1; i >= 0; i--) if (exception[i]) pattern_now = x[32*i+:32];
    for (int i = 0; i < N; i++)
    if (exception[i] && x[32*i+:32] != pattern_now) differ_now = 1'b1;
    mask_now[N*beat+:N] = exception;
  end
  always_ff @(posedge clk) begin
    full1 <= valid && whole;
    if (valid) begin
      beat    <= whole ? '0 : beat + 1'b1;
      mask    <= mask_now;
      pattern <= pattern_now;
      differ  <= differ_now;
      other   <= other_now;
    end
    if (rst) begin
      beat  <= '0;
      full1 <= 1'b0;
    end
  end

  logic [5:0] ones;
  always_comb begin
    ones = 6'd0;
    for (int i = 0; i < 32; i++) ones += {5'b0, mask[i]};
  end
  always_ff @(posedge clk) begin
    m_valid   <= full1 && !rst;
    m_mask    <= mask;
    m_full    <= !other;
    m_pattern <= pattern;
    m_uniform <= mask != 32'b0 && !differ;
    m_values  <= mask != 32'b0 && !differ ? 6'd1 : ones;
  end
endmodule

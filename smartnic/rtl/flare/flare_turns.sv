// flare_turns.sv - distributes the codes of all blocks, in order, to the arrays that have the blocks.
module flare_turns #(
    parameter int M = 4,
    parameter int LOG = M > 1 ? $clog2(M) : 1
) (
    input  logic           clk,
    input  logic           rst,
    input  logic           job,        // a block that has codes
    input  logic [LOG-1:0] job_array,
    input  logic           s_valid,
    output logic           s_ready,
    output logic [  M-1:0] m_valid,
    input  logic [  M-1:0] m_ready,
    input  logic [  M-1:0] m_last      // the block's
);
  // No array has two blocks.
  localparam int JA = LOG + 1;
  logic [LOG-1:0] jobs[1 << JA];
  logic [LOG-1:0] turn;
  logic [JA:0] in, out;
  logic any;
  assign any     = in != out;
  assign turn    = jobs[out[JA-1:0]];
  assign s_ready = any && m_ready[turn];
  assign m_valid = any && s_valid ? M'(1) << turn : '0;
  always_ff @(posedge clk) begin
    if (job) begin
      jobs[in[JA-1:0]] <= job_array;
      in <= in + 1'b1;
    end
    if (s_valid && s_ready && m_last[turn]) out <= out + 1'b1;
    if (rst) begin
      in  <= '0;
      out <= '0;
    end
  end
endmodule

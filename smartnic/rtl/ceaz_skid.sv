// ceaz_skid.sv - an AXI-Stream register with room for two beats: ready does not depend on the ready of the other side.
module ceaz_skid #(
    parameter int W = 32
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [W-1:0] s_data,
    input  logic         s_valid,
    output logic         s_ready,
    output logic [W-1:0] m_data,
    output logic         m_valid,
    input  logic         m_ready
);
  logic [W-1:0] spare;
  logic         full;

  assign s_ready = !full;

  always_ff @(posedge clk) begin
    if (m_ready || !m_valid) begin
      m_data  <= full ? spare : s_data;
      m_valid <= full || s_valid;
      full    <= 1'b0;
    end else if (s_valid && s_ready) begin
      spare <= s_data;
      full  <= 1'b1;
    end
    if (rst) begin
      m_valid <= 1'b0;
      full    <= 1'b0;
    end
  end
endmodule

// flare_anchors.sv - every eighth point along each axis, row by row. It codes each as the difference to the one before
// (format.md 1.6), one a cycle, and puts it into the SRAM.
module flare_anchors #(
    parameter int W = 16,
    parameter int A = 18
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         start,
    input  logic         decode,
    input  logic [  7:0] nz,
    input  logic [W-1:0] ny,
    input  logic [W-1:0] nx,
    input  logic [A-1:0] row,      // words of the SRAM
    input  logic [A-1:0] plane,
    output logic         busy,
    input  logic [ 31:0] s_data,   // values, or codes
    input  logic         s_none,
    input  logic         s_valid,
    output logic         s_ready,
    output logic [ 31:0] m_code,
    output logic [ 31:0] m_value,
    output logic         m_valid,
    input  logic         m_ready,
    output logic         q_valid,
    output logic [A-1:0] q_at,
    input  logic         q_ready
);
  logic [7:0] z;
  logic [W-1:0] y, x;
  logic [A-1:0] plane_at, row_at, at;
  logic [31:0] previous, difference;
  logic moves, ends_row, ends_plane, ends;
  assign difference = s_data - previous + 32'd128;
  assign m_code     = decode ? s_data : s_none ? 32'd0 : 32'($signed(difference) >>> 8);
  assign m_value    = previous + (m_code << 8);
  assign q_at       = at;
  assign q_valid    = busy && s_valid && m_ready;
  assign s_ready    = busy && m_ready && q_ready;
  assign m_valid    = busy && s_valid && q_ready;
  assign moves      = q_valid && q_ready;
  assign ends_row   = nx - x <= W'(8);
  assign ends_plane = ends_row && ny - y <= W'(8);
  assign ends       = ends_plane && nz - z <= 8'd8;
  always_ff @(posedge clk) begin
    if (start) begin
      busy <= 1'b1;
      {z, y, x, plane_at, row_at, at, previous} <= '0;
    end else if (moves) begin
      previous <= m_value;
      x      <= ends_row ? '0 : x + W'(8);
      at     <= at + A'(4);
      if (ends_row) begin
        y      <= ends_plane ? '0 : y + W'(8);
        row_at <= row_at + (row << 2);
        at     <= row_at + (row << 2);
      end
      if (ends_plane) begin
        z        <= z + 8'd8;
        plane_at <= plane_at + (plane << 2);
        row_at   <= plane_at + (plane << 2);
        at       <= plane_at + (plane << 2);
      end
      if (ends) busy <= 1'b0;
    end
    if (rst) busy <= 1'b0;
  end
endmodule

// flare_fifo.sv - a queue of DEPTH words, and one that is read ahead. While `keep` is set, words stay; `rewind` begins
// again with the first of them.
module flare_fifo #(
    parameter int W = 32,
    parameter int DEPTH = 512
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         keep,
    input  logic         rewind,
    input  logic [W-1:0] s_data,
    input  logic         s_valid,
    output logic         s_ready,
    output logic [W-1:0] m_data,
    output logic         m_valid,
    input  logic         m_ready
);
  localparam int A = $clog2(DEPTH);
  logic [A:0] write_at, read_at, kept_at;
  logic put, read;
  assign s_ready = write_at - kept_at != (A + 1)'(DEPTH);
  assign put     = s_valid && s_ready;
  assign read    = write_at != read_at && (!m_valid || m_ready);
  always_ff @(posedge clk) begin
    if (put) write_at <= write_at + 1'b1;
    if (read) read_at <= read_at + 1'b1;
    if (!keep) kept_at <= read_at;
    m_valid <= read || (m_valid && !m_ready);
    if (rewind) begin
      read_at <= kept_at;
      m_valid <= 1'b0;
    end
    if (rst) begin
      write_at <= '0;
      read_at  <= '0;
      kept_at  <= '0;
      m_valid  <= 1'b0;
    end
  end
  ceaz_memory #(
      .W(W),
      .DEPTH(DEPTH)
  ) memory (
      .clk,
      .write(put),
      .write_at(write_at[A-1:0]),
      .write_data(s_data),
      .read,
      .read_at(read_at[A-1:0]),
      .read_data(m_data)
  );
endmodule

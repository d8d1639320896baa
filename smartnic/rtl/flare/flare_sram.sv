// flare_sram.sv - the points of coarser levels that finer levels need: those with even coordinates, row by row. Four
// banks have words in turn; each reads one and writes one a cycle. If several want the same bank, the first goes first.
module flare_sram #(
    parameter int M = 4,
    parameter int DEPTH = 262144,
    parameter int A = $clog2(DEPTH)
) (
    input  logic            clk,
    input  logic [   M-1:0] q_valid,
    input  logic [   M-1:0] q_write,
    input  logic [ A*M-1:0] q_at,
    input  logic [32*M-1:0] q_data,
    output logic [   M-1:0] q_ready,
    output logic [32*M-1:0] a_data     // a cycle later
);
  logic [31:0] out[4];
  logic [4*M-1:0] reads, writes;
  logic [2*M-1:0] bank1;
  always_comb begin
    q_ready = '0;
    for (int k = 0; k < M; k++)
      for (int b = 0; b < 4; b++) if (reads[M*b+k] || writes[M*b+k]) q_ready[k] = 1'b1;
  end
  always_ff @(posedge clk) for (int k = 0; k < M; k++) bank1[2*k+:2] <= q_at[A*k+:2];
  always_comb for (int k = 0; k < M; k++) a_data[32*k+:32] = out[bank1[2*k+:2]];
  generate
    for (genvar b = 0; b < 4; b++) begin : bank
      logic [A-1:0] read_at, write_at;
      logic [31:0] write_data;
      logic read, write;
      always_comb begin
        {read, write} = 2'b0;
        {read_at, write_at, write_data} = '0;
        for (int k = 0; k < M; k++) begin
          reads[M*b+k]  = q_valid[k] && q_at[A*k+:2] == 2'(b) && !q_write[k] && !read;
          writes[M*b+k] = q_valid[k] && q_at[A*k+:2] == 2'(b) && q_write[k] && !write;
          if (reads[M*b+k]) begin
            read    = 1'b1;
            read_at = q_at[A*k+:A];
          end
          if (writes[M*b+k]) begin
            write      = 1'b1;
            write_at   = q_at[A*k+:A];
            write_data = q_data[32*k+:32];
          end
        end
      end
      ceaz_memory #(
          .W(32),
          .DEPTH(DEPTH / 4)
      ) memory (
          .clk,
          .write,
          .write_at(write_at[A-1:2]),
          .write_data,
          .read,
          .read_at(read_at[A-1:2]),
          .read_data(out[b])
      );
      logic unused;
      assign unused = &{1'b0, read_at[1:0], write_at[1:0]};
    end
  endgenerate
endmodule

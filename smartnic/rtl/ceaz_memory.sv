// ceaz_memory.sv - a memory with a write port and a read port; a read answers one cycle later.
module ceaz_memory #(
    parameter int W     = 32,
    parameter int DEPTH = 256,
    parameter int A     = DEPTH > 1 ? $clog2(DEPTH) : 1
) (
    input  logic         clk,
    input  logic         write,
    input  logic [A-1:0] write_at,
    input  logic [W-1:0] write_data,
    input  logic         read,
    input  logic [A-1:0] read_at,
    output logic [W-1:0] read_data
);
  localparam int B = $clog2(DEPTH);
  logic [W-1:0] mem[DEPTH];
  always_ff @(posedge clk) begin
    if (write) mem[write_at[B-1:0]] <= write_data;
    if (read) read_data <= mem[read_at[B-1:0]];
  end
  logic unused;
  assign unused = &{1'b0, write_at, read_at};
endmodule

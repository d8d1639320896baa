// ceaz_nibbles.sv - the lengths of a book's codes, 4 bits each: written one by one or eight at a time; a read answers
// in the same cycle.
module ceaz_nibbles (
    input  logic        clk,
    input  logic        write,
    input  logic [ 9:0] write_at,
    input  logic [ 3:0] write_data,
    input  logic        row_write,
    input  logic [ 6:0] row_at,
    input  logic [31:0] row_data,
    input  logic [ 9:0] read_at,
    output logic [ 3:0] data,
    output logic [31:0] row         // that it is in
);
  generate
    for (genvar k = 0; k < 8; k++) begin : column
      logic [3:0] mem[128];
      always_ff @(posedge clk)
        if (row_write || (write && write_at[2:0] == 3'(k)))
          mem[row_write?row_at : write_at[9:3]] <= row_write ? row_data[4*k+:4] : write_data;
      assign row[4*k+:4] = mem[read_at[9:3]];
    end
  endgenerate
  assign data = row[4*read_at[2:0]+:4];
endmodule

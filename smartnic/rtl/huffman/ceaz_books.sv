// ceaz_books.sv - two books of codes: one is in use while the other may be written (CEAZ 3.2.3). Each of four streams
// has a read port; a code comes one cycle after its symbol. Outputs tell which runs have a code, and the escape.
module ceaz_books (
    input  logic        clk,
    input  logic        write,
    input  logic        write_bank,
    input  logic [ 9:0] write_symbol,
    input  logic [15:0] write_code,    // length, and the code as it lies in a stream
    input  logic        bank,
    input  logic [39:0] symbol,        // four
    output logic [63:0] code,
    output logic [20:0] runs,
    output logic [15:0] escape
);
  logic [41:0] run_bits;
  logic [15:0] escapes[2];
  assign runs   = bank ? run_bits[41:21] : run_bits[20:0];
  assign escape = escapes[bank];
  logic [9:0] run_at;
  assign run_at = write_symbol - 10'd976;
  always_ff @(posedge clk)
    if (write) begin
      for (int b = 0; b < 2; b++)
        for (int i = 0; i < 21; i++)
          if (write_bank == 1'(b) && run_at == 10'(i)) run_bits[21*b+i] <= write_code[15:12] != 4'd0;
      if (write_symbol == 10'd997) escapes[write_bank] <= write_code;
    end
  generate
    for (genvar k = 0; k < 4; k++) begin : port
      ceaz_memory #(
          .W(16),
          .DEPTH(2048)
      ) memory (
          .clk,
          .write,
          .write_at({write_bank, write_symbol}),
          .write_data(write_code),
          .read(1'b1),
          .read_at({bank, symbol[10*k+:10]}),
          .read_data(code[16*k+:16])
      );
    end
  endgenerate
endmodule

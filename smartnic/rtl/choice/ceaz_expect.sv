// ceaz_expect.sv - the counts for which a book is made (format.md 4.9). If few residuals were counted: 16 times the
// counts, plus one for what else may come. If many: the counts without rare ones. Runs that are too short count as
// single zeros. Like the histogram it answers two cycles later.
module ceaz_expect (
    input  logic        clk,
    input  logic [ 1:0] shortest,  // shortest run with a code: 1: of 2, 2: of 4, 3: of 16; 0: the counts as they are
    input  logic        sampled,   // symbols that were not counted may come
    input  logic [ 5:0] classes,
    input  logic [18:0] zeros4,
    input  logic [18:0] zeros16,
    input  logic [ 2:0] rare,
    input  logic [ 9:0] ask,
    input  logic [31:0] count,
    output logic [31:0] expected
);
  localparam logic [9:0] RUNS = 10'd976, ZERO = 10'd16;
  logic [9:0] at1, at2;
  logic may_come, too_short;
  logic [18:0] zeros;
  logic [27:0] kept;
  always_ff @(posedge clk) begin
    at1 <= ask;
    at2 <= at1;
  end
  assign may_come  = sampled && rare == 3'd0 && (at2[9:4] <= classes || at2 >= RUNS);
  assign too_short = at2 >= RUNS && at2 < (shortest == 2'd3 ? RUNS + 10'd14 : shortest == 2'd2 ? RUNS + 10'd2 : RUNS);
  assign zeros     = at2 != ZERO || shortest == 2'd1 ? 19'd0 : shortest == 2'd2 ? zeros4 : zeros16;
  assign kept      = count > {29'b0, rare} ? count[27:0] : 28'd0;
  assign expected  = shortest == 2'd0 ? count : too_short ? 32'd0 :
      {kept, 4'b0} + {9'b0, zeros, 4'b0} + {31'b0, may_come};
endmodule

// ceaz_choice.sv - computes what the choice of a book needs from the histogram's counts (CEAZ 3.2): how much the spread
// has changed, what a book would cost, a new book, or a book's codes. It does one of these at a time.
module ceaz_choice (
    input  logic        clk,
    input  logic        rst,
    input  logic        build,         // a book from the counts
    input  logic        assign_codes,  // only make codes, for the lengths that are here
    input  logic        chi,
    input  logic        cost,          // cost of the lengths that are here
    input  logic        take,
    input  logic        forget,
    input  logic        exact,
    input  logic [ 1:0] shortest,
    input  logic        sampled,
    input  logic [31:0] tau0,
    input  logic [31:0] tau1,
    output logic        busy,
    // The histogram, which answers two cycles later; and reads from outside, while this is not busy.
    input  logic [ 9:0] outer_ask,
    output logic [ 9:0] ask,
    input  logic [31:0] count,
    // Codes, for a bank of ceaz_books.
    output logic        write,
    output logic [ 9:0] write_symbol,
    output logic [15:0] write_code,
    // Lengths, eight at a time.
    input  logic        row_write,
    input  logic [ 6:0] row_at,
    input  logic [31:0] row_data,
    output logic [31:0] row,           // belongs to outer_ask
    output logic [31:0] spread,
    output logic [18:0] residuals,
    output logic [ 1:0] verdict,
    output logic [31:0] bits
);
  logic builds, judges, adds;
  logic [9:0] builder_ask, chi_ask, cost_ask, cost_at, code_at, length_write_at;
  logic [5:0] classes;
  logic [18:0] zeros4, zeros16;
  logic [2:0] rare;
  logic [31:0] expected;
  logic length_write;
  logic [3:0] length_written, length;
  assign busy = builds || judges || adds;
  assign ask  = builds ? builder_ask : judges ? chi_ask : adds ? cost_ask : outer_ask;

  ceaz_chi chi_unit (
      .clk,
      .rst,
      .start(chi),
      .take,
      .forget,
      .tau0,
      .tau1,
      .busy(judges),
      .ask(chi_ask),
      .count,
      .spread,
      .n(residuals),
      .verdict,
      .classes,
      .zeros4,
      .zeros16,
      .rare
  );
  ceaz_cost cost_unit (
      .clk,
      .rst,
      .start(cost),
      .busy(adds),
      .ask(cost_ask),
      .count,
      .length_at(cost_at),
      .length,
      .bits
  );
  ceaz_expect expect_unit (
      .clk,
      .shortest,
      .sampled,
      .classes,
      .zeros4,
      .zeros16,
      .rare,
      .ask(builder_ask),
      .count,
      .expected
  );
  ceaz_builder builder (
      .clk,
      .rst,
      .start(build),
      .exact,
      .assign_codes,
      .busy(builds),
      .ask(builder_ask),
      .count(expected),
      .length_write,
      .length_write_at,
      .length_written,
      .length_at(code_at),
      .length,
      .write,
      .write_symbol,
      .write_code
  );
  ceaz_nibbles lengths (
      .clk,
      .write(length_write),
      .write_at(length_write_at),
      .write_data(length_written),
      .row_write,
      .row_at,
      .row_data,
      .read_at(builds ? code_at : adds ? cost_at : {outer_ask[6:0], 3'b0}),
      .data(length),
      .row
  );
endmodule

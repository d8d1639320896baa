// ceaz_cost.sv - how many bits the counted symbols take by a book (format.md 4.9): the sum of count times length, with
// the bits behind codes. Residuals without a code count as escapes, runs without one as single zeros. It takes a symbol
// a cycle, 1,000 cycles in all, for up to 2^18 residuals.
module ceaz_cost (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    output logic        busy,
    // The histogram, which answers two cycles later; the book's lengths, which answer in the same cycle.
    output logic [ 9:0] ask,
    input  logic [31:0] count,
    output logic [ 9:0] length_at,
    input  logic [ 3:0] length,
    output logic [31:0] bits
);
  localparam logic [9:0] ZERO = 10'd16, ESCAPE = 10'd997;
  typedef enum logic [1:0] {IDLE, OF_ZERO, OF_ESCAPE, WALK} state_t;
  state_t state;
  assign busy = state != IDLE;

  logic [9:0] at1, at2, magnitude;
  logic valid1, valid2, valid3, valid4, ending, is_run, negative;
  logic [10:0] times;
  logic [5:0] extra;
  logic [3:0] of_zero, of_escape;
  logic [18:0] count3;
  logic [14:0] each, each3;
  logic [31:0] product4;
  ceaz_symbol meaning (
      .symbol(at2),
      .is_run,
      .times,
      .magnitude,
      .negative,
      .extra
  );
  assign length_at = state == OF_ZERO ? ZERO : state == OF_ESCAPE ? ESCAPE : at2;
  always_comb begin
    each = {11'b0, length} + {9'b0, extra};
    if (length == 4'd0) each = is_run ? {11'b0, of_zero} * {4'b0, times} : {11'b0, of_escape} + 15'd32;
  end
  always_ff @(posedge clk) begin
    at1      <= ask;
    at2      <= at1;
    valid1   <= state == WALK && !ending;
    valid2   <= valid1;
    valid3   <= valid2;
    valid4   <= valid3;
    count3   <= count[18:0];
    each3    <= each;
    product4 <= {13'b0, count3} * {17'b0, each3};
    if (valid4) bits <= bits + product4;
    case (state)
      IDLE:
      if (start) begin
        bits  <= 32'd0;
        state <= OF_ZERO;
      end
      OF_ZERO: begin
        of_zero <= length;
        state   <= OF_ESCAPE;
      end
      OF_ESCAPE: begin
        of_escape <= length;
        ask       <= 10'd0;
        ending    <= 1'b0;
        state     <= WALK;
      end
      default: begin
        if (ask == ESCAPE) ending <= 1'b1;
        else ask <= ask + 10'd1;
        if (ending && !valid1 && !valid2 && !valid3 && !valid4) state <= IDLE;
      end
    endcase
    if (rst) begin
      state <= IDLE;
      {valid1, valid2, valid3, valid4} <= '0;
    end
  end
  logic unused;
  assign unused = &{1'b0, magnitude, negative, count[31:19]};
endmodule

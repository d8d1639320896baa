// ceaz_chi.sv - the chi unit (CEAZ 3.2.3): the standard deviation of the counted residuals, in units of 2^-22, how much
// it differs from that for which the present book was chosen, and the verdict. In integers, as in the codec:
//   spread = floor(sqrt(2^44 (n squares - sum^2)) / n)
// It also tells what ceaz_expect must know of all counts. It takes 1,100 cycles, for up to 2^18 residuals.
module ceaz_chi (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic        take,     // a book was chosen for these counts
    input  logic        forget,   // there is no present book
    input  logic [31:0] tau0,
    input  logic [31:0] tau1,
    output logic        busy,
    // The histogram, which answers two cycles later.
    output logic [ 9:0] ask,
    input  logic [31:0] count,
    output logic [31:0] spread,
    output logic [18:0] n,        // number of residuals
    output logic [ 1:0] verdict,  // 0: keep the book, 1: update it online, 2: take another, offline
    output logic [ 5:0] classes,  // symbols that occur, in groups of 16; the first two are none
    output logic [18:0] zeros4,   // residuals in runs of less than 4
    output logic [18:0] zeros16,
    output logic [ 2:0] rare      // symbols with at most this count get no codes
);
  localparam logic [9:0] ESCAPE = 10'd997, RUNS = 10'd976;
  typedef enum logic [2:0] {IDLE, WALK, SQUARE, VARIANCE, ROOT, DIVIDE, JUDGE} state_t;
  state_t state;
  assign busy = state != IDLE;

  // ---- sums: a symbol a cycle ----
  logic [9:0] at1, at2, magnitude2, magnitude3, magnitude4;
  logic [10:0] times2, times3;
  logic [5:0] extra2;
  logic valid0, valid1, valid2, valid3, valid4, is_run2, negative2, negative3, negative4;
  logic in4, in16;
  logic [18:0] count3, n4;
  logic [27:0] product4;
  logic [18:0] symbols;
  assign rare = symbols[18:16];
  logic signed [28:0] sum;
  logic [36:0] squares;
  ceaz_symbol meaning (
      .symbol(at2),
      .is_run(is_run2),
      .times(times2),
      .magnitude(magnitude2),
      .negative(negative2),
      .extra(extra2)
  );
  assign valid0 = state == WALK && ask != ESCAPE;
  always_ff @(posedge clk) begin
    at1        <= ask;
    at2        <= at1;
    valid1     <= valid0;
    valid2     <= valid1;
    valid3     <= valid2;
    valid4     <= valid3;
    count3     <= count[18:0];
    times3     <= times2;
    magnitude3 <= magnitude2;
    magnitude4 <= magnitude3;
    negative3  <= negative2;
    negative4  <= negative3;
    in4        <= is_run2 && at2 < RUNS + 10'd2;
    in16       <= is_run2 && at2 < RUNS + 10'd14;
    n4         <= 19'({11'b0, count3} * {19'b0, times3});
    product4   <= {9'b0, count3} * {18'b0, magnitude3};
    if (valid3) symbols <= symbols + count3;
    if (valid3 && in4) zeros4 <= zeros4 + 19'({11'b0, count3} * {19'b0, times3});
    if (valid3 && in16) zeros16 <= zeros16 + 19'({11'b0, count3} * {19'b0, times3});
    if (valid2 && at2[9:5] != 5'd0 && at2 < RUNS && count != 32'd0) classes <= at2[9:4] + 6'd1;
    if (valid4) begin
      n       <= n + n4;
      sum     <= sum + (negative4 ? -$signed({1'b0, product4}) : $signed({1'b0, product4}));
      squares <= squares + {9'b0, product4} * {27'b0, magnitude4};
    end
    if (state == IDLE && start) begin
      {n, symbols, zeros4, zeros16} <= '0;
      sum                           <= '0;
      squares                       <= '0;
      classes                       <= 6'd2;
    end
    if (rst) {valid1, valid2, valid3, valid4} <= '0;
  end

  // ---- root and quotient, a bit a cycle ----
  logic [55:0] n_squares, sum_square;
  logic [55:0] shift;   // each cycle takes two bits of what is under the root, then zeros
  logic [49:0] root;
  logic [50:0] rest;
  logic [52:0] next_rest, trial, left;
  logic [18:0] part;
  logic [19:0] next_part, part_left;
  logic [5:0] step;
  logic begun, fits, goes;
  logic [31:0] taken, change;
  assign next_rest = {rest, shift[55:54]};
  assign trial     = {1'b0, root, 2'b01};
  assign left      = next_rest - trial;
  assign fits      = next_rest >= trial;
  assign next_part = {part, root[49]};
  assign part_left = next_part - {1'b0, n};
  assign goes      = next_part >= {1'b0, n} && n != 19'd0;
  assign change    = spread > taken ? spread - taken : taken - spread;
  always_ff @(posedge clk) begin
    case (state)
      IDLE: begin
        ask <= 10'd0;
        if (start) state <= WALK;
      end
      WALK:
      if (ask != ESCAPE) ask <= ask + 10'd1;
      else if (!valid1 && !valid2 && !valid3 && !valid4) state <= SQUARE;
      SQUARE: begin
        n_squares  <= {37'b0, n} * {19'b0, squares};
        sum_square <= 56'(sum) * 56'(sum);
        state      <= VARIANCE;
      end
      VARIANCE: begin
        shift <= n_squares - sum_square;
        root  <= '0;
        rest  <= '0;
        step  <= 6'd49;
        state <= ROOT;
      end
      ROOT: begin
        rest  <= fits ? left[50:0] : next_rest[50:0];
        root  <= {root[48:0], fits};
        shift <= shift << 2;
        step  <= step - 6'd1;
        part  <= '0;
        if (step == 6'd0) begin
          step  <= 6'd49;
          state <= DIVIDE;
        end
      end
      DIVIDE: begin
        part   <= goes ? part_left[18:0] : next_part[18:0];
        root   <= root << 1;
        spread <= {spread[30:0], goes};
        step   <= step - 6'd1;
        if (step == 6'd0) state <= JUDGE;
      end
      default: begin
        verdict <= !begun || change >= tau1 ? 2'd2 : change > tau0 ? 2'd1 : 2'd0;
        state   <= IDLE;
      end
    endcase
    if (take) begin
      taken <= spread;
      begun <= 1'b1;
    end
    if (forget || rst) begin
      taken <= 32'd0;
      begun <= 1'b0;
    end
    if (rst) state <= IDLE;
  end
  logic unused;
  assign unused = &{1'b0, extra2, count[31:19], left[52:51], part_left[19]};
endmodule

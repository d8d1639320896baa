// ceaz_builder.sv - builds a book from the histogram (CEAZ 3.2.1): sort, tree and lengths. It also makes canonical
// codes (format.md 1.4) from lengths and writes them into a bank of ceaz_books.
module ceaz_builder (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic        exact,            // sort exactly, not only approximately
    input  logic        assign_codes,     // only make codes, for the lengths that are there
    output logic        busy,
    output logic [ 9:0] ask,
    input  logic [31:0] count,
    // Lengths, in a memory that answers in the same cycle.
    output logic        length_write,
    output logic [ 9:0] length_write_at,
    output logic [ 3:0] length_written,
    output logic [ 9:0] length_at,
    input  logic [ 3:0] length,
    output logic        write,
    output logic [ 9:0] write_symbol,
    output logic [15:0] write_code
);
  localparam logic [9:0] SYMBOLS = 10'd998;

  logic sort_done, sorted, lengths_done, given;
  logic [9:0] sorted_symbol, given_symbol;
  logic [31:0] sorted_count;
  logic [3:0] given_length;
  ceaz_sort sort (
      .clk,
      .rst,
      .start,
      .done(sort_done),
      .ask,
      .count,
      .m_valid(sorted),
      .m_symbol(sorted_symbol),
      .m_count(sorted_count)
  );
  ceaz_lengths make_lengths (
      .clk,
      .rst,
      .clear(start),
      .exact,
      .s_valid(sorted),
      .s_symbol(sorted_symbol),
      .s_count(sorted_count),
      .start(sort_done),
      .done(lengths_done),
      .m_valid(given),
      .m_symbol(given_symbol),
      .m_length(given_length)
  );

  // ---- canonical codes: in order of length, then of symbol ----
  logic [9:0] of_length[16];
  logic [12:0] next[16];
  logic [9:0] at;
  logic clears, tallies, firsts, codes;
  logic [12:0] code;
  assign code            = next[length];
  assign length_at       = at;
  assign length_write    = clears || given;
  assign length_write_at = clears ? at : given_symbol;
  assign length_written  = clears ? 4'd0 : given_length;
  always_ff @(posedge clk) begin
    write <= 1'b0;
    if (start) begin
      busy   <= 1'b1;
      clears <= 1'b1;
      at     <= 10'd0;
    end
    if (clears) begin
      at <= at + 10'd1;
      if (at == 10'd1023) clears <= 1'b0;
    end
    if (lengths_done) busy <= 1'b0;
    if (assign_codes) begin
      busy    <= 1'b1;
      tallies <= 1'b1;
      at      <= 10'd0;
      for (int i = 0; i < 16; i++) of_length[i] <= 10'd0;
    end
    if (tallies) begin
      of_length[length] <= of_length[length] + 10'd1;
      at                <= at + 10'd1;
      if (at == SYMBOLS - 10'd1) begin
        tallies <= 1'b0;
        firsts  <= 1'b1;
        at      <= 10'd1;
        next[1] <= 13'd0;
      end
    end
    if (firsts) begin  // of each length
      next[at[3:0]+4'd1] <= {next[at[3:0]][11:0] + {2'b0, of_length[at[3:0]]}, 1'b0};
      at                 <= at + 10'd1;
      if (at == 10'd12) begin
        firsts <= 1'b0;
        codes  <= 1'b1;
        at     <= 10'd0;
      end
    end
    if (codes) begin
      next[length] <= code + 13'd1;
      write           <= 1'b1;
      write_symbol    <= at;
      write_code      <= {length, reversed};
      at              <= at + 10'd1;
      if (at == SYMBOLS - 10'd1) begin
        codes <= 1'b0;
        busy  <= 1'b0;
      end
    end
    if (rst) begin
      busy   <= 1'b0;
      clears <= 1'b0;
      tallies <= 1'b0;
      firsts <= 1'b0;
      codes  <= 1'b0;
    end
  end
  // A code's first bit is the lowest one in a stream.
  logic [11:0] reversed, forward;
  always_comb begin
    for (int i = 0; i < 12; i++) forward[i] = code[11-i];
    reversed = length == 4'd0 ? 12'd0 : forward >> (4'd12 - length);
  end
endmodule

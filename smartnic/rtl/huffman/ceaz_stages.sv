// ceaz_stages.sv - encoder 2: H units of ceaz_huffman, each with its own books and counts, which take chunks in turn.
// Each takes four residuals a cycle, so N / 4 of them keep up with N lanes.
//
// A unit has room for two chunks' residuals and two chunks' streams: one is written while the one before is read.
module ceaz_stages #(
    parameter int N = 4,
    parameter int H = 1,
    parameter int SLOTS = 3,
    parameter int S = $clog2(SLOTS),
    parameter int K = N > 4 ? N / 4 : 1,
    parameter int KA = $clog2(2048 / K)
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            huffman,     // the job
    input  logic            counting,
    // A chunk from ceaz_encode (`room`: there is room for another), and its results when it is done.
    output logic            room,
    input  logic            r_start,
    input  logic            r_valid,
    input  logic [32*N-1:0] r_words,
    input  logic [    13:0] count,
    input  logic            encoded,
    input  logic [   S-1:0] slot,
    input  logic [     7:0] book,
    input  logic            bank,
    input  logic [    13:0] size,        // words by encoder 1
    input  logic            less,        // one of these is not stored
    input  logic [    13:0] beside,      // words of encoder 2, without the book's number, sizes and streams
    input  logic            coded,       // there are residuals
    // The chunk that goes out next: is everything known of it, and its results.
    input  logic [   S-1:0] from_slot,
    output logic            ready,
    output logic [    65:0] streams,     // is it shorter, has it four streams, book, bytes of each stream
    input  logic            drained,
    input  logic            bits_read,
    input  logic [     1:0] bits_stream,
    input  logic [  KA-1:0] bits_at,
    output logic [64*K-1:0] bits_words,
    output logic [    17:0] saving,      // words, in this cycle
    // Books, the same in all stages; counts, the sums over all stages.
    input  logic            book_write,
    input  logic            book_bank,
    input  logic [     9:0] book_symbol,
    input  logic [    15:0] book_code,
    input  logic            clear,
    output logic            clearing,
    input  logic            load,
    input  logic [     9:0] load_at,
    input  logic [    31:0] load_count,
    input  logic [     9:0] ask,
    output logic [    31:0] symbol_count
);
  localparam int HA = H > 1 ? $clog2(H) : 1;
  localparam logic [HA-1:0] LAST = HA'(H - 1);

  // ---- whose turn it is ----
  logic [HA-1:0] in_stage, out_stage;
  logic in_half, out_half;
  logic [H-1:0] has_room, done;
  assign room = has_room[in_stage];
  always_ff @(posedge clk) begin
    if (encoded) begin
      in_stage <= in_stage == LAST ? '0 : in_stage + 1'b1;
      if (in_stage == LAST) in_half <= !in_half;
    end
    if (drained) begin
      out_stage <= out_stage == LAST ? '0 : out_stage + 1'b1;
      if (out_stage == LAST) out_half <= !out_half;
    end
    if (rst) begin
      in_stage  <= '0;
      out_stage <= '0;
      in_half   <= 1'b0;
      out_half  <= 1'b0;
    end
  end

  // ---- stages ----
  localparam int INFO = S + 14 + 8 + 1 + 14 + 1 + 14 + 1;
  logic [32*H-1:0] counts;
  logic [H-1:0] clears;
  logic [14*H-1:0] saved;
  logic [S*H-1:0] done_slot;
  logic [66*H-1:0] results;
  logic [64*K-1:0] bits_of[H];
  generate
    for (genvar h = 0; h < H; h++) begin : stage
      logic [1:0] pending, kept;  // chunks that wait, and coded chunks that are not out yet
      logic half, code_bank, to_code, four, less_kept, shorter, coding_done;
      logic encoded_here, drained_here;
      logic [INFO-1:0] info[2];
      logic [S-1:0] to_slot;
      logic [7:0] code_book;
      logic [13:0] code_count, code_size, code_beside, words_saved;
      logic [55:0] bytes;
      assign encoded_here = encoded && in_stage == HA'(h);
      assign drained_here = drained && out_stage == HA'(h);
      assign has_room[h]  = pending < 2'd2;
      assign done[h]      = coding_done;
      always_ff @(posedge clk) begin
        if (encoded_here) info[in_half] <= {slot, count, book, bank, size, less, beside, coded};
        if (coding_done) half <= !half;
        pending <= pending + {1'b0, encoded_here} - {1'b0, coding_done};
        kept    <= kept + {1'b0, coding_done} - {1'b0, drained_here};
        if (rst) begin
          half    <= 1'b0;
          pending <= 2'd0;
          kept    <= 2'd0;
        end
      end
      assign {to_slot, code_count, code_book, code_bank, code_size, less_kept, code_beside, to_code} = info[half];
      assign four = code_size >= 14'd128;
      assign done_slot[S*h+:S] = to_slot;
      assign results[66*h+:66] = {shorter && !counting, four, code_book, bytes};
      assign saved[14*h+:14] = coding_done && !counting ? words_saved : 14'd0;

      logic [39:0] symbol;
      logic [3:0] symbol_valid;
      logic [63:0] code;
      logic [20:0] runs;
      logic [15:0] escape;
      ceaz_books books (
          .clk,
          .write(book_write),
          .write_bank(book_bank),
          .write_symbol(book_symbol),
          .write_code(book_code),
          .bank(code_bank),
          .symbol,
          .code,
          .runs,
          .escape
      );
      ceaz_huffman #(
          .N(N),
          .K(K)
      ) coder (
          .clk,
          .rst,
          .r_start,
          .r_count(count),
          .r_half(in_half),
          .r_valid(r_valid && in_stage == HA'(h)),
          .r_words,
          .start(pending != 2'd0 && kept < 2'd2),
          .half,
          .to_half(half),
          .count(code_count),
          .coded(to_code && huffman),
          .four,
          .fixed(code_beside + (four ? 14'd2 : 14'd1)),
          .size(code_size),
          .less(less_kept),
          .all_runs(counting),
          .done(coding_done),
          .shorter,
          .saved(words_saved),
          .bytes,
          .runs,
          .escape,
          .symbol,
          .symbol_valid,
          .code,
          .bits_read,
          .bits_half(out_half),
          .bits_stream,
          .bits_at,
          .bits_words(bits_of[h])
      );
      ceaz_histogram histogram (
          .clk,
          .rst,
          .clear,
          .clearing(clears[h]),
          .symbol,
          .valid(counting ? symbol_valid : 4'b0),
          .load(load && h == 0),
          .load_at,
          .load_count,
          .ask,
          .count(counts[32*h+:32])
      );
    end
  endgenerate
  assign bits_words = bits_of[out_stage];
  assign clearing   = |clears;
  always_comb begin
    symbol_count = 32'd0;
    saving       = 18'd0;
    for (int h = 0; h < H; h++) begin
      symbol_count += counts[32*h+:32];
      saving += {4'b0, saved[14*h+:14]};
    end
  end

  // ---- results of each chunk ----
  logic [65:0] result[SLOTS];
  logic [SLOTS-1:0] known;
  assign ready   = known[from_slot];
  assign streams = result[from_slot];
  always_ff @(posedge clk) begin
    for (int h = 0; h < H; h++)
      if (done[h]) begin
        result[done_slot[S*h+:S]] <= results[66*h+:66];
        known[done_slot[S*h+:S]]  <= 1'b1;
      end
    if (drained) known[from_slot] <= 1'b0;
    if (rst) known <= '0;
  end
endmodule

// flare_coder.sv - codes of a chunk to sections of bits, batch by batch (format.md 1.6, 4.11), by CEAZ's Huffman stage.
// Before each batch it asks for a book. With the request come the counts from which the book is made: for the first
// batch those of its coarse codes, which come once more afterwards; otherwise those of the batch before. It takes a
// section while it counts and codes the one before, and gives that out while it codes the next.
module flare_coder (
    input  logic         clk,
    input  logic         rst,
    input  logic         start,
    input  logic [ 31:0] coarse,        // codes of the first batch before its level 1
    input  logic [127:0] total,         // codes of each batch
    input  logic [  1:0] last_batch,
    output logic         busy,
    output logic         asks,          // for the book of `batch`
    output logic [  1:0] batch,
    input  logic         answer,        // it is there
    // Rows of four codes.
    output logic         keep,          // they will come once more
    output logic         rewind,
    input  logic [ 31:0] s_row,
    input  logic         s_valid,
    output logic         s_ready,
    // The book: a symbol's length and code. Counts: two cycles later.
    input  logic         book_write,
    input  logic [  9:0] book_symbol,
    input  logic [ 15:0] book_code,
    input  logic [  9:0] ask,
    output logic [ 31:0] count,
    // Words of a section: four sizes in bytes of 16 bits, then stream after stream.
    output logic [ 63:0] m_word,
    output logic         m_last,        // of the section
    output logic         m_valid,
    input  logic         m_ready
);
  // ---- batches ----
  typedef enum logic [1:0] {IDLE, CLEAR, WORK, ASK} state_t;
  state_t state;
  logic is_coarse, clearing, counts, all_done;
  assign busy   = state != IDLE;
  assign asks   = state == ASK;
  assign keep   = is_coarse;
  assign counts = is_coarse || batch != last_batch;
  assign rewind = state == WORK && all_done && is_coarse;
  always_ff @(posedge clk) begin
    case (state)
      IDLE:
      if (start) begin
        batch     <= 2'd0;
        is_coarse <= 1'b1;
        state     <= CLEAR;
      end
      CLEAR: state <= WORK;
      WORK:
      if (all_done) begin
        state <= !is_coarse && batch == last_batch ? IDLE : ASK;
        if (!is_coarse && batch != last_batch) batch <= batch + 2'd1;
      end
      default:
      if (answer) begin
        is_coarse <= 1'b0;
        state     <= CLEAR;
      end
    endcase
    if (rst) begin
      state     <= IDLE;
      is_coarse <= 1'b1;
    end
  end

  // ---- a section comes, into one of two halves ----
  logic [31:0] to_come;
  logic [13:0] length, put, length_of[2];
  logic comes, in_half, row;
  logic [1:0] full;
  logic [127:0] words;
  assign length  = to_come > 32'd8192 ? 14'd8192 : to_come[13:0];
  assign s_ready = comes;
  assign row     = comes && s_valid;
  always_comb for (int i = 0; i < 4; i++) words[32*i+:32] = {{24{s_row[8*i+7]}}, s_row[8*i+:8]};

  // ---- it is counted, then coded into one of two halves, and given out ----
  typedef enum logic [1:0] {WAIT, COUNT, CODE} pass_t;
  pass_t pass;
  logic half, to_half, out_half, given, done, coded;
  logic [1:0] kept;
  logic [55:0] bytes, bytes_of[2];
  assign coded = pass == CODE && done;
  assign all_done = to_come == 32'd0 && !comes && full == 2'b0 && kept == 2'b0 && pass == WAIT && !clearing;
  logic opens;
  assign opens = state == WORK && !comes && to_come != 32'd0 && !full[in_half];
  always_ff @(posedge clk) begin
    if (state == CLEAR) to_come <= is_coarse ? coarse : total[32*batch+:32];
    if (opens) begin
      comes <= 1'b1;
      put   <= 14'd0;
    end
    if (row) begin
      put <= put + 14'd4;
      if (put + 14'd4 >= length) begin
        comes              <= 1'b0;
        full[in_half]      <= 1'b1;
        length_of[in_half] <= length;
        in_half            <= !in_half;
        to_come            <= to_come - {18'b0, length};
      end
    end
    if (pass != WAIT && done && (pass == CODE || is_coarse)) begin
      full[half] <= 1'b0;
      half       <= !half;
    end
    case (pass)
      WAIT: if (full[half] && !kept[to_half] && !clearing) pass <= counts ? COUNT : CODE;
      COUNT: if (done) pass <= is_coarse ? WAIT : CODE;
      default: if (done) pass <= WAIT;
    endcase
    if (coded) begin
      kept[to_half]     <= 1'b1;
      bytes_of[to_half] <= bytes;
      to_half           <= !to_half;
    end
    if (given) begin
      kept[out_half] <= 1'b0;
      out_half       <= !out_half;
    end
    if (rst) begin
      comes <= 1'b0;
      pass  <= WAIT;
      full <= 2'b0;
      kept <= 2'b0;
      in_half <= 1'b0;
      half <= 1'b0;
      to_half <= 1'b0;
      out_half <= 1'b0;
    end
  end

  // ---- the stage ----
  logic [39:0] symbol;
  logic [3:0] symbol_valid;
  logic [63:0] code, bits;
  logic [20:0] runs;
  logic [15:0] escape;
  logic [13:0] saved;
  logic shorter, reads;
  logic [1:0] stream;
  logic [10:0] at;
  ceaz_books books (
      .clk,
      .write(book_write),
      .write_bank(1'b0),
      .write_symbol(book_symbol),
      .write_code(book_code),
      .bank(1'b0),
      .symbol,
      .code,
      .runs,
      .escape
  );
  ceaz_histogram histogram (
      .clk,
      .rst,
      .clear(state == CLEAR),
      .clearing,
      .symbol,
      .valid(pass == COUNT ? symbol_valid : 4'b0),
      .load(1'b0),
      .load_at(10'd0),
      .load_count(32'd0),
      .ask,
      .count
  );
  ceaz_huffman huffman (
      .clk,
      .rst,
      .r_start(opens),
      .r_count(length),
      .r_half(in_half),
      .r_valid(row),
      .r_words(words),
      .start(pass != WAIT),
      .half,
      .to_half,
      .count(length_of[half]),
      .coded(1'b1),
      .four(1'b1),
      .fixed(14'd0),
      .size(14'h3FFF),
      .less(1'b0),
      .all_runs(pass == COUNT),
      .done,
      .shorter,
      .saved,
      .bytes,
      .runs,
      .escape,
      .symbol,
      .symbol_valid,
      .code,
      .bits_read(reads),
      .bits_half(out_half),
      .bits_stream(stream),
      .bits_at(at),
      .bits_words(bits)
  );
  logic unused;
  assign unused = &{1'b0, shorter, saved};

  // ---- words out; a stream that has no bytes has none ----
  typedef enum logic [1:0] {NEXT, SIZES, GIVE, LATER} out_t;
  out_t out;
  logic more, goes, rest;
  logic [55:0] sizes;
  logic [13:0] size;
  assign sizes   = bytes_of[out_half];
  assign size    = sizes[14*stream+:14];
  assign more    = {at, 3'b0} < size;  // `at` is the next one to be read
  assign goes    = m_valid && m_ready;
  assign m_valid = out == SIZES || out == GIVE;
  assign m_word  = out == SIZES ? {2'b0, sizes[55:42], 2'b0, sizes[41:28], 2'b0, sizes[27:14], 2'b0, sizes[13:0]} : bits;
  assign m_last  = !more && !rest;
  assign reads   = more && (out == LATER || (out == GIVE && m_ready));
  assign given   = goes && m_last;
  always_comb begin  // another stream has words
    rest = 1'b0;
    for (int k = 1; k < 4; k++) if (2'(k) > stream && sizes[14*k+:14] != 14'd0) rest = 1'b1;
  end
  always_ff @(posedge clk) begin
    if (reads) at <= at + 1'b1;
    case (out)
      NEXT:
      if (kept[out_half]) begin
        stream <= 2'd0;
        at     <= 11'd0;
        out    <= SIZES;
      end
      SIZES: if (m_ready) out <= LATER;
      LATER:
      if (more) out <= GIVE;
      else begin
        stream <= stream + 1'b1;
        at     <= 11'd0;
      end
      default:
      if (m_ready && !more) begin
        out    <= given ? NEXT : LATER;
        stream <= stream + 1'b1;
        at     <= 11'd0;
      end
    endcase
    if (rst) out <= NEXT;
  end
endmodule

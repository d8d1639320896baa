// flare_coder.sv - codes of a batch to sections of bits (format.md 1.6), by CEAZ's Huffman stage: a section of up to 8192 codes
// is taken, coded in four streams, and given out, each stream from a new word on. Its parts do not overlap in time.
module flare_coder (
    input  logic         clk,
    input  logic         rst,
    input  logic         start,
    input  logic [ 31:0] total,         // codes of the batch
    output logic         busy,
    // Codes, 1 to 4 at a time, as flare_collect gives them.
    input  logic [  2:0] s_count,
    input  logic [ 31:0] s_code,
    input  logic         s_valid,
    output logic         s_ready,
    // The book: a symbol's length and code; between batches.
    input  logic         book_write,
    input  logic [  9:0] book_symbol,
    input  logic [ 15:0] book_code,
    // Words of a section, stream after stream, the sizes of all with each of them.
    output logic [ 63:0] m_word,
    output logic [ 55:0] m_bytes,       // of the four streams
    output logic         m_last,        // of the section
    output logic         m_valid,
    input  logic         m_ready
);
  typedef enum logic [2:0] {IDLE, HEAD, FILL, CODE, NEXT, READ, GIVE} state_t;
  state_t state;
  logic [31:0] left;            // codes of the batch, from this section on
  logic [13:0] length, put;     // codes of the section: all, and those in it
  logic [55:0] held;            // codes that have come, up to seven
  logic [2:0] pending;
  assign busy   = state != IDLE;
  assign length = left > 32'd8192 ? 14'd8192 : left[13:0];

  // ---- rows of four; only the last of a batch may have fewer ----
  logic takes, row;
  logic [31:0] come;
  assign s_ready = state == FILL && !row && put < length;
  assign takes   = s_valid && s_ready;
  assign come    = s_code & ~(32'hFFFF_FFFF << {s_count, 3'b0});
  assign row     = state == FILL && put < length && (pending >= 3'd4 || put + {11'b0, pending} >= length);

  logic [127:0] words;
  always_comb for (int i = 0; i < 4; i++) words[32*i+:32] = {{24{held[8*i+7]}}, held[8*i+:8]};
  // ---- the stage ----
  logic [39:0] symbol;
  logic [3:0] symbol_valid;
  logic [63:0] code;
  logic [20:0] runs;
  logic [15:0] escape;
  logic [13:0] saved;
  logic done, shorter;
  logic [1:0] stream;
  logic [10:0] at;
  logic [13:0] bytes;
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
  ceaz_huffman huffman (
      .clk,
      .rst,
      .r_start(state == HEAD),
      .r_count(length),
      .r_half(1'b0),
      .r_valid(row),
      .r_words(words),
      .start(state == CODE),
      .half(1'b0),
      .to_half(1'b0),
      .count(length),
      .coded(1'b1),
      .four(1'b1),
      .fixed(14'd0),
      .size(14'h3FFF),
      .less(1'b0),
      .all_runs(1'b0),
      .done,
      .shorter,
      .saved,
      .bytes(m_bytes),
      .runs,
      .escape,
      .symbol,
      .symbol_valid,
      .code,
      .bits_read(state == READ),
      .bits_half(1'b0),
      .bits_stream(stream),
      .bits_at(at),
      .bits_words(m_word)
  );
  logic unused;
  assign unused = &{1'b0, shorter, saved, symbol_valid};

  // ---- streams out; one that has no bytes has no words ----
  logic more;
  assign bytes   = m_bytes[14*stream+:14];
  assign more    = {at, 3'b0} < bytes;
  assign m_valid = state == GIVE;
  always_comb begin  // none behind this word
    m_last = {at, 3'b0} + 14'd8 >= bytes;
    for (int k = 1; k < 4; k++) if (2'(k) > stream && m_bytes[14*k+:14] != 14'd0) m_last = 1'b0;
  end

  always_ff @(posedge clk) begin
    if (row) begin
      held    <= held >> 32;
      pending <= pending >= 3'd4 ? pending - 3'd4 : 3'd0;
      put     <= put + (pending >= 3'd4 ? 14'd4 : {11'b0, pending});
    end
    if (takes) begin
      held    <= held | {24'b0, come} << {pending[1:0], 3'b0};
      pending <= pending + s_count;
    end
    case (state)
      IDLE:
      if (start && total != 32'd0) begin
        left    <= total;
        held    <= '0;
        pending <= 3'd0;
        state   <= HEAD;
      end
      HEAD: begin
        put   <= 14'd0;
        state <= FILL;
      end
      FILL: if (put >= length) state <= CODE;
      CODE:
      if (done) begin
        stream <= 2'd0;
        at     <= 11'd0;
        state  <= NEXT;
      end
      NEXT:
      if (more) state <= READ;
      else if (stream != 2'd3) begin
        stream <= stream + 1'b1;
        at     <= 11'd0;
      end else begin
        left  <= left - {18'b0, length};
        state <= left == {18'b0, length} ? IDLE : HEAD;
      end
      READ: state <= GIVE;
      default:
      if (m_ready) begin
        at    <= at + 1'b1;
        state <= NEXT;
      end
    endcase
    if (rst) state <= IDLE;
  end
endmodule

// flare_unpack.sv - turns the sections of a chunk's batches back into codes (format.md 1.6). Before each batch it asks
// for its table. Words of a section come as flare_coder gives them: four sizes, then streams. It decodes the streams at
// once; their codes wait until earlier ones are out.
module flare_unpack (
    input  logic         clk,
    input  logic         rst,
    input  logic         start,
    input  logic [127:0] total,         // codes of each batch
    input  logic [  1:0] last_batch,
    output logic         busy,
    output logic         wrong,         // a section is invalid: nothing goes on
    output logic         asks,          // for the table of `batch`
    output logic [  1:0] batch,
    input  logic         answer,
    input  logic         table_write,
    input  logic [ 11:0] table_at,
    input  logic [ 13:0] table_entry,
    input  logic [ 63:0] s_word,
    input  logic         s_valid,
    output logic         s_ready,
    // Codes that are escapes, in order.
    input  logic [ 23:0] e_code,
    input  logic         e_valid,
    output logic         e_ready,
    output logic [ 31:0] m_code,
    output logic         m_valid,
    input  logic         m_ready
);
  typedef enum logic [2:0] {IDLE, ASK, HEAD, BEGIN, WORK} state_t;
  state_t state;
  logic [31:0] left;
  logic [13:0] length, span, part[4], size[4];
  logic [63:0] sizes;
  logic [3:0] decodes, wrongs;
  logic unfit;  // no stream has so many bytes
  logic has_room;
  assign busy   = state != IDLE;
  assign asks   = state == ASK;
  assign length = left > 32'd8192 ? 14'd8192 : left[13:0];
  assign span   = (((length + 14'd31) >> 5) + 14'd3) >> 2 << 5;  // a quarter of the blocks of 32, rounded up
  assign unfit  = |{sizes[63:62], sizes[47:46], sizes[31:30], sizes[15:14]};
  always_comb
    for (int k = 0; k < 4; k++) begin
      size[k] = sizes[16*k+:14];
      part[k] = length <= span * 14'(k) ? 14'd0 : length - span * 14'(k) < span ? length - span * 14'(k) : span;
    end

  // ---- words to streams; each stream begins a new one ----
  logic [1:0] stream;
  logic [13:0] words;  // of the stream, still to come
  logic word_valid, all_words;
  logic [3:0] word_ready;
  assign word_valid = state == WORK && s_valid && words != 14'd0;
  assign s_ready    = state == HEAD ? left != 32'd0 && has_room : state == WORK && words != 14'd0 && word_ready[stream];
  always_ff @(posedge clk) begin
    case (state)
      IDLE:
      if (start) begin
        batch <= 2'd0;
        state <= ASK;
      end
      ASK:
      if (answer) begin
        left  <= total[32*batch+:32];
        state <= HEAD;
      end
      HEAD:
      if (left == 32'd0) begin
        batch <= batch + 2'd1;
        state <= batch == last_batch ? IDLE : ASK;
      end else if (s_valid && has_room) begin
        sizes <= s_word;
        state <= BEGIN;
      end
      BEGIN: begin
        stream    <= 2'd0;
        words     <= (size[0] + 14'd7) >> 3;
        all_words <= 1'b0;
        state     <= WORK;
      end
      default: begin
        if (word_valid && word_ready[stream]) words <= words - 14'd1;
        else if (words == 14'd0 && stream != 2'd3) begin
          stream <= stream + 2'd1;
          words  <= (size[stream+2'd1] + 14'd7) >> 3;
        end else if (words == 14'd0) all_words <= 1'b1;
        if (all_words && decodes == '0 && !wrong) begin
          left  <= left - {18'b0, length};
          state <= HEAD;
        end
      end
    endcase
    wrong <= wrong || (state == WORK && wrongs != '0) || (state == BEGIN && unfit);
    if (rst) begin
      state <= IDLE;
      wrong <= 1'b0;
    end
  end

  // ---- streams ----
  logic [31:0] code;
  logic [3:0] code_valid, code_taken;
  generate
    for (genvar k = 0; k < 4; k++) begin : decode
      logic [63:0] word;
      logic [7:0] made;
      logic valid, ready, gives, takes;
      flare_fifo #(
          .W(64),
          .DEPTH(512)
      ) bits (
          .clk,
          .rst(rst || state == HEAD),
          .keep(1'b0),
          .rewind(1'b0),
          .s_data(s_word),
          .s_valid(word_valid && stream == 2'(k)),
          .s_ready(word_ready[k]),
          .m_data(word),
          .m_valid(valid),
          .m_ready(ready)
      );
      flare_decoder decoder (
          .clk,
          .rst,
          .start(state == BEGIN && !unfit),
          .total(part[k]),
          .size(size[k]),
          .busy(decodes[k]),
          .wrong(wrongs[k]),
          .table_write,
          .table_at,
          .table_entry,
          .s_word(word),
          .s_valid(valid),
          .s_ready(ready),
          .m_code(made),
          .m_valid(gives),
          .m_ready(takes)
      );
      flare_fifo #(
          .W(8),
          .DEPTH(4096)
      ) codes (
          .clk,
          .rst,
          .keep(1'b0),
          .rewind(1'b0),
          .s_data(made),
          .s_valid(gives),
          .s_ready(takes),
          .m_data(code[8*k+:8]),
          .m_valid(code_valid[k]),
          .m_ready(code_taken[k])
      );
    end
  endgenerate

  // ---- codes out, stream after stream, of up to two sections ----
  logic [27:0] lengths[2];  // whole, a stream's
  logic in, out, escape, next;
  logic [1:0] waiting, out_stream;
  logic [13:0] done, out_length, out_span, in_stream;
  logic has_code;
  assign has_room = !waiting[1];
  assign {out_length, out_span} = lengths[out];
  assign has_code = waiting != 2'd0 && code_valid[out_stream];
  assign escape   = code[8*out_stream+:8] == 8'h80;
  assign m_code   = escape ? {{8{e_code[23]}}, e_code} : {{24{code[8*out_stream+7]}}, code[8*out_stream+:8]};
  assign m_valid  = has_code && (!escape || e_valid);
  assign e_ready  = has_code && escape && m_ready;
  assign next     = m_valid && m_ready;
  assign code_taken = next ? 4'd1 << out_stream : 4'd0;
  always_ff @(posedge clk) begin
    if (state == BEGIN) begin
      lengths[in] <= {length, span};
      in <= !in;
    end
    if (next) begin
      done      <= done + 14'd1;
      in_stream <= in_stream + 14'd1;
      if (in_stream + 14'd1 == out_span) begin
        in_stream  <= 14'd0;
        out_stream <= out_stream + 2'd1;
      end
      if (done + 14'd1 == out_length) begin
        done       <= 14'd0;
        in_stream  <= 14'd0;
        out_stream <= 2'd0;
        out        <= !out;
      end
    end
    waiting <= waiting + {1'b0, state == BEGIN} - {1'b0, next && done + 14'd1 == out_length};
    if (rst) begin
      in         <= 1'b0;
      out        <= 1'b0;
      waiting    <= 2'd0;
      done       <= 14'd0;
      in_stream  <= 14'd0;
      out_stream <= 2'd0;
    end
  end
endmodule

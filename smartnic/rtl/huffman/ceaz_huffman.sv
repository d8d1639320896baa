// ceaz_huffman.sv - turns the residuals of a chunk into one or four streams of codes (format.md 1.4, 4.9), four
// residuals a cycle, more if rows of the memory are zero; and tells whether that is shorter than encoder 1.
//
// Residuals lie in four banks, one for each of four streams. The single stream of a small chunk goes through all of
// them. There is room for two chunks, here and in the streams' memories: one is written while the one before is read.
module ceaz_huffman #(
    parameter int N = 4,
    parameter int K = N > 4 ? N / 4 : 1,  // 8-byte units that are read at a time
    parameter int KA = $clog2(2048 / K)
) (
    input  logic            clk,
    input  logic            rst,
    // Residuals as ceaz_encode makes them; `r_start` before the first.
    input  logic            r_start,
    input  logic [    13:0] r_count,    // words in that chunk
    input  logic            r_half,
    input  logic            r_valid,
    input  logic [32*N-1:0] r_words,
    // The chunk to code, from `start` until it is done.
    input  logic            start,
    input  logic            half,       // its residuals
    input  logic            to_half,    // its streams
    input  logic [    13:0] count,
    input  logic            coded,      // there is something to code
    input  logic            four,       // streams
    input  logic [    13:0] fixed,      // words beside the streams
    input  logic [    13:0] size,       // words by encoder 1
    input  logic            less,       // one of these is never stored
    input  logic            all_runs,   // to count, whatever the book has
    output logic            done,
    output logic            shorter,
    output logic [    13:0] saved,      // words
    output logic [    55:0] bytes,      // of each stream
    // Books.
    input  logic [    20:0] runs,
    input  logic [    15:0] escape,
    output logic [    39:0] symbol,
    output logic [     3:0] symbol_valid,
    input  logic [    63:0] code,
    // Streams, by half, stream and word.
    input  logic            bits_read,
    input  logic            bits_half,
    input  logic [     1:0] bits_stream,
    input  logic [  KA-1:0] bits_at,
    output logic [64*K-1:0] bits_words
);
  localparam int B = N > 32 ? N / 32 : 1;  // rows in a beat: each of at most a block
  localparam int R = N / B;                // words in a row
  localparam int LOG = $clog2(R);
  localparam int BANK = 2048 / R;          // rows of a half
  localparam int BA = $clog2(BANK);
  localparam int LB = $clog2(B);
  localparam logic [13:0] LANES = 14'(R);

  // Words of a bank: those of a quarter of the blocks, rounded up.
  function automatic logic [13:0] span_of(input logic [13:0] words);
    span_of = (((words + 14'd31) >> 5) + 14'd3) >> 2 << 5;
  endfunction

  // ---- residuals in: where each row of a beat goes ----
  logic [13:0] in_span, in_left, left_behind;  // words of rows that are left in the bank
  logic [1:0] in_bank, bank_behind;
  logic [BA-1:0] in_row, row_behind;
  logic [2*B-1:0] to_bank;
  logic [BA*B-1:0] to_row;
  always_comb begin
    left_behind = in_left;
    bank_behind = in_bank;
    row_behind  = in_row;
    for (int j = 0; j < B; j++) begin
      to_bank[2*j+:2]  = bank_behind;
      to_row[BA*j+:BA] = row_behind;
      if (left_behind == LANES) begin
        left_behind = in_span;
        bank_behind += 2'd1;
        row_behind = '0;
      end else begin
        left_behind -= LANES;
        row_behind += 1'b1;
      end
    end
  end
  always_ff @(posedge clk) begin
    if (r_start) begin
      in_span <= span_of(r_count);
      in_left <= span_of(r_count);
      in_bank <= 2'd0;
      in_row  <= '0;
    end else if (r_valid) begin
      in_left <= left_behind;
      in_bank <= bank_behind;
      in_row  <= row_behind;
    end
  end

  // ---- control ----
  typedef enum logic [1:0] {IDLE, RUN, SUM, JUDGE} state_t;
  state_t state;
  logic begins;
  logic [3:0] stream_done, overflow;
  logic [15:0] sum;
  logic [13:0] span, words_coded;
  logic is_shorter;
  assign begins = state == IDLE && start && !done;
  assign span = span_of(count);
  assign words_coded = fixed + sum[15:2] + {13'b0, |sum[1:0]};
  assign is_shorter  = words_coded < size - {13'b0, less} && overflow == 4'b0;
  always_ff @(posedge clk) begin
    done <= 1'b0;
    case (state)
      IDLE:
      if (begins) begin
        shorter <= 1'b0;
        saved   <= {13'b0, less};
        if (coded) state <= RUN;
        else done <= 1'b1;
      end
      RUN: if (&stream_done) state <= SUM;
      SUM: begin
        sum   <= {2'b0, bytes[13:0]} + {2'b0, bytes[27:14]} + {2'b0, bytes[41:28]} + {2'b0, bytes[55:42]};
        state <= JUDGE;
      end
      default: begin
        shorter <= is_shorter;
        saved   <= is_shorter ? size - words_coded : {13'b0, less};
        done    <= 1'b1;
        state   <= IDLE;
      end
    endcase
    if (rst) begin
      state <= IDLE;
      done  <= 1'b0;
    end
  end

  // ---- streams ----
  logic [32*R-1:0] bank_row[4];
  logic [4*BA-1:0] bank_at;
  logic [13:0] rows[4];
  logic [55:0] words_of;
  logic [1:0] from_bank;   // of the single stream
  logic [1:0] from_bank1;
  logic [3:0] advance;
  generate
    for (genvar k = 0; k < 4; k++) begin : stream
      // Words not yet read from the bank, and words not yet taken. A row that was read stays until all of it has been
      // taken: word by word, or at once if it is zero.
      logic [13:0] first, unread, left;
      logic [5:0] lane, times;
      logic ready, valid1, last1, take, row_done, skip;
      logic [32*R-1:0] row;
      assign first = four ? span * 14'(k) : 14'd0;
      assign row = bank_row[four ? k : from_bank1];
      assign skip = lane == 6'd0 && row == '0;
      assign times = skip ? (left < LANES ? left[5:0] : LANES[5:0]) : 6'd1;
      assign last1 = left == {8'b0, times};
      assign take = valid1 && ready && state == RUN;
      assign row_done = take && (last1 || lane + times == LANES[5:0]);
      assign advance[k] = state == RUN && unread != 14'd0 && (!valid1 || row_done);
      always_ff @(posedge clk) begin
        if (begins) begin
          left <= words_of[14*k+:14];
          unread <= words_of[14*k+:14];
          rows[k] <= 14'd0;
          valid1 <= 1'b0;
        end else begin
          if (take) begin
            left <= left - {8'b0, times};
            lane <= lane + times;
          end
          if (row_done) valid1 <= 1'b0;
          if (advance[k]) begin
            unread <= unread < LANES ? 14'd0 : unread - LANES;
            rows[k] <= !four && rows[k] + 14'd1 == span >> LOG ? 14'd0 : rows[k] + 14'd1;
            lane <= 6'd0;
            valid1 <= 1'b1;
          end
        end
      end
      assign words_of[14*k+:14] = !four ? (k == 0 ? count : 14'd0) :
          count <= first ? 14'd0 : count - first > span ? span : count - first;
      assign bank_at[BA*k+:BA] = BA'(rows[four ? k : 0]);

      // The rows of a beat have a memory each, which take turns.
      logic bank_read;
      logic [32*R*B-1:0] bank_out;
      assign bank_read = four ? advance[k] : advance[0] && from_bank == 2'(k);
      for (genvar p = 0; p < B; p++) begin : bank
        logic put;
        logic [BA-1:LB] put_at;
        logic [32*R-1:0] put_data;
        always_comb begin
          put      = 1'b0;
          put_at   = to_row[BA-1:LB];
          put_data = r_words[32*R-1:0];
          for (int j = 0; j < B; j++)
            if (r_valid && to_bank[2*j+:2] == 2'(k) && 32'(to_row[BA*j+:BA]) % B == p) begin
              put      = 1'b1;
              put_at   = to_row[BA*j+LB+:BA-LB];
              put_data = r_words[32*R*j+:32*R];
            end
        end
        ceaz_memory #(
            .W(32 * R),
            .DEPTH(2 * BANK / B)
        ) memory (
            .clk,
            .write(put),
            .write_at({r_half, put_at}),
            .write_data(put_data),
            .read(bank_read),
            .read_at({half, bank_at[BA*k+LB+:BA-LB]}),
            .read_data(bank_out[32*R*p+:32*R])
        );
      end
      if (B == 1) begin : one
        assign bank_row[k] = bank_out;
      end else begin : two
        logic odd;
        always_ff @(posedge clk) if (bank_read) odd <= bank_at[BA*k];
        assign bank_row[k] = odd ? bank_out[64*R-1:32*R] : bank_out[32*R-1:0];
      end

      logic [4:0] extra;
      logic [31:0] residual;
      logic symbol_last;
      ceaz_symbols symbols (
          .clk,
          .rst(rst || begins),
          .runs(all_runs ? 21'h1FFFFF : runs),
          .r(row[32*lane+:32]),
          .times,
          .last(last1),
          .valid(valid1 && state == RUN),
          .ready,
          .symbol(symbol[10*k+:10]),
          .extra,
          .residual,
          .m_last(symbol_last),
          .m_valid(symbol_valid[k])
      );

      // The book's code; if it has none, the escape and the whole residual.
      logic valid2, last2, none;
      logic [4:0] extra2;
      logic [31:0] residual2, rest;
      logic [15:0] used;
      logic [5:0] more;
      always_ff @(posedge clk) begin
        valid2    <= symbol_valid[k] && !begins;
        last2     <= symbol_last;
        extra2    <= extra;
        residual2 <= residual;
      end
      assign none = code[16*k+12+:4] == 4'd0;
      assign used = none ? escape : code[16*k+:16];
      assign more = none ? 6'd32 : {1'b0, extra2};
      assign rest = none ? residual2 : residual2 & ~(32'hFFFF_FFFF << extra2);

      logic valid3, last3;
      logic [43:0] value3;
      logic [5:0] count3;
      always_ff @(posedge clk) begin
        valid3 <= valid2 && !begins && !rst;
        last3  <= last2;
        value3 <= {32'b0, used[11:0]} | {12'b0, rest} << used[15:12];
        count3 <= {2'b0, used[15:12]} + more;
      end

      logic write, bits_done;
      logic [10:0] at;
      logic [63:0] word;
      logic [64*K-1:0] out;
      ceaz_bits bits (
          .clk,
          .start(begins || rst),
          .value(value3),
          .count(count3),
          .last(last3),
          .valid(valid3),
          .write,
          .at,
          .word,
          .done(bits_done),
          .overflow(overflow[k]),
          .bytes(bytes[14*k+:14])
      );
      logic nothing;
      always_ff @(posedge clk)
        if (begins) nothing <= words_of[14*k+:14] == 14'd0;
      assign stream_done[k] = bits_done || nothing;
      for (genvar p = 0; p < K; p++) begin : piece
        ceaz_memory #(
            .W(64),
            .DEPTH(4096 / K)
        ) memory (
            .clk,
            .write(write && 32'(at) % K == p),
            .write_at({to_half, at[10:11-KA]}),
            .write_data(word),
            .read(bits_read),
            .read_at({bits_half, bits_at}),
            .read_data(out[64*p+:64])
        );
      end
    end
  endgenerate
  always_ff @(posedge clk) begin
    if (begins) from_bank <= 2'd0;
    else if (advance[0]) begin
      from_bank1 <= from_bank;
      if (!four && rows[0] + 14'd1 == span >> LOG) from_bank <= from_bank + 2'd1;
    end
  end
  logic [1:0] bits_stream1;
  always_ff @(posedge clk) if (bits_read) bits_stream1 <= bits_stream;
  always_comb
    case (bits_stream1)
      2'd0: bits_words = stream[0].out;
      2'd1: bits_words = stream[1].out;
      2'd2: bits_words = stream[2].out;
      default: bits_words = stream[3].out;
    endcase
endmodule

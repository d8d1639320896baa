// ceaz_drain.sv - turns the parts of a chunk into beats: encoder 1's head, length bytes, planes, masks and values
// (format.md 1.2), or encoder 2's streams (1.4), or the words as they are (map 2). It takes an item a cycle: a block of
// planes (with 64 lanes two of them), 32 lengths or masks, the values of a beat and a block, or as many bits of a
// stream as half a beat has. If one value stands for all exceptions, it takes masks one by one, because some are left
// out.
//
// Three stages: an item's address; the memories' answers, and the address of an exception's words; the words.
module ceaz_drain #(
    parameter int N = 4,
    parameter int S = 2,                     // bits of a slot's number
    parameter int ROWS = 8192 / N,
    parameter int RA = $clog2(ROWS),
    parameter int B = N > 32 ? N / 32 : 1,   // blocks in a beat
    parameter int K = N > 4 ? N / 4 : 1,     // 8 bytes of a stream that are read at a time
    parameter int KA = $clog2(2048 / K)
) (
    input  logic             clk,
    input  logic             rst,
    // The chunk: valid from `start` until it is done.
    input  logic             start,
    input  logic [    S-1:0] slot,
    input  logic [     13:0] count,
    input  logic [      1:0] map,
    input  logic [      2:0] axes,
    input  logic             zero,
    input  logic [     31:0] step,
    input  logic [      3:0] shift,          // if not 0, stands for the step (1.4)
    input  logic [     31:0] base,
    input  logic [      8:0] marked,
    // By encoder 2.
    input  logic             huffman,
    input  logic             four,
    input  logic [      7:0] book,
    input  logic [     55:0] bytes,
    input  logic             equal,          // all exceptions
    input  logic [    511:0] marks,
    output logic             done,
    // Its words, and its parts.
    output logic             read,
    output logic [   RA-1:0] read_at,
    input  logic [ 32*N-1:0] words,
    output logic             part_read,
    output logic [    S+2:0] length_at,
    input  logic [    255:0] length_row,
    output logic [S+7-$clog2(B):0] block_at,
    input  logic [33*32*B-1:0] block_words,
    input  logic [  6*B-1:0] block_length,
    output logic [    S+2:0] mask_at,
    input  logic [   1023:0] mask_row,
    output logic [    S+7:0] outlier_at,
    input  logic [     41:0] outlier,
    output logic [      1:0] bits_stream,
    output logic [   KA-1:0] bits_at,
    input  logic [ 64*K-1:0] bits_words,
    // Beats.
    output logic [ 32*N-1:0] m_words,
    output logic [      6:0] m_count,
    output logic             m_last,
    output logic             m_valid,
    input  logic             m_ready
);
  localparam int P = 33 * B;  // words of the longest item
  localparam int G = 32 * B / N;
  localparam int LB = $clog2(B);
  localparam int LK = $clog2(K);
  localparam int LOG = $clog2(N);
  localparam int BL = LOG + 1;
  localparam int PW = 32 * P;
  localparam int GA = $clog2(G + 1);

  typedef enum logic [3:0] {HEAD, LENGTHS, PLANES, CODES, MARKS, MASKS, VALUES, BITS, RAW} part_t;

  // ---- which item ----
  logic go, step_on, valid1, last1, valid2, last2;
  part_t part, part1, part2;
  logic [13:0] at;   // item of the part
  logic [GA-1:0] beat, beat1;  // of a block's values
  logic [13:0] nb;
  logic item_last, beat_last, part_last, chunk_last, once;
  assign once = huffman && equal;
  assign nb = (count + 14'd31) >> 5;
  assign beat_last = part != VALUES || beat == GA'(G - 1);
  always_comb begin
    case (part)
      HEAD: part_last = 1'b1;
      LENGTHS: part_last = at == ((nb - 14'd1) >> 5);
      PLANES: part_last = at == (nb - 14'd1) >> LB;
      MASKS: part_last = at == {5'b0, once ? marked - 9'd1 : (marked - 9'd1) >> 5};
      VALUES: part_last = (once || at == {5'b0, marked - 9'd1}) && beat_last;
      CODES, MARKS: part_last = 1'b1;
      BITS: part_last = stream_last && stream == (four ? 2'd3 : 2'd0);
      default: part_last = at == ((count - 14'd1) >> LOG);
    endcase
    case (part)
      HEAD: chunk_last = zero && map != 2'd2;
      PLANES: chunk_last = marked == 9'd0;
      VALUES: chunk_last = !huffman;
      BITS, RAW: chunk_last = 1'b1;
      default: chunk_last = 1'b0;
    endcase
  end
  assign item_last = part_last && chunk_last;

  // Streams: at least one item for each stream.
  logic [1:0] stream;
  logic stream_last;
  logic [13:0] stream_bytes, stream_left;
  assign stream_bytes = bytes[14*stream+:14];
  assign stream_left  = stream_bytes - 14'({at[10:0], 3'b0} << LK);
  assign stream_last  = stream_left <= 14'(8 * K);
  assign bits_stream  = stream;
  assign bits_at      = at[KA-1:0];
  // The memories and the chunk's numbers are needed until its last item has left the second stage.
  logic ended;
  assign go = start && !done && !ended;
  always_ff @(posedge clk) begin
    done <= valid2 && last2 && step_on;
    if (done) ended <= 1'b0;
    if (go && step_on) begin
      beat <= beat_last ? '0 : beat + 1'b1;
      if (beat_last) at <= at + 14'd1;
      if (part == BITS && stream_last) begin
        at     <= 14'd0;
        stream <= stream + 2'd1;
      end
      if (part_last) begin
        at <= 14'd0;
        case (part)
          HEAD: part <= map == 2'd2 ? RAW : huffman ? CODES : LENGTHS;
          CODES: part <= marked != 9'd0 ? MARKS : BITS;
          MARKS: part <= MASKS;
          VALUES: part <= BITS;
          LENGTHS: part <= PLANES;
          PLANES: part <= MASKS;
          default: part <= VALUES;
        endcase
      end
      if (item_last) begin
        part   <= HEAD;
        stream <= 2'd0;
        ended <= 1'b1;
      end
    end
    if (rst) begin
      part  <= HEAD;
      stream <= 2'd0;
      at    <= 14'd0;
      beat  <= '0;
      done  <= 1'b0;
      ended <= 1'b0;
    end
  end
  assign part_read  = step_on;
  assign length_at  = {slot, at[2:0]};
  assign block_at   = {slot, at[7-LB:0]};
  assign mask_at    = {slot, at[2:0]};
  assign outlier_at = {slot, at[7:0]};

  // ---- answers of the memories: one stage later, those with words two ----
  logic [13:0] at1;
  logic [32*P-1:0] item1, item2, planes1;
  logic [6:0] count1, planes_count1;
  logic [7:0] count2, bits_left1;
  logic [31:0] picked, picked2;
  logic [7:0] nb_left;
  assign picked  = outlier[32] ? outlier[31:0] & -outlier[31:0] : outlier[31:0];
  assign read    = step_on;
  assign read_at = part1 == VALUES ? RA'({outlier[41:34], 5'b0} >> LOG) + RA'(beat1) : at1[RA-1:0];
  assign nb_left = at1 == ((nb - 14'd1) >> 5) ? 8'(nb - {at1[8:0], 5'b0}) : 8'd32;
  always_comb begin
    item1  = '0;
    count1 = planes_count1;
    case (part1)
      HEAD: begin
        item1[31:0] = map == 2'd2 ? 32'd2 :
            {4'b0, map == 2'd0 ? shift : 4'd0, 4'b0, once, huffman, marked != 9'd0, zero, 5'b0, axes, 6'b0, map};
        item1[95:32] = with_step ? {base, step} : {32'b0, base};
        count1 = map == 2'd2 ? 7'd1 : with_step ? 7'd3 : 7'd2;
      end
      LENGTHS: begin
        item1[255:0] = length_row;
        count1 = 7'((nb_left + 8'd3) >> 2);
      end
      MASKS: begin
        item1[1023:0] = mask_row;
        count1 = at1[3:0] == marked[8:5] ? {2'b0, marked[4:0]} : 7'd32;
        if (once) begin
          item1[31:0] = outlier[31:0];
          count1 = {6'b0, !outlier[33]};
        end
      end
      CODES: begin
        item1[15:0] = {5'b0, four, 1'b0, !four, book};
        if (four) item1[63:16] = {2'b0, bytes[41:28], 2'b0, bytes[27:14], 2'b0, bytes[13:0]};
        count1 = four ? 7'd2 : 7'd1;
      end
      MARKS: begin
        item1[511:0] = {256'b0, marks[255:0]} | {256'b0, marks[511:256]} << {mark_words, 5'b0};
        count1 = {2'b0, mark_words, 1'b0};
      end
      BITS: begin
        item1[64*K-1:0] = bits_words & ~({64 * K{1'b1}} << {bits_left1, 3'b0});
      end
      default: item1 = planes1;
    endcase
  end
  logic [3:0] mark_words;
  assign mark_words = 4'((nb + 14'd31) >> 5);
  logic with_step;
  assign with_step = map == 2'd0 && shift == 4'd0;

  generate
    if (B == 1) begin : one
      assign planes1 = block_words;
      assign planes_count1 = block_length == 6'd0 ? 7'd0 : {1'b0, block_length} + 7'd1;
    end else begin : two  // the second block's follow the first block's
      logic [6:0] first, second;
      assign first = block_length[5:0] == 6'd0 ? 7'd0 : {1'b0, block_length[5:0]} + 7'd1;
      assign second = block_length[11:6] == 6'd0 ? 7'd0 : {1'b0, block_length[11:6]} + 7'd1;
      assign planes1 = {{33 * 32{1'b0}}, block_words[33*32-1:0] & ~({33 * 32{1'b1}} << {first, 5'b0})} |
          {{33 * 32{1'b0}}, block_words[66*32-1:33*32]} << {first, 5'b0};
      assign planes_count1 = first + second;
    end
  endgenerate

  logic [GA-1:0] beat2;
  logic [BL-1:0] block2;  // where in the beat the block begins
  logic [13:0] left2;
  always_ff @(posedge clk) begin
    if (step_on) begin
      valid1  <= go;
      last1   <= item_last;
      part1   <= part;
      at1     <= at;
      beat1   <= beat;
      bits_left1 <= stream_left > 14'(8 * K) ? 8'(8 * K) : stream_left[7:0];
      valid2  <= valid1;
      last2   <= last1;
      part2   <= part1;
      item2   <= item1;
      count2  <= part1 == BITS ? bits_left1 : {1'b0, count1};  // bytes of a stream, otherwise words
      picked2 <= picked;
      beat2   <= beat1;
      block2  <= BL'({outlier[41:34], 5'b0} & 13'(N - 1));
      left2   <= count - 14'(at1 << LOG);
    end
    if (rst) begin
      valid1 <= 1'b0;
      valid2 <= 1'b0;
    end
  end

  logic [N-1:0] take;
  logic [32*N-1:0] compacted;
  logic [6:0] compacted_count;
  always_comb
    for (int i = 0; i < N; i++)
      take[i] = part2 == RAW ? 14'(i) < left2 :
          i >= 32'(block2) && i < 32'(block2) + 32 && picked2[5'(N * beat2 + i)];
  ceaz_compact #(
      .N(N)
  ) compact (
      .words,
      .mask(take),
      .out(compacted),
      .count(compacted_count)
  );

  // Streams begin at any byte, so a rest that does not fill a word waits for what comes next.
  logic [23:0] carry;
  logic [1:0] carried;
  logic [64*K+31:0] aligned;
  logic [7:0] total;
  logic [6:0] aligned_count;
  assign aligned = {{64 * K + 8{1'b0}}, carry} | {32'b0, item2[64*K-1:0]} << {carried, 3'b0};
  assign total = {6'b0, carried} + count2;
  assign aligned_count = last2 ? 7'((total + 8'd3) >> 2) : {1'b0, total[7:2]};
  always_ff @(posedge clk) begin
    if (step_on && valid2 && part2 == BITS) begin
      carry   <= 24'(aligned >> {total[7:2], 5'b0});
      carried <= total[1:0];
    end
    if (rst || (step_on && valid2 && last2)) begin
      carry   <= 24'b0;
      carried <= 2'd0;
    end
  end

  logic valid3, last3, pack_ready;
  logic [32*P-1:0] item3;
  logic [6:0] count3;
  assign step_on = !valid3 || pack_ready;
  always_ff @(posedge clk) begin
    if (step_on) begin
      valid3 <= valid2;
      last3  <= last2;
      case (part2)
        RAW, VALUES: {count3, item3} <= {compacted_count, PW'(compacted)};
        BITS: {count3, item3} <= {aligned_count, PW'(aligned)};
        default: {count3, item3} <= {count2[6:0], item2};
      endcase
    end
    if (rst) valid3 <= 1'b0;
  end
  ceaz_pack #(
      .N(N),
      .P(P)
  ) pack (
      .clk,
      .rst,
      .s_words(item3),
      .s_count(count3),
      .s_last(last3),
      .s_valid(valid3),
      .s_ready(pack_ready),
      .m_words,
      .m_count,
      .m_last,
      .m_valid,
      .m_ready
  );
endmodule

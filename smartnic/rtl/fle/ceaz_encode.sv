// ceaz_encode.sv - turns a chunk in a buffer into the parts of a chunk of encoder 1 (format.md 1.2, 4.5, 4.6): length
// bytes, blocks of planes, exceptions. It takes a beat a cycle and 17 cycles more for each chunk; as long again for map
// 1 if map 0 does not suit the chunk.
//
// The parts stay in memories with several slots: it encodes the next chunk while ceaz_drain reads this one.
module ceaz_encode #(
    parameter int N = 4,
    parameter int SLOTS = 2,
    parameter int S = $clog2(SLOTS),
    parameter int ROWS = 8192 / N,
    parameter int RA = $clog2(ROWS),
    parameter int B = N > 32 ? N / 32 : 1  // blocks in a beat
) (
    input  logic              clk,
    input  logic              rst,
    // The job, and the next chunk, if `start`.
    input  logic              is_float,
    input  logic [       2:0] axes,
    input  logic [      95:0] inverse,
    input  logic [      11:0] shift,     // by level of map 0; 0: the step is stored
    input  logic [      92:0] reach,
    input  logic              start,
    input  logic [     S-1:0] slot,      // slot for its parts
    input  logic              coarse,    // by map 0
    input  logic [       1:0] level,
    input  logic [      13:0] count,
    input  logic [      13:0] row,
    input  logic [      13:0] plane,
    output logic              done,
    // Its words.
    output logic              read,
    output logic [    RA-1:0] read_at,
    input  logic [  32*N-1:0] words,
    // The result, when it is done.
    output logic [       1:0] map,
    output logic [       2:0] used_axes,
    output logic              zero,      // flag bit 0
    output logic [      31:0] base,
    output logic [       8:0] marked,    // blocks with exceptions
    output logic              equal,     // there are exceptions, and all have one bit pattern
    // Which blocks have exceptions; which of these have nothing else or, if not `equal`, store one value only.
    output logic [     511:0] marks,
    output logic [      13:0] size,      // words by encoder 1
    output logic              less,      // one of these words is the step, which is not stored
    output logic [      13:0] beside,    // words of encoder 2's head, base and exceptions, no step
    // The residuals, one beat after the other, behind r_start.
    output logic              r_start,
    output logic              r_valid,
    output logic [  32*N-1:0] r_words,
    // Parts, read by slot and number.
    input  logic              part_read,
    input  logic [     S+2:0] length_at,
    output logic [     255:0] length_row,
    input  logic [S+7-$clog2(B):0] block_at,
    output logic [33*32*B-1:0] block_words,
    output logic [     6*B-1:0] block_length,
    input  logic [     S+2:0] mask_at,
    output logic [    1023:0] mask_row,
    input  logic [     S+7:0] outlier_at,
    output logic [      41:0] outlier    // block, full, uniform, mask
);
  localparam int C = N / B;  // lanes of a block
  localparam int LB = $clog2(B);
  localparam logic [13:0] LANES = 14'(N);

  // ---- control ----
  typedef enum logic [2:0] {IDLE, SHAPE, RUN, WAIT, DECIDE} state_t;
  state_t state;
  logic shape, ready, issue, issue_last, quantized, again;
  logic [13:0] issue_left;
  logic end_of_blocks;
  assign issue      = state == RUN;
  assign issue_last = issue_left <= LANES;
  assign read       = issue;
  assign shape      = (state == IDLE && start && !done) || again;
  assign quantized  = map == 2'd0;
  assign r_start    = shape;

  // ---- sizes of the blocks ----
  logic [13:0] planes, exceptions, values;
  logic [8:0] partly;  // marked blocks that have other elements
  logic any, flag_exceptions, differ;
  logic [13:0] nb, coded;
  assign nb              = (count + 14'd31) >> 5;
  assign flag_exceptions = marked != 9'd0;
  assign equal           = flag_exceptions && !differ;
  assign less            = quantized && shift[4*level+:4] != 4'd0;
  assign coded = (quantized ? 14'd3 : 14'd2) + (!any && !flag_exceptions ? 14'd0 :
      ((nb + 14'd3) >> 2) + planes + {5'b0, marked} + values);
  assign again = state == DECIDE && quantized && (exceptions == count || coded > count + 14'd1);

  always_ff @(posedge clk) begin
    done <= 1'b0;
    case (state)
      IDLE:
      if (shape) begin
        map   <= coarse ? 2'd0 : 2'd1;
        state <= SHAPE;
      end
      SHAPE: begin
        read_at    <= '0;
        issue_left <= count;
        if (ready) state <= RUN;
      end
      RUN: begin
        read_at    <= read_at + 1'b1;
        issue_left <= issue_left - LANES;
        if (issue_last) state <= WAIT;
      end
      WAIT: if (end_of_blocks) state <= DECIDE;
      default:
      if (again) begin
        map   <= 2'd1;
        state <= SHAPE;
      end else begin
        if (coded > count + 14'd1) map <= 2'd2;
        size  <= coded > count + 14'd1 ? count + 14'd1 : coded;
        zero  <= !any && !flag_exceptions;
        beside <= 14'd2 + (!flag_exceptions ? 14'd0 :
            ((nb + 14'd31) >> 5 << 1) + (equal ? {5'b0, partly} + 14'd1 : {5'b0, marked} + values));
        done  <= 1'b1;
        state <= IDLE;
      end
    endcase
    if (rst) begin
      state <= IDLE;
      done  <= 1'b0;
    end
  end
  assign used_axes = {axes[2] && count > plane, axes[1] && plane > row, axes[0] && row > 14'd1};

  // ---- quantization, or the ordered view of the bits: four stages from the address ----
  logic [3:0] valid, first, last;
  always_ff @(posedge clk) begin
    valid <= {valid[2:0], issue};
    first <= {first[2:0], issue_left == count};
    last  <= {last[2:0], issue_last};
    if (rst) valid <= 4'b0;
  end
  logic [30:0] level_inverse;
  logic [30:0] level_limit;
  assign level_inverse = inverse[32*level+:31];
  assign level_limit   = reach[31*level+:31];

  logic [32*N-1:0] x2, x3, x4, q;
  logic [N-1:0] fits, is_in, ok, exception;
  logic [13:0] left4, left_now;
  assign left_now = first[3] ? count : left4;
  always_ff @(posedge clk) begin
    x2 <= words;
    x3 <= x2;
    x4 <= x3;
    if (valid[3]) left4 <= left_now - LANES;
  end
  generate
    for (genvar i = 0; i < N; i++) begin : lane
      logic [31:0] z, u;
      ceaz_quant quant (
          .clk,
          .x(words[32*i+:32]),
          .inverse(level_inverse),
          .limit(level_limit),
          .q(z),
          .ok(fits[i])
      );
      assign u = x4[32*i+:32];
      assign q[32*i+:32] = quantized ? z : is_float && u[31] ? {1'b1, ~u[30:0]} : u;
      assign is_in[i] = 14'(i) < left_now;
      assign ok[i] = is_in[i] && (!quantized || fits[i]);
      assign exception[i] = is_in[i] && quantized && !fits[i];
    end
  endgenerate

  // ---- exceptions: the blocks of a beat have a memory each, which take turns ----
  logic [B-1:0] outlier_valid, outlier_uniform, outlier_full, put_outlier;
  logic [32*B-1:0] outlier_mask, outlier_pattern;
  logic [6*B-1:0] outlier_values;
  logic [8*B-1:0] outlier_number;  // among the marked ones
  generate
    for (genvar j = 0; j < B; j++) begin : exceptions_of
      ceaz_outliers #(
          .N(C)
      ) outliers (
          .clk,
          .rst,
          .valid(valid[3] && left_now > 14'(32 * j)),
          .last(last[3]),
          .x(x4[32*C*j+:32*C]),
          .is_in(is_in[C*j+:C]),
          .exception(exception[C*j+:C]),
          .m_valid(outlier_valid[j]),
          .m_mask(outlier_mask[32*j+:32]),
          .m_uniform(outlier_uniform[j]),
          .m_full(outlier_full[j]),
          .m_pattern(outlier_pattern[32*j+:32]),
          .m_values(outlier_values[6*j+:6])
      );
      assign put_outlier[j] = outlier_valid[j] && outlier_mask[32*j+:32] != 32'b0;
    end
  endgenerate
  logic [8:0] outlier_block, marked_behind, partly_behind;
  logic [13:0] values_behind, exceptions_behind;
  logic [31:0] pattern, pattern_behind;
  logic differ_behind;
  always_comb begin
    marked_behind     = marked;
    values_behind     = values;
    exceptions_behind = exceptions;
    partly_behind     = partly;
    pattern_behind    = pattern;
    differ_behind     = differ;
    for (int j = 0; j < B; j++) begin
      outlier_number[8*j+:8] = marked_behind[7:0];
      if (put_outlier[j]) begin
        if (marked_behind == 9'd0) pattern_behind = outlier_pattern[32*j+:32];
        if (!outlier_uniform[j] || outlier_pattern[32*j+:32] != pattern_behind) differ_behind = 1'b1;
        partly_behind += {8'b0, !outlier_full[j]};
        marked_behind += 9'd1;
        values_behind += {8'b0, outlier_values[6*j+:6]};
      end
      for (int i = 0; i < 32; i++)
        exceptions_behind += {13'b0, outlier_valid[j] && outlier_mask[32*j+i]};
    end
  end
  always_ff @(posedge clk) begin
    if (shape) begin
      marked        <= 9'd0;
      values        <= 14'd0;
      exceptions    <= 14'd0;
      partly        <= 9'd0;
      differ        <= 1'b0;
      outlier_block <= 9'd0;
      marks         <= 512'b0;
    end else if (outlier_valid[0]) begin
      outlier_block <= outlier_block + 9'(B);
      marked        <= marked_behind;
      values        <= values_behind;
      exceptions    <= exceptions_behind;
      partly        <= partly_behind;
      pattern       <= pattern_behind;
      differ        <= differ_behind;
      // While all exceptions were equal, each block stored one value.
      if (differ_behind && !differ) marks[511:256] <= marks[255:0];
      for (int j = 0; j < B; j++)
        if (put_outlier[j]) begin
          marks[{1'b0, outlier_block[7:0]+8'(j)}] <= 1'b1;
          marks[{1'b1, outlier_block[7:0]+8'(j)}] <= differ_behind ? outlier_uniform[j] : outlier_full[j];
        end
    end
  end
  logic [42*B-1:0] outlier_out;
  generate
    for (genvar p = 0; p < B; p++) begin : exceptions_in
      logic put;
      logic [7:LB] number;  // in this memory
      logic [41:0] entry;
      logic [1024/B-1:0] masks, masks_now, out;
      always_comb begin
        put    = 1'b0;
        number = outlier_number[7:LB];
        entry  = {outlier_block[7:0], outlier_full[0], outlier_uniform[0], outlier_mask[31:0]};
        for (int j = 0; j < B; j++)
          if (put_outlier[j] && 32'(outlier_number[8*j+:8]) % B == p) begin
            put    = 1'b1;
            number = outlier_number[8*j+LB+:8-LB];
            entry  = {
              outlier_block[7:0] + 8'(j), outlier_full[j], outlier_uniform[j], outlier_mask[32*j+:32]
            };
          end
        masks_now = number[4:LB] == '0 ? '0 : masks;
        masks_now[32*number[4:LB]+:32] = entry[31:0];
      end
      always_ff @(posedge clk) if (put) masks <= masks_now;
      ceaz_memory #(
          .W(42),
          .DEPTH((256 / B) * SLOTS),
          .A(S + 8 - LB)
      ) outlier_memory (
          .clk,
          .write(put),
          .write_at({slot, number[7:LB]}),
          .write_data(entry),
          .read(part_read),
          .read_at(outlier_at[S+7:LB]),
          .read_data(outlier_out[42*p+:42])
      );
      ceaz_memory #(
          .W(1024 / B),
          .DEPTH(8 * SLOTS),
          .A(S + 3)
      ) mask_memory (
          .clk,
          .write(put),
          .write_at({slot, number[7:5]}),
          .write_data(masks_now),
          .read(part_read),
          .read_at(mask_at),
          .read_data(out)
      );
      for (genvar i = 0; i < 32 / B; i++) begin : mask
        assign mask_row[32*(B*i+p)+:32] = out[32*i+:32];
      end
    end
    if (B == 1) begin : one
      assign outlier = outlier_out;
    end else begin : two
      logic odd;
      always_ff @(posedge clk) if (part_read) odd <= outlier_at[0];
      assign outlier = odd ? outlier_out[83:42] : outlier_out[41:0];
    end
  endgenerate

  // ---- prediction: seven stages ----
  logic [32*N-1:0] above, difference;
  ceaz_hold #(
      .N(N)
  ) hold (
      .clk,
      .valid(valid[3]),
      .first(first[3]),
      .q,
      .ok,
      .d(above),
      .base
  );
  logic [1:0] valid6, first6;
  always_ff @(posedge clk) begin
    valid6 <= {valid6[0], valid[3]};
    first6 <= {first6[0], first[3]};
    if (rst) valid6 <= 2'b0;
  end
  ceaz_lorenzo #(
      .N(N)
  ) lorenzo (
      .clk,
      .rst,
      .shape,
      .row,
      .plane,
      .axes(used_axes),
      .ready,
      .valid(valid6[1]),
      .first(first6[1]),
      .x(above),
      .r(difference),
      .r_valid
  );

  // ---- blocks: three stages ----
  logic r_last;
  logic [13:0] left11;
  logic [B-1:0] block_valid, block_last;
  logic [33*32*B-1:0] block;
  logic [6*B-1:0] length;
  always_ff @(posedge clk)
    if (shape) left11 <= count;
    else if (r_valid) left11 <= left11 - LANES;
  assign r_last = left11 <= LANES;
  always_comb
    for (int i = 0; i < N; i++)
      r_words[32*i+:32] = 14'(i) < left11 ? difference[32*i+:32] : 32'b0;
  generate
    for (genvar j = 0; j < B; j++) begin : planes_of
      ceaz_block #(
          .N(C)
      ) blocks (
          .clk,
          .rst,
          .valid(r_valid && left11 > 14'(32 * j)),
          .last(r_last),
          .r(r_words[32*C*j+:32*C]),
          .m_valid(block_valid[j]),
          .m_last(block_last[j]),
          .m_words(block[33*32*j+:33*32]),
          .m_length(length[6*j+:6])
      );
    end
  endgenerate

  // A block's exceptions are known eight cycles before its length.
  logic [8*B-1:0] late_marked, late_uniform;
  always_ff @(posedge clk) begin
    late_marked  <= {late_marked[7*B-1:0], put_outlier};
    late_uniform <= {late_uniform[7*B-1:0], outlier_uniform};
  end

  logic [8:0] number;
  logic [255:0] lengths, lengths_now;
  logic [13:0] planes_behind;
  logic [6*B-1:0] length_kept;
  always_comb begin
    lengths_now   = number[4:0] == 5'd0 ? 256'b0 : lengths;
    planes_behind = planes;
    length_kept   = '0;
    for (int j = 0; j < B; j++)
      if (block_valid[j]) begin
        lengths_now[8*(number[4:0]+5'(j))+:8] = {
          late_marked[7*B+j], late_marked[7*B+j] & late_uniform[7*B+j], length[6*j+:6]
        };
        length_kept[6*j+:6] = length[6*j+:6];
        if (length[6*j+:6] != 6'd0) planes_behind += {8'b0, length[6*j+:6]} + 14'd1;
      end
  end
  always_ff @(posedge clk) begin
    end_of_blocks <= block_valid[0] && block_last[0];
    if (shape) begin
      number <= 9'd0;
      planes <= 14'd0;
      any    <= 1'b0;
    end else if (block_valid[0]) begin
      number  <= number + 9'(B);
      lengths <= lengths_now;
      planes  <= planes_behind;
      if (length_kept != '0) any <= 1'b1;
    end
  end
  ceaz_memory #(
      .W(256),
      .DEPTH(8 * SLOTS),
      .A(S + 3)
  ) length_memory (
      .clk,
      .write(block_valid[0]),
      .write_at({slot, number[7:5]}),
      .write_data(lengths_now),
      .read(part_read),
      .read_at(length_at),
      .read_data(length_row)
  );
  ceaz_memory #(
      .W((33 * 32 + 6) * B),
      .DEPTH((256 / B) * SLOTS),
      .A(S + 8 - LB)
  ) block_memory (
      .clk,
      .write(block_valid[0]),
      .write_at({slot, number[7:LB]}),
      .write_data({length_kept, block}),
      .read(part_read),
      .read_at(block_at),
      .read_data({block_length, block_words})
  );
  generate
    if (B > 1) begin : blocks_behind
      logic unused;
      assign unused = &{1'b0, block_last[B-1:1]};
    end
  endgenerate
endmodule

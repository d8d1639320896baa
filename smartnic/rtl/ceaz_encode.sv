// ceaz_encode.sv - a chunk in a buffer to the parts of a chunk of encoder 1 (format.md 1.2, 4.5, 4.6): length bytes, blocks
// of planes, exceptions. A beat a cycle, 17 cycles more for each chunk; once more by map 1 if map 0 does not do.
//
// The parts are left in memories with several slots: the next chunk is encoded while ceaz_drain reads this one.
module ceaz_encode #(
    parameter int N = 4,
    parameter int SLOTS = 2,
    parameter int ROWS = 8192 / N,
    parameter int RA = $clog2(ROWS)
) (
    input  logic              clk,
    input  logic              rst,
    // The job, and the chunk to be encoded next, if `start`.
    input  logic              is_float,
    input  logic [       2:0] axes,
    input  logic [      95:0] step,
    input  logic [      95:0] inverse,
    input  logic [      92:0] reach,
    input  logic              start,
    input  logic [       1:0] slot,      // where its parts go
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
    // What came of it, when it is done.
    output logic [       1:0] map,
    output logic [       2:0] used_axes,
    output logic              zero,      // flag bit 0
    output logic [      31:0] used_step,
    output logic [      31:0] base,
    output logic [       8:0] marked,    // blocks with exceptions
    output logic [      13:0] values,    // of exceptions
    output logic [     511:0] marks,     // which blocks have any; of which only one value is stored
    output logic [      13:0] size,      // words
    // Residuals as they come, behind r_start.
    output logic              r_start,
    output logic              r_valid,
    output logic [  32*N-1:0] r_words,
    // Parts, read by slot and number.
    input  logic              part_read,
    input  logic [       4:0] length_at,
    output logic [     255:0] length_row,
    input  logic [       9:0] block_at,
    output logic [33*32-1:0]  block_words,
    output logic [       5:0] block_length,
    input  logic [       4:0] mask_at,
    output logic [    1023:0] mask_row,
    input  logic [       9:0] outlier_at,
    output logic [      40:0] outlier    // block, uniform, mask
);
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

  // ---- what the blocks took ----
  logic [13:0] planes, exceptions;
  logic any, flag_exceptions;
  logic [13:0] nb, coded;
  assign nb              = (count + 14'd31) >> 5;
  assign flag_exceptions = marked != 9'd0;
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
  assign used_step = step[32*level+:32];

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

  // ---- exceptions ----
  logic outlier_valid, outlier_uniform;
  logic [31:0] outlier_mask;
  logic [5:0] outlier_values;
  ceaz_outliers #(
      .N(N)
  ) outliers (
      .clk,
      .rst,
      .valid(valid[3]),
      .last(last[3]),
      .x(x4),
      .exception,
      .m_valid(outlier_valid),
      .m_mask(outlier_mask),
      .m_uniform(outlier_uniform),
      .m_values(outlier_values)
  );
  logic [5:0] outlier_ones;
  always_comb begin
    outlier_ones = 6'd0;
    for (int i = 0; i < 32; i++) outlier_ones += {5'b0, outlier_mask[i]};
  end
  logic put_outlier;
  logic [8:0] outlier_block;
  logic [1023:0] masks, masks_now;
  assign put_outlier = outlier_valid && outlier_mask != 32'b0;
  always_comb begin
    masks_now = marked[4:0] == 5'd0 ? 1024'b0 : masks;
    masks_now[32*marked[4:0]+:32] = outlier_mask;
  end
  always_ff @(posedge clk) begin
    if (shape) begin
      marked        <= 9'd0;
      values        <= 14'd0;
      exceptions    <= 14'd0;
      outlier_block <= 9'd0;
      marks         <= 512'b0;
    end else if (outlier_valid) begin
      outlier_block <= outlier_block + 9'd1;
      if (put_outlier) begin
        marked     <= marked + 9'd1;
        values     <= values + {8'b0, outlier_values};
        exceptions <= exceptions + {8'b0, outlier_ones};
        masks      <= masks_now;
        marks[{1'b0, outlier_block[7:0]}] <= 1'b1;
        marks[{1'b1, outlier_block[7:0]}] <= outlier_uniform;
      end
    end
  end
  ceaz_memory #(
      .W(41),
      .DEPTH(256 * SLOTS),
      .A(10)
  ) outlier_memory (
      .clk,
      .write(put_outlier),
      .write_at({slot, marked[7:0]}),
      .write_data({outlier_block[7:0], outlier_uniform, outlier_mask}),
      .read(part_read),
      .read_at(outlier_at),
      .read_data(outlier)
  );
  ceaz_memory #(
      .W(1024),
      .DEPTH(8 * SLOTS),
      .A(5)
  ) mask_memory (
      .clk,
      .write(put_outlier),
      .write_at({slot, marked[7:5]}),
      .write_data(masks_now),
      .read(part_read),
      .read_at(mask_at),
      .read_data(mask_row)
  );

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
  logic block_valid, block_last;
  logic [33*32-1:0] block;
  logic [5:0] length;
  always_ff @(posedge clk)
    if (shape) left11 <= count;
    else if (r_valid) left11 <= left11 - LANES;
  assign r_last = left11 <= LANES;
  always_comb
    for (int i = 0; i < N; i++)
      r_words[32*i+:32] = 14'(i) < left11 ? difference[32*i+:32] : 32'b0;
  ceaz_block #(
      .N(N)
  ) blocks (
      .clk,
      .rst,
      .valid(r_valid),
      .last(r_last),
      .r(r_words),
      .m_valid(block_valid),
      .m_last(block_last),
      .m_words(block),
      .m_length(length)
  );

  // A block's exceptions are known eight cycles before its length.
  logic [7:0] late_marked, late_uniform;
  always_ff @(posedge clk) begin
    late_marked  <= {late_marked[6:0], put_outlier};
    late_uniform <= {late_uniform[6:0], outlier_uniform};
  end

  logic [8:0] number;
  logic [255:0] lengths, lengths_now;
  always_comb begin
    lengths_now = number[4:0] == 5'd0 ? 256'b0 : lengths;
    lengths_now[8*number[4:0]+:8] = {late_marked[7], late_marked[7] & late_uniform[7], length};
  end
  always_ff @(posedge clk) begin
    end_of_blocks <= block_valid && block_last;
    if (shape) begin
      number <= 9'd0;
      planes <= 14'd0;
      any    <= 1'b0;
    end else if (block_valid) begin
      number  <= number + 9'd1;
      lengths <= lengths_now;
      if (length != 6'd0) begin
        planes <= planes + {8'b0, length} + 14'd1;
        any    <= 1'b1;
      end
    end
  end
  ceaz_memory #(
      .W(256),
      .DEPTH(8 * SLOTS),
      .A(5)
  ) length_memory (
      .clk,
      .write(block_valid),
      .write_at({slot, number[7:5]}),
      .write_data(lengths_now),
      .read(part_read),
      .read_at(length_at),
      .read_data(length_row)
  );
  ceaz_memory #(
      .W(33 * 32 + 6),
      .DEPTH(256 * SLOTS),
      .A(10)
  ) block_memory (
      .clk,
      .write(block_valid),
      .write_at({slot, number[7:0]}),
      .write_data({length, block}),
      .read(part_read),
      .read_at(block_at),
      .read_data({block_length, block_words})
  );
endmodule

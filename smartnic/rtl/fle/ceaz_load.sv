// ceaz_load.sv - brings a chunk's beats into a buffer, and finds what must be known of the whole chunk before it is
// coded: the level of the step, or that there is none (format.md 4.4). It takes one beat a cycle, without a gap between
// chunks.
//
// It counts the elements that fit, in the sampled blocks floor(k nb / 16), in order, and in all blocks; the latter
// decide if no sampled element fits. It tests for all elements whether a finer step would reproduce the chunk, for
// levels 1 and 2 at once.
module ceaz_load #(
    parameter int N = 4,  // lanes: 1, 2, 4, .. 64
    parameter int ROWS = 8192 / N,
    parameter int RA = $clog2(ROWS)
) (
    input  logic              clk,
    input  logic              rst,
    // The job.
    input  logic              is_float,
    input  logic [       1:0] levels,    // 0: everything is coded as integers
    input  logic [      63:0] step,      // of levels 1 and 2
    input  logic [      63:0] inverse,
    input  logic [      92:0] limit,
    // Beats. `count` is the number of words of the packet, the same in all of its beats.
    input  logic [32*N-1:0] s_data,
    input  logic [      13:0] count,
    input  logic              s_last,
    input  logic              s_valid,
    input  logic              room,      // a buffer is free
    output logic              s_ready,
    output logic              bad,       // a packet did not have its stated length
    // To the buffer.
    output logic              write,
    output logic [    RA-1:0] row,
    output logic              first,     // the beat is a packet's first
    output logic              last,      // or its last
    // The level, which is known five cycles behind the last beat.
    output logic              done,
    output logic              coarse,    // quantize, by this level
    output logic [       1:0] level
);
  localparam int B = N > 32 ? N / 32 : 1;  // blocks in a beat
  localparam int G = 32 * B / N;           // beats in a block
  localparam int GA = $clog2(G + 1);
  localparam int S = 5;       // stages of ceaz_level

  assign s_ready = room;
  assign write   = s_valid && s_ready;
  assign first   = row == '0;
  assign last    = s_last;

  // ---- the place in the chunk; is it in a sampled block? ----
  logic [13:0] left;  // words from this beat on, not counting this packet's first beat
  logic [13:0] here;
  assign here = first ? count : left;
  assign bad  = write && (s_last ? here == 14'b0 || here > 14'(N) : here <= 14'(N));

  logic [13:0] blocks;
  assign blocks = (count + 14'd31) >> 5;
  logic [7:0] block;
  logic [12:0] next_sample, sample_behind;  // 16 times the next sampled block; the same after this beat
  logic few;
  logic [B-1:0] sampled;
  logic [GA-1:0] beat;  // in the block
  assign few     = blocks <= 14'd16;
  always_comb begin
    sample_behind = next_sample;
    for (int j = 0; j < B; j++) begin
      sampled[j] = few || {1'b0, block} + 9'(j) == sample_behind[12:4];
      if (sampled[j]) sample_behind += blocks[12:0];
    end
  end

  always_ff @(posedge clk) begin
    if (write) begin
      row  <= s_last ? '0 : row + 1'b1;
      left <= here > 14'(N) ? here - 14'(N) : 14'b0;
      beat <= beat == GA'(G - 1) ? '0 : beat + 1'b1;
      if (beat == GA'(G - 1)) begin
        block       <= block + 8'(B);
        next_sample <= sample_behind;
      end
      if (s_last) begin
        beat        <= '0;
        block       <= '0;
        next_sample <= '0;
      end
    end
    if (rst) begin
      row         <= '0;
      beat        <= '0;
      block       <= '0;
      next_sample <= '0;
    end
  end

  // ---- elements ----
  logic [N-1:0] is_in, in_sample, fits0, fits1, fits2, differs1, differs2;
  generate
    for (genvar i = 0; i < N; i++) begin : lane
      wire [31:0] x = s_data[32*i+:32];
      assign is_in[i] = 14'(i) < here;
      assign in_sample[i] = sampled[i/32];
      assign fits0[i]  = is_in[i] && x[30:0] <= limit[30:0];
      assign fits1[i]  = is_in[i] && x[30:0] <= limit[61:31];
      assign fits2[i]  = is_in[i] && x[30:0] <= limit[92:62];
      // A word behind the end differs from nothing, because 0 is reproduced.
      ceaz_level level1 (
          .clk,
          .x(is_in[i] ? x : 32'b0),
          .step(step[30:14]),
          .inverse(inverse[30:0]),
          .limit(limit[61:31]),
          .differs(differs1[i])
      );
      ceaz_level level2 (
          .clk,
          .x(is_in[i] ? x : 32'b0),
          .step(step[62:46]),
          .inverse(inverse[62:32]),
          .limit(limit[92:62]),
          .differs(differs2[i])
      );
    end
  endgenerate

  function automatic logic [6:0] ones(input logic [N-1:0] v);
    ones = 7'b0;
    for (int i = 0; i < N; i++) ones += {6'b0, v[i]};
  endfunction

  // ---- counts, delayed to come with the answers of ceaz_level ----
  logic [S-1:0] valid, first_at, last_at;
  logic [42*S-1:0] counts;  // of 7 bits: by levels 0 to 2 in samples, then in all blocks
  always_ff @(posedge clk) begin
    valid    <= {valid[S-2:0], write};
    first_at <= {first_at[S-2:0], first};
    last_at  <= {last_at[S-2:0], s_last};
    counts   <= {
      counts[42*(S-1)-1:0],
      ones(fits2),
      ones(fits1),
      ones(fits0),
      ones(fits2 & in_sample),
      ones(fits1 & in_sample),
      ones(fits0 & in_sample)
    };
    if (rst) valid <= '0;
  end

  // Of 14 bits: the chunk's counts so far, with this beat's; and the counts that decide.
  logic [83:0] fit, sum;
  logic [41:0] of;
  logic [13:0] all;
  logic holds0, holds1, bad1, bad2, now1, now2;
  function automatic logic [13:0] widest(input logic [41:0] counted);
    case (levels)
      2'd1: widest = counted[13:0];
      2'd2: widest = counted[27:14];
      default: widest = counted[41:28];
    endcase
  endfunction
  always_comb begin
    for (int i = 0; i < 6; i++)
      sum[14*i+:14] = (first_at[S-1] ? 14'b0 : fit[14*i+:14]) + {7'b0, counts[42*(S-1)+7*i+:7]};
    now1   = (!first_at[S-1] && bad1) || |differs1;
    now2   = (!first_at[S-1] && bad2) || |differs2;
    of     = widest(sum[41:0]) == 14'b0 ? sum[83:42] : sum[41:0];
    all    = widest(of);
    holds0 = of[13:0] >= all - {9'b0, all[13:9]};
    holds1 = of[27:14] >= all - {5'b0, all[13:5]};
  end
  always_ff @(posedge clk) begin
    done <= valid[S-1] && last_at[S-1] && !rst;
    if (valid[S-1]) begin
      fit    <= sum;
      bad1   <= now1;
      bad2   <= now2;
      coarse <= is_float && levels != 2'd0 && all != 14'b0;
      // What fits any level fits the last one.
      if (levels == 2'd1 || (holds0 && (now1 || levels < 2'd2) && (now2 || levels < 2'd3)))
        level <= 2'd0;
      else if (levels == 2'd2 || (now2 && (holds0 || holds1)))
        level <= 2'd1;
      else level <= 2'd2;
    end
  end
  logic unused;
  assign unused = &{1'b0, step, inverse};
endmodule

// flare_predict.sv - FLARE's prediction engine: the anchors, then M blocks at a time in look-ahead order, each by an
// array of its own. A block goes to the first array that is free. The SRAM has the points of coarser levels that it
// needs, and gets those that finer levels need. It keeps slices' ranges on the way.
module flare_predict #(
    parameter int M = 4,
    parameter int W = 16,
    parameter int A = 18,                        // of the SRAM's words
    parameter int LOG = M > 1 ? $clog2(M) : 1
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            start,
    input  logic            decode,
    input  logic [     7:0] nz,
    input  logic [   W-1:0] ny,
    input  logic [   W-1:0] nx,
    input  logic [   A-1:0] row,        // the SRAM's: half of nx, rounded up; by half of ny
    input  logic [   A-1:0] plane,
    input  logic            hold,       // no block may begin
    input  logic [   M-1:0] may,        // an array may take a block
    output logic            busy,
    output logic            job,        // a block begins: by which array, where, points
    output logic [ LOG-1:0] job_array,
    output logic [     1:0] job_shift,
    output logic            job_opens,  // a slab
    output logic [ 3*W-1:0] job_at,
    output logic [    17:0] job_count,
    // Values, or codes, of anchors; their codes, and decoded values.
    input  logic [    31:0] a_data,
    input  logic            a_none,
    input  logic            a_valid,
    output logic            a_ready,
    output logic [    31:0] n_code,
    output logic [    31:0] n_value,
    output logic            n_valid,
    input  logic            n_ready,
    // The same of each array's block, in the order of codes.
    input  logic [32*M-1:0] s_data,
    input  logic [   M-1:0] s_none,
    input  logic [   M-1:0] s_valid,
    output logic [   M-1:0] s_ready,
    output logic [   M-1:0] s_last,
    output logic [32*M-1:0] m_code,
    output logic [32*M-1:0] m_value,
    output logic [   M-1:0] m_last,
    output logic [   M-1:0] m_valid,
    input  logic [   M-1:0] m_ready,
    // All values of blocks of the finest level, and where in the block each is; slices whose ranges are put together.
    output logic [   M-1:0] f_valid,
    output logic [15*M-1:0] f_place,
    output logic [32*M-1:0] f_value,
    output logic            closing,
    output logic [     6:0] first_slice,
    input  logic [     6:0] slice,      // asks for its range
    output logic [    31:0] least,
    output logic [    31:0] largest,
    output logic [    31:0] cycles,     // while busy
    output logic [    31:0] runs        // of all arrays while they predict
);
  // ---- anchors first ----
  logic anchors_busy, anchors_were, anchor_write;
  logic [A-1:0] anchor_at;
  logic [M-1:0] q_ready;
  flare_anchors #(
      .W(W),
      .A(A)
  ) anchors (
      .clk,
      .rst,
      .start,
      .decode,
      .nz,
      .ny,
      .nx,
      .row,
      .plane,
      .busy(anchors_busy),
      .s_data(a_data),
      .s_none(a_none),
      .s_valid(a_valid),
      .s_ready(a_ready),
      .m_code(n_code),
      .m_value(n_value),
      .m_valid(n_valid),
      .m_ready(n_ready),
      .q_valid(anchor_write),
      .q_at(anchor_at),
      .q_ready(q_ready[0])
  );

  // ---- blocks ----
  logic [M-1:0] idle, running;
  logic order_busy, valid, opens, decodes, of_slices, closes;
  assign job_opens = opens;
  // Ranges are put together before the next slab begins.
  assign job    = valid && !hold && (opens ? &idle && !of_slices && !closing : |(idle & may));
  assign busy   = anchors_busy || anchors_were || order_busy || idle != '1 || of_slices || closing;
  assign closes = of_slices && &idle && (!valid || opens);
  always_comb begin
    job_array = '0;
    for (int k = M - 1; k >= 0; k--) if (idle[k] && (may[k] || opens)) job_array = LOG'(k);
  end
  always_ff @(posedge clk) begin
    anchors_were <= anchors_busy;
    if (start) begin
      decodes <= decode;
      cycles  <= '0;
      runs    <= '0;
    end else begin
      if (busy) cycles <= cycles + 1'b1;
      runs <= runs + 32'($countones(running));
    end
    if (job && opens && job_shift == 2'd0) begin
      of_slices   <= 1'b1;
      first_slice <= job_at[2*W+:7];
    end else if (closes) of_slices <= 1'b0;
    if (rst) of_slices <= 1'b0;
  end
  flare_order #(
      .W(W)
  ) order (
      .clk,
      .rst,
      .start(anchors_were && !anchors_busy),
      .nz,
      .ny,
      .nx,
      .busy (order_busy),
      .valid,
      .opens,
      .shift(job_shift),
      .at   (job_at),
      .count(job_count),
      .ready(job)
  );

  logic [M-1:0] q_valid, q_write, of_finest, seen;
  assign f_valid = seen & of_finest;
  logic [A*M-1:0] q_at;
  logic [32*M-1:0] q_data, known;
  logic [5*M-1:0] seen_plane;
  flare_sram #(
      .M(M),
      .DEPTH(1 << A)
  ) sram (
      .clk,
      .q_valid(anchors_busy ? M'(anchor_write) : q_valid),
      .q_write(anchors_busy ? M'(1) : q_write),
      .q_at(anchors_busy ? (A * M)'(anchor_at) : q_at),
      .q_data(anchors_busy ? (32 * M)'(n_value) : q_data),
      .q_ready,
      .a_data(known)
  );
  flare_slice #(
      .M(M)
  ) slices (
      .clk,
      .rst,
      .clear(job && opens),
      .valid(f_valid),
      .slice(seen_plane),
      .value(f_value),
      .close(closes),
      .first(first_slice),
      .closing,
      .ask(slice),
      .least,
      .largest
  );
  generate
    for (genvar k = 0; k < M; k++) begin : block
      logic [14:0] asked, made, place;
      logic asks, gives, comes, given, taken, accepts;
      logic [14:0] came;
      logic [1:0] shift;
      logic [A:0] base, offset;
      flare_block work (
          .clk,
          .rst,
          .start(job && job_array == LOG'(k)),
          .decode(decodes),
          .count(job_count),
          .idle(idle[k]),
          .runs(running[k]),
          .k_at(asked),
          .k_valid(asks),
          .k_ready(q_ready[k] && asks),
          .k_data(known[32*k+:32]),
          .k_comes(comes),
          .k_place(came),
          .s_data(s_data[32*k+:32]),
          .s_none(s_none[k]),
          .s_valid(s_valid[k]),
          .s_ready(s_ready[k]),
          .s_last(s_last[k]),
          .m_at(made),
          .m_code(m_code[32*k+:32]),
          .m_value(m_value[32*k+:32]),
          .m_last(m_last[k]),
          .m_valid(gives),
          .m_ready(taken)
      );
      always_ff @(posedge clk)
        if (job && job_array == LOG'(k)) begin
          shift <= job_shift;
          base  <= (A + 1)'(job_at[2*W+:W]) * {1'b0, plane} + (A + 1)'(job_at[W+:W]) * {1'b0, row} + (A + 1)'(job_at[0+:W]);
        end
      // Points of the finest level are not needed again.
      assign of_finest[k] = shift == 2'd0;
      assign place   = asks ? asked : made;
      assign offset  = (A + 1)'(place[14:10]) * {1'b0, plane} + (A + 1)'(place[9:5]) * {1'b0, row} + (A + 1)'(place[4:0]);
      assign q_at[A*k+:A]     = A'((base + (offset << shift)) >> 1);
      assign q_data[32*k+:32] = m_value[32*k+:32];
      assign q_write[k] = !asks;
      assign q_valid[k] = asks || (gives && !of_finest[k] && m_ready[k]);
      assign accepts    = of_finest[k] || (q_ready[k] && !asks);
      assign m_valid[k] = gives && accepts;
      assign taken      = m_ready[k] && accepts;
      assign given      = gives && taken;
      assign seen[k]    = comes || given;
      assign f_place[15*k+:15]   = comes ? came : made;
      assign seen_plane[5*k+:5]  = f_place[15*k+10+:5];
      assign f_value[32*k+:32] = comes ? known[32*k+:32] : m_value[32*k+:32];
    end
  endgenerate
endmodule

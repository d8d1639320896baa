// flare_predict.sv - FLARE's prediction engine: M blocks at a time behind the look-ahead order, each by an array of its own.
// A block goes to the first array that is free; what it needs and makes goes by that array's streams.
module flare_predict #(
    parameter int M = 4,
    parameter int W = 16,
    parameter int LOG = M > 1 ? $clog2(M) : 1
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            start,
    input  logic            decode,
    input  logic [     7:0] nz,
    input  logic [   W-1:0] ny,
    input  logic [   W-1:0] nx,
    input  logic            hold,       // no block may begin
    output logic            busy,
    output logic            job,        // a block begins: by which array, where, points
    output logic [ LOG-1:0] job_array,
    output logic [     1:0] job_shift,
    output logic [ 3*W-1:0] job_at,
    output logic [    17:0] job_count,
    input  logic [32*M-1:0] s_data,
    input  logic [   M-1:0] s_none,
    input  logic [   M-1:0] s_valid,
    output logic [   M-1:0] s_ready,
    output logic [32*M-1:0] m_code,
    output logic [32*M-1:0] m_value,
    output logic [   M-1:0] m_last,
    output logic [   M-1:0] m_valid,
    input  logic [   M-1:0] m_ready,
    output logic [    47:0] cycles,     // while busy
    output logic [    47:0] runs        // of all arrays while they predict
);
  logic [M-1:0] idle, running;
  logic order_busy, valid, opens, decodes;
  assign job  = valid && !hold && (opens ? &idle : |idle);
  assign busy = order_busy || idle != '1;
  always_comb begin
    job_array = '0;
    for (int k = M - 1; k >= 0; k--) if (idle[k]) job_array = LOG'(k);
  end
  always_ff @(posedge clk) begin
    if (start) begin
      decodes <= decode;
      cycles  <= '0;
      runs    <= '0;
    end else begin
      if (busy) cycles <= cycles + 1'b1;
      runs <= runs + 48'($countones(running));
    end
  end
  flare_order #(
      .W(W)
  ) order (
      .clk,
      .rst,
      .start,
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
  generate
    for (genvar k = 0; k < M; k++) begin : block
      flare_block work (
          .clk,
          .rst,
          .start(job && job_array == LOG'(k)),
          .decode(decodes),
          .count(job_count),
          .idle(idle[k]),
          .runs(running[k]),
          .s_data(s_data[32*k+:32]),
          .s_none(s_none[k]),
          .s_valid(s_valid[k]),
          .s_ready(s_ready[k]),
          .m_code(m_code[32*k+:32]),
          .m_value(m_value[32*k+:32]),
          .m_last(m_last[k]),
          .m_valid(m_valid[k]),
          .m_ready(m_ready[k])
      );
    end
  endgenerate
endmodule

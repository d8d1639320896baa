// flare_core.sv - what there is of FLARE's core: prediction engine and FIFO1.
module flare_core #(
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
    output logic            busy,
    output logic            job,        // a block begins: by which array, where, points
    output logic [ LOG-1:0] job_array,
    output logic [     1:0] job_shift,
    output logic [ 3*W-1:0] job_at,
    output logic [    17:0] job_count,
    // Points of that array's block; what the new ones are decoded to.
    input  logic [32*M-1:0] s_data,
    input  logic [   M-1:0] s_none,
    input  logic [   M-1:0] s_valid,
    output logic [   M-1:0] s_ready,
    output logic [32*M-1:0] m_value,
    output logic [   M-1:0] m_last,
    output logic [   M-1:0] m_valid,
    input  logic [   M-1:0] m_ready,
    // Codes of all blocks in order.
    output logic [     2:0] c_count,
    output logic [    31:0] c_code,
    output logic [     3:0] c_escape,
    output logic [    95:0] c_value,
    output logic            c_valid,
    input  logic            c_ready,
    output logic [    47:0] cycles,     // while it predicts
    output logic [    47:0] runs        // of all arrays while they predict
);
  logic [32*M-1:0] code;
  logic [24*M-1:0] low;
  logic [M-1:0] valid, collects;
  logic predicts, full, empty;
  assign busy = predicts || !empty;
  assign m_valid = valid & collects;
  flare_predict #(
      .M(M),
      .W(W)
  ) predict (
      .clk,
      .rst,
      .start,
      .decode,
      .nz,
      .ny,
      .nx,
      .hold(full),
      .busy(predicts),
      .job,
      .job_array,
      .job_shift,
      .job_at,
      .job_count,
      .s_data,
      .s_none,
      .s_valid,
      .s_ready,
      .m_code(code),
      .m_value,
      .m_last,
      .m_valid(valid),
      .m_ready(m_ready & collects),
      .cycles,
      .runs
  );
  flare_collect #(
      .M(M)
  ) collect (
      .clk,
      .rst(rst || start),
      .job(job && job_count != {3{6'd1}}),
      .job_array,
      .full,
      .s_code(low),
      .s_last(m_last),
      .s_valid(valid & m_ready),
      .s_ready(collects),
      .m_count(c_count),
      .m_code(c_code),
      .m_escape(c_escape),
      .m_value(c_value),
      .m_valid(c_valid),
      .m_ready(c_ready),
      .empty
  );
  // Codes have 24 bits, of values that have 32.
  logic [8*M-1:0] high;
  logic unused;
  always_comb
    for (int k = 0; k < M; k++) begin
      low[24*k+:24] = code[32*k+:24];
      high[8*k+:8]  = code[32*k+24+:8];
    end
  assign unused = &{1'b0, high};
endmodule

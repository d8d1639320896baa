// flare_engine.sv - FLARE's core (docs/flare.md): registers; prediction with its SRAM; FIFO1, through which codes go to
// the Huffman coder or come from the decoder; decoded values, which go out by a queue of each array, and by FIFO2 to
// the network. It works on a chunk at a time, in either direction.
module flare_engine #(
    parameter int M = 4,
    parameter int P = 8,               // the network has P x P multipliers
    parameter int W = 16,
    parameter int A = 18,              // of words in the SRAM: 1 MiB
    parameter int ROWS = 65536,        // FIFO1: of four codes; the coarse ones of a chunk must fit
    parameter int VALUES = 512,        // queue behind each array
    parameter int BLOCKS = 16,         // FIFO2: of 32^3 values
    parameter int LOG = M > 1 ? $clog2(M) : 1
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            reg_write,
    input  logic [    12:0] reg_at,     // of words
    input  logic [    31:0] reg_data,
    output logic [    31:0] reg_answer,
    output logic            job,        // a block begins: by which array, where, points
    output logic [ LOG-1:0] job_array,
    output logic [     1:0] job_shift,
    output logic [ 3*W-1:0] job_at,
    output logic [    17:0] job_count,
    // Anchors: values, or codes; codes, and decoded values.
    input  logic [    31:0] a_data,
    input  logic            a_none,
    input  logic            a_valid,
    output logic            a_ready,
    output logic [    31:0] n_code,
    output logic [    31:0] n_value,
    output logic            n_valid,
    input  logic            n_ready,
    // Values of that array's block, in the order of codes; decoded values.
    input  logic [32*M-1:0] s_data,
    input  logic [   M-1:0] s_none,
    input  logic [   M-1:0] s_valid,
    output logic [   M-1:0] s_ready,
    output logic [32*M-1:0] m_value,
    output logic [   M-1:0] m_valid,
    input  logic [   M-1:0] m_ready,
    // Codes that do not fit, out or in.
    output logic [    23:0] e_code,
    output logic            e_valid,
    input  logic            e_ready,
    input  logic [    23:0] x_code,
    input  logic            x_valid,
    output logic            x_ready,
    // Words of sections, out or in.
    output logic [    63:0] b_word,
    output logic            b_last,
    output logic            b_valid,
    input  logic            b_ready,
    input  logic [    63:0] d_word,
    input  logic            d_valid,
    output logic            d_ready,
    // The network: inputs that are bytes already; outputs, and of which slice.
    input  logic [     7:0] i_byte,
    input  logic            i_valid,
    output logic            i_ready,
    output logic [     7:0] o_value,
    output logic [     6:0] o_slice,
    output logic            o_valid,
    input  logic            o_ready
);
  logic start, start1, begins, clear, decode, alone, enhances, closing, opens, goes_on, book_write, table_write, full, empty;
  logic predicts, codes_busy, unpacks, code_asks, unpack_asks, wrong;
  logic [7:0] nz;
  logic [W-1:0] ny, nx;
  logic [A-1:0] row, plane;
  logic [1:0] last_batch, code_batch, unpack_batch;
  logic [31:0] coarse, count, least, largest, cycles, predict_cycles, runs, coding, network;
  logic [127:0] total;
  logic [9:0] symbol;
  logic [11:0] table_at;
  logic [6:0] slice, net_slice, first_slice;
  logic [M-1:0] may, seen;
  logic [15*M-1:0] seen_place;
  logic [32*M-1:0] seen_value;
  logic busy;
  assign busy  = start || start1 || predicts || codes_busy || unpacks || enhances || !empty || (|m_valid) || e_valid;
  assign clear = rst || start;
  assign begins = start1 && !alone;  // a chunk
  always_ff @(posedge clk) begin
    start1 <= start && !rst;
    if (start) begin
      cycles <= '0;
      coding <= '0;
    end else begin
      if (busy) cycles <= cycles + 1'b1;
      if ((codes_busy && !code_asks) || (unpacks && !unpack_asks)) coding <= coding + 1'b1;
    end
  end
  flare_csr #(
      .M(M),
      .P(P),
      .W(W),
      .A(A)
  ) csr (
      .clk,
      .rst,
      .write(reg_write),
      .at(reg_at),
      .data(reg_data),
      .answer(reg_answer),
      .start,
      .decode,
      .alone,
      .goes_on,
      .nz,
      .ny,
      .nx,
      .row,
      .plane,
      .last_batch,
      .coarse,
      .total,
      .book_write,
      .table_write,
      .symbol,
      .table_at,
      .count,
      .slice,
      .least,
      .largest,
      .busy,
      .asks(code_asks || unpack_asks),
      .wrong,
      .batch(decode ? unpack_batch : code_batch),
      .cycles,
      .predicts(predict_cycles),
      .runs,
      .codes(coding),
      .network
  );

  // ---- prediction; each array's values go to FIFO1, and out ----
  logic [32*M-1:0] code, value;
  logic [24*M-1:0] low;
  logic [8*M-1:0] high;
  logic [M-1:0] collects, has_room, last, made, taken, wants, in_last, turn_valid;
  logic [31:0] unpacked;
  logic has_codes;
  assign has_codes = job && job_count != {3{6'd1}};
  assign taken     = has_room & (collects | {M{decode}});
  assign s_ready   = decode ? '0 : wants;
  flare_predict #(
      .M(M),
      .W(W),
      .A(A)
  ) predict (
      .clk,
      .rst(clear),
      .start(begins),
      .decode,
      .nz,
      .ny,
      .nx,
      .row,
      .plane,
      .hold(full || enhances),
      .may,
      .busy(predicts),
      .job,
      .job_array,
      .job_shift,
      .job_opens(opens),
      .job_at,
      .job_count,
      .a_data,
      .a_none,
      .a_valid,
      .a_ready,
      .n_code,
      .n_value,
      .n_valid,
      .n_ready,
      .s_data(decode ? {M{unpacked}} : s_data),
      .s_none(decode ? '0 : s_none),
      .s_valid(decode ? turn_valid : s_valid),
      .s_ready(wants),
      .s_last(in_last),
      .m_code(code),
      .m_value(value),
      .m_last(last),
      .m_valid(made),
      .m_ready(taken),
      .f_valid(seen),
      .f_place(seen_place),
      .f_value(seen_value),
      .closing,
      .first_slice,
      .slice(enhances ? net_slice : slice),
      .least,
      .largest,
      .cycles(predict_cycles),
      .runs
  );
  generate
    for (genvar k = 0; k < M; k++) begin : made_of
      flare_fifo #(
          .W(32),
          .DEPTH(VALUES)
      ) fifo (
          .clk,
          .rst(clear),
          .keep(1'b0),
          .rewind(1'b0),
          .s_data(value[32*k+:32]),
          .s_valid(made[k] && (collects[k] || decode)),
          .s_ready(has_room[k]),
          .m_data(m_value[32*k+:32]),
          .m_valid(m_valid[k]),
          .m_ready(m_ready[k])
      );
      // Codes have 24 bits, values have 32.
      assign low[24*k+:24] = code[32*k+:24];
      assign high[8*k+:8]  = code[32*k+24+:8];
    end
  endgenerate
  logic unused;
  assign unused = &{1'b0, high};

  // ---- forth: FIFO1, the coder ----
  logic [2:0] c_count;
  logic [31:0] c_code, c_row, f_row;
  logic [3:0] c_escape;
  logic [95:0] c_value;
  logic c_valid, c_ready, r_valid, r_ready, f_valid, f_ready, keep, rewind;
  flare_collect #(
      .M(M)
  ) collect (
      .clk,
      .rst(clear),
      .job(has_codes && !decode),
      .job_array,
      .full,
      .s_code(low),
      .s_last(last),
      .s_valid(decode ? '0 : made & has_room),
      .s_ready(collects),
      .m_count(c_count),
      .m_code(c_code),
      .m_escape(c_escape),
      .m_value(c_value),
      .m_valid(c_valid),
      .m_ready(c_ready),
      .empty
  );
  flare_rows rows (
      .clk,
      .rst(clear),
      .total,
      .s_count(c_count),
      .s_code(c_code),
      .s_escape(c_escape),
      .s_value(c_value),
      .s_valid(c_valid),
      .s_ready(c_ready),
      .m_row(c_row),
      .m_valid(r_valid),
      .m_ready(r_ready),
      .e_code,
      .e_valid,
      .e_ready
  );
  flare_fifo #(
      .W(32),
      .DEPTH(ROWS)
  ) fifo1 (
      .clk,
      .rst(clear),
      .keep,
      .rewind,
      .s_data(c_row),
      .s_valid(r_valid),
      .s_ready(r_ready),
      .m_data(f_row),
      .m_valid(f_valid),
      .m_ready(f_ready)
  );
  flare_coder coder (
      .clk,
      .rst(clear),
      .start(begins && !decode),
      .coarse,
      .total,
      .last_batch,
      .busy(codes_busy),
      .asks(code_asks),
      .batch(code_batch),
      .answer(goes_on),
      .keep,
      .rewind,
      .s_row(f_row),
      .s_valid(f_valid),
      .s_ready(f_ready),
      .book_write,
      .book_symbol(symbol),
      .book_code(reg_data[15:0]),
      .ask(symbol),
      .count,
      .m_word(b_word),
      .m_last(b_last),
      .m_valid(b_valid),
      .m_ready(b_ready)
  );

  // ---- back: the decoder, whose codes go to the arrays in turn ----
  logic u_valid, u_ready;
  flare_unpack unpack (
      .clk,
      .rst(clear),
      .start(begins && decode),
      .total,
      .last_batch,
      .busy(unpacks),
      .wrong,
      .asks(unpack_asks),
      .batch(unpack_batch),
      .answer(goes_on),
      .table_write,
      .table_at,
      .table_entry(reg_data[13:0]),
      .s_word(d_word),
      .s_valid(d_valid),
      .s_ready(d_ready),
      .e_code(x_code),
      .e_valid(x_valid),
      .e_ready(x_ready),
      .m_code(unpacked),
      .m_valid(u_valid),
      .m_ready(u_ready)
  );
  flare_turns #(
      .M(M)
  ) turns (
      .clk,
      .rst(clear),
      .job(has_codes && decode),
      .job_array,
      .s_valid(u_valid),
      .s_ready(u_ready),
      .m_valid(turn_valid),
      .m_ready(wants),
      .m_last(in_last)
  );

  // ---- FIFO2 and the network ----
  flare_enhance #(
      .M(M),
      .P(P),
      .W(W),
      .BLOCKS(BLOCKS)
  ) enhance (
      .clk,
      .rst,
      .clear(start),
      .decode,
      .alone,
      .begins(start1 && alone),
      .reg_write,
      .reg_at,
      .reg_data,
      .cycles(network),
      .nz,
      .ny,
      .nx,
      .job(job && job_shift == 2'd0),
      .job_array,
      .job_opens(opens),
      .may,
      .f_valid(seen),
      .f_place(seen_place),
      .f_value(seen_value),
      .closing,
      .first_slice,
      .busy(enhances),
      .slice(net_slice),
      .least,
      .largest,
      .i_byte,
      .i_valid,
      .i_ready,
      .o_value,
      .o_slice,
      .o_valid,
      .o_ready
  );
endmodule

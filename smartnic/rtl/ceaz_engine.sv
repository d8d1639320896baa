// ceaz_engine.sv - the engine: chunks of 4-byte words in, chunks of the format out, each a packet (format.md 1.2, part
// 4; CEAZ Fig. 5). The bytes are those of the codec on a CPU.
//
// H + 3 chunks are under way at a time: one comes in while the engine looks for the level of its step (ceaz_load), one
// goes through encoder 1 (ceaz_encode), H go through encoder 2 if the job wants it (ceaz_stages), one goes out
// (ceaz_drain). Each keeps its words until it is out, because it may be stored as it is.
module ceaz_engine #(
    parameter int N = 4,                 // lanes, which are the words in a beat: 1, 2, 4, 8, 16, 32 or 64
    parameter int H = N > 4 ? N / 4 : 1  // stages of encoder 2; each takes four words a cycle
) (
    input  logic            aclk,
    input  logic            aresetn,
    // A chunk's words. tuser, the same in all of its beats: {bank of its book, number of its book: 8 bits; words in a
    // plane, in a row, in the chunk: 14 bits each}.
    input  logic [32*N-1:0] s_axis_tdata,
    input  logic [    50:0] s_axis_tuser,
    input  logic            s_axis_tlast,
    input  logic            s_axis_tvalid,
    output logic            s_axis_tready,
    // The coded chunk.
    output logic [32*N-1:0] m_axis_tdata,
    output logic [ 4*N-1:0] m_axis_tkeep,
    output logic            m_axis_tlast,
    output logic            m_axis_tvalid,
    input  logic            m_axis_tready,
    // Registers.
    input  logic [    13:0] s_axil_awaddr,
    input  logic            s_axil_awvalid,
    output logic            s_axil_awready,
    input  logic [    31:0] s_axil_wdata,
    input  logic            s_axil_wvalid,
    output logic            s_axil_wready,
    output logic [     1:0] s_axil_bresp,
    output logic            s_axil_bvalid,
    input  logic            s_axil_bready,
    input  logic [    13:0] s_axil_araddr,
    input  logic            s_axil_arvalid,
    output logic            s_axil_arready,
    output logic [    31:0] s_axil_rdata,
    output logic [     1:0] s_axil_rresp,
    output logic            s_axil_rvalid,
    input  logic            s_axil_rready
);
  localparam int BUFFERS = H + 3;
  localparam int SLOTS = H + 2;
  localparam int BA = $clog2(BUFFERS);
  localparam int S = $clog2(SLOTS);
  localparam int CA = $clog2(BUFFERS + 1);         // to count them
  localparam int B = N > 32 ? N / 32 : 1;          // blocks in a beat
  localparam int K = N > 4 ? N / 4 : 1;            // 8 bytes of a stream that go out in a cycle
  localparam int KA = $clog2(2048 / K);
  localparam int ROWS = 8192 / N;
  localparam int RA = $clog2(ROWS);

  logic clk, rst;
  assign clk = aclk;
  assign rst = !aresetn;

  // ---- registers ----
  logic is_float, bad, beat_in, beat_out, chunk_out, busy;
  logic [2:0] axes;
  logic [1:0] levels;
  logic [95:0] step, inverse;
  logic [11:0] shift;
  logic [92:0] limit, reach;
  logic huffman, counting;
  logic clear, clearing, build, assign_codes, chi, cost, take, forget, book_bank, exact, sampled, chooses;
  logic load_count, load_lengths;
  logic [1:0] shortest, verdict;
  logic [9:0] outer_ask, ask, load_at;
  logic [31:0] tau0, tau1, symbol_count, lengths, spread, bits;
  logic [17:0] saving;
  logic [18:0] residuals;
  ceaz_csr #(
      .N(N),
      .H(H)
  ) csr (
      .clk,
      .rst,
      .awaddr(s_axil_awaddr),
      .awvalid(s_axil_awvalid),
      .awready(s_axil_awready),
      .wdata(s_axil_wdata),
      .wvalid(s_axil_wvalid),
      .wready(s_axil_wready),
      .bresp(s_axil_bresp),
      .bvalid(s_axil_bvalid),
      .bready(s_axil_bready),
      .araddr(s_axil_araddr),
      .arvalid(s_axil_arvalid),
      .arready(s_axil_arready),
      .rdata(s_axil_rdata),
      .rresp(s_axil_rresp),
      .rvalid(s_axil_rvalid),
      .rready(s_axil_rready),
      .is_float,
      .axes,
      .levels,
      .shift,
      .step,
      .inverse,
      .limit,
      .reach,
      .huffman,
      .counting,
      .clear,
      .build,
      .assign_codes,
      .chi,
      .cost,
      .take,
      .forget,
      .book_bank,
      .exact,
      .shortest,
      .sampled,
      .tau0,
      .tau1,
      .load_count,
      .load_lengths,
      .load_at,
      .ask(outer_ask),
      .choosing(chooses || clearing),
      .count(symbol_count),
      .lengths,
      .spread,
      .residuals,
      .verdict,
      .bits,
      .busy,
      .bad,
      .saving,
      .beat_in,
      .beat_out,
      .chunk_out
  );

  // ---- in ----
  logic [32*N-1:0] in_data;
  logic [50:0] in_user;
  logic in_last, in_valid, in_ready;
  ceaz_skid #(
      .W(32 * N + 52)
  ) in_skid (
      .clk,
      .rst,
      .s_data({s_axis_tlast, s_axis_tuser, s_axis_tdata}),
      .s_valid(s_axis_tvalid),
      .s_ready(s_axis_tready),
      .m_data({in_last, in_user, in_data}),
      .m_valid(in_valid),
      .m_ready(in_ready)
  );

  logic load_write, load_first, load_last, load_done, coarse;
  logic [1:0] level;
  logic [RA-1:0] load_row;
  logic room;
  ceaz_load #(.N(N)) load (
      .clk,
      .rst,
      .is_float,
      .levels,
      .step(step[95:32]),
      .inverse(inverse[95:32]),
      .limit,
      .s_data(in_data),
      .count(in_user[13:0]),
      .s_last(in_last),
      .s_valid(in_valid),
      .room,
      .s_ready(in_ready),
      .bad,
      .write(load_write),
      .row(load_row),
      .first(load_first),
      .last(load_last),
      .done(load_done),
      .coarse,
      .level
  );
  assign beat_in = load_write;

  // ---- which chunk is where ----
  logic [BA-1:0] loading, judging, encoding, draining;  // buffers
  logic [S-1:0] to_slot, from_slot;
  // Buffers in use; chunks that wait for the encoder; encoded chunks that are not out yet.
  logic [CA-1:0] used, loaded, encoded;
  logic encode_done, drain_done, coded, stage_room;
  logic [50:0] shape[BUFFERS];
  logic [2:0] judged[BUFFERS];
  function automatic logic [BA-1:0] next(input logic [BA-1:0] i);
    next = i == BA'(BUFFERS - 1) ? '0 : i + 1'b1;
  endfunction
  function automatic logic [S-1:0] next_slot(input logic [S-1:0] i);
    next_slot = i == S'(SLOTS - 1) ? '0 : i + 1'b1;
  endfunction
  assign room = !load_first || used != CA'(BUFFERS);
  always_ff @(posedge clk) begin
    if (load_write && load_first) shape[loading] <= in_user;
    if (load_write && load_last) loading <= next(loading);
    if (load_done) begin
      judged[judging] <= {coarse, level};
      judging         <= next(judging);
    end
    if (encode_done) begin
      encoding <= next(encoding);
      to_slot  <= next_slot(to_slot);
    end
    if (drain_done) begin
      draining  <= next(draining);
      from_slot <= next_slot(from_slot);
    end
    used    <= used + CA'(load_write && load_first) - CA'(drain_done);
    loaded  <= loaded + CA'(load_done) - CA'(encode_done);
    encoded <= encoded + CA'(encode_done) - CA'(drain_done);
    if (rst) begin
      loading   <= '0;
      judging   <= '0;
      encoding  <= '0;
      draining  <= '0;
      to_slot   <= '0;
      from_slot <= '0;
      used      <= '0;
      loaded    <= '0;
      encoded   <= '0;
    end
  end

  // ---- words: each buffer has one reader at a time ----
  logic encode_read, drain_read;
  logic [RA-1:0] encode_at, drain_at;
  logic [32*N-1:0] buffer_out[BUFFERS];
  generate
    for (genvar b = 0; b < BUFFERS; b++) begin : buffer
      logic drains;
      assign drains = draining == BA'(b) && coded;
      ceaz_memory #(
          .W(32 * N),
          .DEPTH(ROWS)
      ) memory (
          .clk,
          .write(load_write && loading == BA'(b)),
          .write_at(load_row),
          .write_data(in_data),
          .read(drains ? drain_read : encode_read),
          .read_at(drains ? drain_at : encode_at),
          .read_data(buffer_out[b])
      );
    end
  endgenerate

  // ---- encode ----
  logic [50:0] encode_shape, drain_shape;
  assign encode_shape = shape[encoding];
  assign drain_shape  = shape[draining];
  logic [1:0] map;
  logic [2:0] used_axes;
  logic zero;
  logic [31:0] base;
  logic [8:0] marked;
  logic equal;
  logic part_read;
  logic [S+2:0] length_at, mask_at;
  logic [S+7-$clog2(B):0] block_at;
  logic [S+7:0] outlier_at;
  logic [255:0] length_row;
  logic [1023:0] mask_row;
  logic [33*32*B-1:0] block_words;
  logic [6*B-1:0] block_length;
  logic [41:0] outlier;
  logic r_start, r_valid;
  logic [511:0] marks;
  logic [32*N-1:0] r_words;
  logic [13:0] size, beside;
  logic less;
  ceaz_encode #(
      .N(N),
      .SLOTS(SLOTS)
  ) encode (
      .clk,
      .rst,
      .is_float,
      .axes,
      .inverse,
      .shift,
      .reach,
      // A slot for the chunk's parts, and one for its residuals.
      .start(loaded != '0 && encoded < CA'(SLOTS) && stage_room),
      .slot(to_slot),
      .coarse(judged[encoding][2]),
      .level(judged[encoding][1:0]),
      .count(encode_shape[13:0]),
      .row(encode_shape[27:14]),
      .plane(encode_shape[41:28]),
      .done(encode_done),
      .read(encode_read),
      .read_at(encode_at),
      .words(buffer_out[encoding]),
      .map,
      .used_axes,
      .zero,
      .base,
      .marked,
      .equal,
      .marks,
      .size,
      .less,
      .beside,
      .r_start,
      .r_valid,
      .r_words,
      .part_read,
      .length_at,
      .length_row,
      .block_at,
      .block_words,
      .block_length,
      .mask_at,
      .mask_row,
      .outlier_at,
      .outlier
  );

  // What the stages must know of each slot.
  localparam int HEAD = 50 + 512;
  logic [HEAD-1:0] head[SLOTS];
  logic [HEAD-1:0] drain_head;
  always_ff @(posedge clk)
    if (encode_done) head[to_slot] <= {marks, equal, map, used_axes, zero, judged[encoding][1:0], base, marked};
  assign drain_head = head[from_slot];

  // ---- encoder 2; books from the counts ----
  logic built;
  logic [9:0] built_symbol;
  logic [15:0] built_code;
  logic [65:0] drain_streams;
  logic [1:0] bits_stream;
  logic [KA-1:0] bits_at;
  logic [64*K-1:0] bits_words;
  ceaz_stages #(
      .N(N),
      .H(H),
      .SLOTS(SLOTS)
  ) code_again (
      .clk,
      .rst,
      .huffman,
      .counting,
      .room(stage_room),
      .r_start,
      .r_valid,
      .r_words,
      .count(encode_shape[13:0]),
      .encoded(encode_done),
      .slot(to_slot),
      .book(encode_shape[49:42]),
      .bank(encode_shape[50]),
      .size,
      .less,
      .beside,
      .coded(map != 2'd2 && !zero),
      .from_slot,
      .ready(coded),
      .streams(drain_streams),
      .drained(drain_done),
      .bits_read(part_read),
      .bits_stream,
      .bits_at,
      .bits_words,
      .saving,
      .book_write(built),
      .book_bank,
      .book_symbol(built_symbol),
      .book_code(built_code),
      .clear,
      .clearing,
      .load(load_count),
      .load_at,
      .load_count(s_axil_wdata),
      .ask,
      .symbol_count
  );
  ceaz_choice choice (
      .clk,
      .rst,
      .build,
      .assign_codes,
      .chi,
      .cost,
      .take,
      .forget,
      .exact,
      .shortest,
      .sampled,
      .tau0,
      .tau1,
      .busy(chooses),
      .outer_ask,
      .ask,
      .count(symbol_count),
      .write(built),
      .write_symbol(built_symbol),
      .write_code(built_code),
      .row_write(load_lengths),
      .row_at(load_at[6:0]),
      .row_data(s_axil_wdata),
      .row(lengths),
      .spread,
      .residuals,
      .verdict,
      .bits
  );

  // ---- out ----
  logic [32*N-1:0] out_words;
  logic [6:0] out_count;
  logic out_last, out_valid, out_ready;
  logic [1:0] drain_map;
  logic [2:0] drain_axes;
  logic drain_zero, drain_equal;
  logic [1:0] drain_level;
  logic [31:0] drain_base;
  logic [8:0] drain_marked;
  logic [511:0] drain_marks;
  assign {drain_marks, drain_equal, drain_map, drain_axes, drain_zero, drain_level, drain_base, drain_marked} = drain_head;
  ceaz_drain #(
      .N(N),
      .S(S)
  ) drain (
      .clk,
      .rst,
      .start(coded),
      .slot(from_slot),
      .count(drain_shape[13:0]),
      .map(drain_map),
      .axes(drain_axes),
      .zero(drain_zero),
      .step(step[32*drain_level+:32]),
      .shift(shift[4*drain_level+:4]),
      .base(drain_base),
      .marked(drain_marked),
      .huffman(drain_streams[65]),
      .four(drain_streams[64]),
      .book(drain_streams[63:56]),
      .bytes(drain_streams[55:0]),
      .equal(drain_equal),
      .marks(drain_marks),
      .done(drain_done),
      .read(drain_read),
      .read_at(drain_at),
      .words(buffer_out[draining]),
      .part_read,
      .length_at,
      .length_row,
      .block_at,
      .block_words,
      .block_length,
      .mask_at,
      .mask_row,
      .outlier_at,
      .outlier,
      .bits_stream,
      .bits_at,
      .bits_words,
      .m_words(out_words),
      .m_count(out_count),
      .m_last(out_last),
      .m_valid(out_valid),
      .m_ready(out_ready)
  );

  logic [4*N-1:0] keep;
  always_comb for (int i = 0; i < N; i++) keep[4*i+:4] = {4{7'(i) < out_count}};
  ceaz_skid #(
      .W(36 * N + 1)
  ) out_skid (
      .clk,
      .rst,
      .s_data({out_last, keep, out_words}),
      .s_valid(out_valid),
      .s_ready(out_ready),
      .m_data({m_axis_tlast, m_axis_tkeep, m_axis_tdata}),
      .m_valid(m_axis_tvalid),
      .m_ready(m_axis_tready)
  );
  assign beat_out  = out_valid && out_ready;
  assign chunk_out = beat_out && out_last;
  assign busy      = used != '0 || in_valid || out_valid || m_axis_tvalid;
  logic unused;
  assign unused = &{1'b0, drain_shape[50:14]};
endmodule

// ceaz_engine.sv - the engine: chunks of 4-byte words in, chunks of the format out, each a packet (format.md 1.2, part 4;
// CEAZ Fig. 5). The bytes are those of the codec on a CPU.
//
// Four chunks are under way at a time: one comes in while the level of its step is found (ceaz_load), one is encoded by
// encoder 1 (ceaz_encode), one again by encoder 2 if that is asked for (ceaz_huffman), one goes out (ceaz_drain). Each
// keeps its words till it is out, for what is stored as it is.
module ceaz_engine #(
    parameter int N = 4  // lanes, that is words in a beat: 1, 2, 4, 8, 16 or 32
) (
    input  logic            aclk,
    input  logic            aresetn,
    // A chunk's words; tuser, in all of its beats: {bank of its book, number of its book: 8 bits; words in a plane, in a
    // row, in the chunk: 14 bits each}.
    input  logic [32*N-1:0] s_axis_tdata,
    input  logic [    50:0] s_axis_tuser,
    input  logic            s_axis_tlast,
    input  logic            s_axis_tvalid,
    output logic            s_axis_tready,
    // The chunk, coded.
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
  localparam int BUFFERS = 4;
  localparam int SLOTS = 3;
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
  logic [92:0] limit, reach;
  logic huffman, counting, book_write;
  logic clear, clearing, build, build_bank, build_exact, builds, load_count;
  logic [9:0] ask, builder_ask;
  logic [31:0] symbol_count;
  logic [3:0] built_length;
  logic [13:0] saved, saving;
  logic [10:0] book_at;
  logic [15:0] book_code;
  ceaz_csr #(.N(N)) csr (
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
      .step,
      .inverse,
      .limit,
      .reach,
      .huffman,
      .counting,
      .book_write,
      .book_at,
      .book_code,
      .clear,
      .build,
      .build_bank,
      .build_exact,
      .load(load_count),
      .ask,
      .building(builds || clearing),
      .count(symbol_count),
      .length(built_length),
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
  logic [1:0] loading, judging, encoding, coding, draining;  // buffers
  logic [1:0] to_slot, code_slot, from_slot;
  logic encode_half, code_half, drain_half;
  // Buffers in use; chunks to be encoded; to be coded by encoder 2; to go out.
  logic [2:0] used, loaded, encoded, coded;
  logic encode_done, code_done, drain_done;
  logic [50:0] shape[BUFFERS];
  logic [2:0] judged[BUFFERS];
  function automatic logic [1:0] next(input logic [1:0] i, input logic [1:0] last);
    next = i == last ? 2'd0 : i + 2'd1;
  endfunction
  assign room = !load_first || used != 3'(BUFFERS);
  always_ff @(posedge clk) begin
    if (load_write && load_first) shape[loading] <= in_user;
    if (load_write && load_last) loading <= next(loading, 2'(BUFFERS - 1));
    if (load_done) begin
      judged[judging] <= {coarse, level};
      judging         <= next(judging, 2'(BUFFERS - 1));
    end
    if (encode_done) begin
      encoding    <= next(encoding, 2'(BUFFERS - 1));
      to_slot     <= next(to_slot, 2'(SLOTS - 1));
      encode_half <= !encode_half;
    end
    if (code_done) begin
      coding    <= next(coding, 2'(BUFFERS - 1));
      code_slot <= next(code_slot, 2'(SLOTS - 1));
      code_half <= !code_half;
    end
    if (drain_done) begin
      draining   <= next(draining, 2'(BUFFERS - 1));
      from_slot  <= next(from_slot, 2'(SLOTS - 1));
      drain_half <= !drain_half;
    end
    used    <= used + {2'b0, load_write && load_first} - {2'b0, drain_done};
    loaded  <= loaded + {2'b0, load_done} - {2'b0, encode_done};
    encoded <= encoded + {2'b0, encode_done} - {2'b0, code_done};
    coded   <= coded + {2'b0, code_done} - {2'b0, drain_done};
    if (rst) begin
      loading   <= 2'd0;
      judging   <= 2'd0;
      encoding  <= 2'd0;
      coding    <= 2'd0;
      draining  <= 2'd0;
      to_slot   <= 2'd0;
      code_slot <= 2'd0;
      encode_half <= 1'b0;
      code_half <= 1'b0;
      drain_half <= 1'b0;
      from_slot <= 2'd0;
      used      <= 3'd0;
      loaded    <= 3'd0;
      encoded   <= 3'd0;
      coded     <= 3'd0;
    end
  end

  // ---- words: each buffer has one reader at a time ----
  logic encode_read, drain_read;
  logic [RA-1:0] encode_at, drain_at;
  logic [32*N-1:0] buffer_out[BUFFERS];
  generate
    for (genvar b = 0; b < BUFFERS; b++) begin : buffer
      logic drains;
      assign drains = draining == 2'(b) && coded != 3'd0;
      ceaz_memory #(
          .W(32 * N),
          .DEPTH(ROWS)
      ) memory (
          .clk,
          .write(load_write && loading == 2'(b)),
          .write_at(load_row),
          .write_data(in_data),
          .read(drains ? drain_read : encode_read),
          .read_at(drains ? drain_at : encode_at),
          .read_data(buffer_out[b])
      );
    end
  endgenerate

  // ---- encode ----
  logic [50:0] encode_shape, code_shape, drain_shape;
  assign encode_shape = shape[encoding];
  assign code_shape   = shape[coding];
  assign drain_shape  = shape[draining];
  logic [1:0] map;
  logic [2:0] used_axes;
  logic zero;
  logic [31:0] used_step, base;
  logic [8:0] marked;
  logic part_read;
  logic [4:0] length_at, mask_at;
  logic [9:0] block_at, outlier_at;
  logic [255:0] length_row;
  logic [1023:0] mask_row;
  logic [33*32-1:0] block_words;
  logic [5:0] block_length;
  logic [40:0] outlier;
  logic r_start, r_valid;
  logic [13:0] values;
  logic [511:0] marks;
  logic [32*N-1:0] r_words;
  logic [13:0] size;
  ceaz_encode #(
      .N(N),
      .SLOTS(SLOTS)
  ) encode (
      .clk,
      .rst,
      .is_float,
      .axes,
      .step,
      .inverse,
      .reach,
      // A slot for its parts, and half of ceaz_huffman's memory.
      .start(loaded != 3'd0 && encoded + coded < 3'(SLOTS) && encoded < 3'd2),
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
      .used_step,
      .base,
      .marked,
      .values,
      .marks,
      .size,
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

  // What is to be known of each slot.
  localparam int HEAD = 79 + 512;
  logic [HEAD-1:0] head[SLOTS];
  logic [HEAD-1:0] drain_head;
  logic [39:0] todo[SLOTS];
  always_ff @(posedge clk)
    if (encode_done) begin
      head[to_slot] <= {marks, map, used_axes, zero, used_step, base, marked};
      todo[to_slot] <= {marked, values, size, map != 2'd2 && !zero, size >= 14'd128, map == 2'd0};
    end
  assign drain_head = head[from_slot];

  // ---- code again ----
  logic to_code, four, quantized;
  logic [8:0] code_marked;
  logic [13:0] code_values, code_size, fixed, code_blocks;
  assign {code_marked, code_values, code_size, to_code, four, quantized} = todo[code_slot];
  assign code_blocks = (code_shape[13:0] + 14'd31) >> 5;
  assign fixed = (quantized ? 14'd3 : 14'd2) + (four ? 14'd2 : 14'd1) + {5'b0, code_marked} + code_values +
      (code_marked != 9'd0 ? ((code_blocks + 14'd31) >> 5) << 1 : 14'd0);
  logic shorter;
  assign saving = code_done && !counting ? saved : 14'd0;
  logic [55:0] stream_bytes;
  logic [39:0] symbol;
  logic [3:0] symbol_valid;
  logic [63:0] code;
  logic [20:0] runs;
  logic [15:0] escape;
  logic [1:0] bits_stream;
  logic [10:0] bits_at;
  logic [63:0] bits_word;
  ceaz_books books (
      .clk,
      .write(book_write || built),
      .write_bank(built ? build_bank : book_at[10]),
      .write_symbol(built ? built_symbol : book_at[9:0]),
      .write_code(built ? built_code : book_code),
      .bank(code_shape[50]),
      .symbol,
      .code,
      .runs,
      .escape
  );
  ceaz_huffman #(.N(N)) code_again (
      .clk,
      .rst,
      .r_start,
      .r_count(encode_shape[13:0]),
      .r_half(encode_half),
      .r_valid,
      .r_words,
      .start(encoded != 3'd0 && coded < 3'd2),
      .half(code_half),
      .to_half(code_half),
      .count(code_shape[13:0]),
      .coded(to_code && huffman),
      .four,
      .fixed,
      .size(code_size),
      .all_runs(counting),
      .done(code_done),
      .shorter,
      .saved,
      .bytes(stream_bytes),
      .runs,
      .escape,
      .symbol,
      .symbol_valid,
      .code,
      .bits_read(part_read),
      .bits_half(drain_half),
      .bits_stream,
      .bits_at,
      .bits_word
  );
  // ---- books from what was counted ----
  logic built;
  logic [9:0] built_symbol;
  logic [15:0] built_code;
  ceaz_histogram histogram (
      .clk,
      .rst,
      .clear,
      .clearing,
      .symbol,
      .valid(counting ? symbol_valid : 4'b0),
      .load(load_count),
      .load_at(book_at[9:0]),
      .load_count(s_axil_wdata),
      .ask(builds ? builder_ask : ask),
      .count(symbol_count)
  );
  ceaz_builder builder (
      .clk,
      .rst,
      .start(build),
      .exact(build_exact),
      .busy(builds),
      .ask(builder_ask),
      .count(symbol_count),
      .write(built),
      .write_symbol(built_symbol),
      .write_code(built_code),
      .length_at(ask),
      .length(built_length)
  );

  logic [65:0] streams[SLOTS];
  logic [65:0] drain_streams;
  always_ff @(posedge clk)
    if (code_done) streams[code_slot] <= {shorter && !counting, four, code_shape[49:42], stream_bytes};
  assign drain_streams = streams[from_slot];

  // ---- out ----
  logic [32*N-1:0] out_words;
  logic [5:0] out_count;
  logic out_last, out_valid, out_ready;
  logic [1:0] drain_map;
  logic [2:0] drain_axes;
  logic drain_zero;
  logic [31:0] drain_step, drain_base;
  logic [8:0] drain_marked;
  logic [511:0] drain_marks;
  assign {drain_marks, drain_map, drain_axes, drain_zero, drain_step, drain_base, drain_marked} = drain_head;
  ceaz_drain #(.N(N)) drain (
      .clk,
      .rst,
      .start(coded != 3'd0),
      .slot(from_slot),
      .count(drain_shape[13:0]),
      .map(drain_map),
      .axes(drain_axes),
      .zero(drain_zero),
      .step(drain_step),
      .base(drain_base),
      .marked(drain_marked),
      .huffman(drain_streams[65]),
      .four(drain_streams[64]),
      .book(drain_streams[63:56]),
      .bytes(drain_streams[55:0]),
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
      .bits_word,
      .m_words(out_words),
      .m_count(out_count),
      .m_last(out_last),
      .m_valid(out_valid),
      .m_ready(out_ready)
  );

  logic [4*N-1:0] keep;
  always_comb for (int i = 0; i < N; i++) keep[4*i+:4] = {4{6'(i) < out_count}};
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
  assign busy      = used != 3'd0 || in_valid || out_valid || m_axis_tvalid;
  logic unused;
  assign unused = &{1'b0, drain_shape[50:14], code_shape[41:14], encode_shape[50:42]};
endmodule

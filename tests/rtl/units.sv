// units.sv - modules of the engine one by one, for units.c: all of them with the same ports, of which each uses some.
// Words of `in` and `out` are what units.c says of each.
module units #(
    parameter int N = 8
) (
    input  logic          clk,
    input  logic          rst,
    input  logic [   3:0] unit,
    input  logic          start,     // of what the module begins with
    input  logic [  95:0] fixed,     // what stays the same
    input  logic [1087:0] in,
    input  logic          in_valid,
    output logic          in_ready,
    output logic [1087:0] out,
    output logic          out_valid,
    input  logic          out_ready
);
  localparam int D = 32 * N;
  logic [15:0] valid;
  always_comb begin
    valid = '0;
    valid[unit] = in_valid && in_ready;
  end
  // Valid some cycles ago, where a module has no such port.
  logic [4:0] ago;
  always_ff @(posedge clk) ago <= rst ? 5'b0 : {ago[3:0], in_valid};

  logic [31:0] q;
  logic q_ok;
  ceaz_quant quant (
      .clk,
      .x(in[31:0]),
      .inverse(fixed[30:0]),
      .limit(fixed[62:32]),
      .q,
      .ok(q_ok)
  );

  logic differs;
  ceaz_level level (
      .clk,
      .x(in[31:0]),
      .step(fixed[94:78]),
      .inverse(fixed[30:0]),
      .limit(fixed[62:32]),
      .differs
  );

  logic [D-1:0] held;
  logic [31:0] base;
  ceaz_hold #(
      .N(N)
  ) hold (
      .clk,
      .valid(valid[2]),
      .first(in[D+N]),
      .q(in[D-1:0]),
      .ok(in[D+:N]),
      .d(held),
      .base
  );

  logic [D-1:0] difference;
  logic lorenzo_ready, lorenzo_valid;
  ceaz_lorenzo #(
      .N(N)
  ) lorenzo (
      .clk,
      .rst,
      .shape(start),
      .row(fixed[13:0]),
      .plane(fixed[45:32]),
      .axes(fixed[66:64]),
      .ready(lorenzo_ready),
      .valid(valid[3]),
      .first(in[D]),
      .x(in[D-1:0]),
      .r(difference),
      .r_valid(lorenzo_valid)
  );

  logic block_valid, block_last;
  logic [33*32-1:0] block_words;
  logic [5:0] block_length;
  ceaz_block #(
      .N(N)
  ) blocks (
      .clk,
      .rst,
      .valid(valid[4]),
      .last(in[D]),
      .r(in[D-1:0]),
      .m_valid(block_valid),
      .m_last(block_last),
      .m_words(block_words),
      .m_length(block_length)
  );

  logic outlier_valid, uniform, full;
  logic [31:0] mask, pattern;
  logic [5:0] values;
  ceaz_outliers #(
      .N(N)
  ) outliers (
      .clk,
      .rst,
      .valid(valid[5]),
      .last(in[D+N]),
      .x(in[D-1:0]),
      .is_in(in[D+32+:N]),
      .exception(in[D+:N]),
      .m_valid(outlier_valid),
      .m_mask(mask),
      .m_uniform(uniform),
      .m_full(full),
      .m_pattern(pattern),
      .m_values(values)
  );

  logic symbols_ready, symbol_last, symbol_valid;
  logic [9:0] symbol;
  logic [4:0] extra;
  logic [31:0] residual;
  ceaz_symbols symbols (
      .clk,
      .rst(rst || start),
      .runs(fixed[20:0]),
      .r(in[31:0]),
      .times(in[37:32]),
      .last(in[64]),
      .valid(valid[6]),
      .ready(symbols_ready),
      .symbol,
      .extra,
      .residual,
      .m_last(symbol_last),
      .m_valid(symbol_valid)
  );

  logic write, bits_done, overflow;
  logic [10:0] at;
  logic [63:0] word;
  logic [13:0] bytes;
  ceaz_bits bits (
      .clk,
      .start(start || rst),
      .value(in[43:0]),
      .count(in[69:64]),
      .last(in[96]),
      .valid(valid[7]),
      .write,
      .at,
      .word,
      .done(bits_done),
      .overflow,
      .bytes
  );

  logic [D-1:0] compacted;
  logic [6:0] compacted_count;
  ceaz_compact #(
      .N(N)
  ) compact (
      .words(in[D-1:0]),
      .mask(in[D+:N]),
      .out(compacted),
      .count(compacted_count)
  );

  logic pack_ready, packed_valid, packed_last;
  logic [D-1:0] packed_words;
  logic [6:0] packed_count;
  ceaz_pack #(
      .N(N)
  ) pack (
      .clk,
      .rst,
      .s_words(in[33*32-1:0]),
      .s_count(in[33*32+:7]),
      .s_last(in[33*32+8]),
      .s_valid(valid[9]),
      .s_ready(pack_ready),
      .m_words(packed_words),
      .m_count(packed_count),
      .m_last(packed_last),
      .m_valid(packed_valid),
      .m_ready(out_ready)
  );

  logic clearing;
  logic [31:0] count;
  ceaz_histogram histogram (
      .clk,
      .rst,
      .clear(start),
      .clearing,
      .symbol({in[105:96], in[73:64], in[41:32], in[9:0]}),
      .valid({valid[10], valid[10], valid[10], valid[10]} & in[131:128]),
      .load(1'b0),
      .load_at(10'b0),
      .load_count(32'b0),
      .ask(fixed[9:0]),
      .count
  );

  always_comb begin
    in_ready  = 1'b1;
    out       = '0;
    out_valid = 1'b0;
    case (unit)
      4'd0: {out_valid, out[32:0]} = {ago[2], q_ok, q};
      4'd1: {out_valid, out[0]} = {ago[4], differs};
      4'd2: {out_valid, out[D+31:0]} = {ago[1], base, held};
      4'd3: {in_ready, out_valid, out[D-1:0]} = {lorenzo_ready, lorenzo_valid, difference};
      4'd4: begin
        out_valid         = block_valid;
        out[33*32-1:0]    = block_words;
        out[33*32+:6]     = block_length;
        out[33*32+8]      = block_last;
      end
      4'd5: begin
        out_valid  = outlier_valid;
        out[31:0]  = mask;
        out[37:32] = values;
        out[38]    = uniform;
        out[39]    = full;
        out[95:64] = pattern;
      end
      4'd6: begin
        in_ready                   = symbols_ready;
        out_valid                  = symbol_valid;
        out[9:0]                   = symbol;
        out[36:32]                 = extra;
        out[95:64]                 = residual;
        out[96]                    = symbol_last;
      end
      4'd7: begin
        out_valid   = write;
        out[10:0]   = at;
        out[95:32]  = word;
        out[97:96]  = {overflow, bits_done};
        out[141:128] = bytes;
      end
      4'd8: {out_valid, out[D+6:0]} = {in_valid, compacted_count, compacted};
      4'd9: begin
        in_ready  = pack_ready;
        out_valid = packed_valid;
        out[D+7:0] = {packed_last, packed_count, packed_words};
      end
      default: begin
        in_ready  = !clearing;
        out[31:0] = count;
      end
    endcase
  end
  logic unused;
  assign unused = &{1'b0, fixed, valid};
endmodule

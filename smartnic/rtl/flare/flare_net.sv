// flare_net.sv - the network of FLARE's enhancer on P x P multipliers: convolutions 3 x 3 of 1 to 8 channels, of their
// means over 2 x 2 points to 16, of the 8 and these (each for four points) to 8, of these to 1. It takes a slice's
// piece of up to SIDE x SIDE values, which are decoded values of a slice, or bytes. For each point it gives a number of
// -64 to 64, in units of a 64th of the bound.
module flare_net #(
    parameter int P = 8,               // 4, 8 or 16
    parameter int SIDE = 64,
    parameter int WEIGHTS = 256        // words
) (
    input  logic             clk,
    input  logic             rst,
    // Loaded once: words of weights in the order of their use, biases of P outputs, shifts.
    input  logic             weight_write,
    input  logic             bias_write,
    input  logic [      7:0] write_at,
    input  logic [8*P*P-1:0] write_weight,
    input  logic [ 32*P-1:0] write_bias,
    input  logic [     19:0] shifts,   // of four layers
    // A piece: its slice's range, its size.
    input  logic             start,
    input  logic [     31:0] least,
    input  logic [     31:0] largest,
    input  logic [      6:0] height,
    input  logic [      6:0] width,
    input  logic             bytes,    // values are inputs as they are: not to be scaled
    input  logic [      7:0] beside,   // input that is beside the piece; of a slice 0, its least value
    output logic             busy,
    input  logic [     31:0] s_value,
    input  logic             s_valid,
    output logic             s_ready,
    output logic [      7:0] m_value,
    output logic             m_valid,
    input  logic             m_ready,
    output logic [     31:0] cycles    // of the piece
);
  localparam int G8 = (8 + P - 1) / P, G16 = (16 + P - 1) / P;  // groups of P channels
  localparam int FULL = SIDE * SIDE, HALF = FULL / 4;
  localparam int A = $clog2(FULL * (1 + 2 * G8) + HALF * (G8 + G16));
  // Where each group begins.
  localparam int INPUT = 0, BOTH = FULL, LAST = FULL * (1 + G8), MEANS = FULL * (1 + 2 * G8), DEEP = MEANS + HALF * G8;

  // ---- what a layer is: 0 first, 1 means, 2 deep, 3 both, 4 last ----
  typedef enum logic [2:0] {IDLE, DIVIDE, FILL, RUN, DRAIN} state_t;
  state_t state;
  logic [2:0] layer, in_groups, out_groups;
  logic [6:0] h, w, half_h, half_w;
  logic [3:0] taps;
  logic is_half, means;
  assign half_h  = (height + 7'd1) >> 1;
  assign half_w  = (width + 7'd1) >> 1;
  assign means   = layer == 3'd1;
  assign is_half = means || layer == 3'd2;
  assign h       = is_half ? half_h : height;
  assign w       = is_half ? half_w : width;
  assign taps    = means ? 4'd4 : 4'd9;
  always_comb begin
    in_groups  = 3'(G8);
    out_groups = 3'(G8);
    case (layer)
      3'd0: in_groups = 3'd1;
      3'd1: in_groups = 3'd1;  // a group goes to its own
      3'd2: out_groups = 3'(G16);
      3'd3: in_groups = 3'(G8 + G16);
      3'd4: out_groups = 3'd1;
      default: ;
    endcase
  end

  // ---- the way: taps of a point's inputs, points, groups of outputs ----
  logic [2:0] out_group, in_group;
  logic [6:0] y, x;
  logic [3:0] tap;
  logic [7:0] weight_at, group_at, bias_at;
  logic last_tap, last_in, last_x, last_y, last_out, go;
  assign last_tap = tap == taps - 4'd1;
  assign last_in  = last_tap && in_group == in_groups - 3'd1;
  assign last_x   = x == w - 7'd1;
  assign last_y   = y == h - 7'd1;
  assign last_out = last_in && last_x && last_y && out_group == out_groups - 3'd1;
  always_ff @(posedge clk) begin
    case (state)
      IDLE:
      if (start) begin
        state  <= DIVIDE;
        layer  <= 3'd0;
        {y, x} <= '0;
      end
      DIVIDE: if (scaled) state <= FILL;
      FILL:
      if (s_valid) begin
        x <= last_x ? '0 : x + 7'd1;
        if (last_x) y <= last_y ? '0 : y + 7'd1;
        if (last_x && last_y) state <= DRAIN;
        {tap, in_group, out_group, weight_at, group_at, bias_at} <= '0;
      end
      RUN:
      if (go) begin
        tap <= last_tap ? 4'd0 : tap + 4'd1;
        if (!means) weight_at <= last_in ? group_at : weight_at + 8'd1;
        if (last_tap) in_group <= last_in ? 3'd0 : in_group + 3'd1;
        if (last_in) x <= last_x ? 7'd0 : x + 7'd1;
        if (last_in && last_x) y <= last_y ? 7'd0 : y + 7'd1;
        if (last_in && last_x && last_y) begin
          out_group <= last_out ? 3'd0 : out_group + 3'd1;
          if (!means) begin
            weight_at <= weight_at + 8'd1;
            group_at  <= weight_at + 8'd1;
            bias_at   <= bias_at + 8'd1;
          end
        end
        if (last_out) state <= DRAIN;
      end
      default:  // The next layer takes the outputs of this one.
      if (flying == '0 && !written && !m_valid) begin
        state <= layer == 3'd4 && ran ? IDLE : RUN;
        if (ran) layer <= layer + 3'd1;
        ran <= 1'b1;
      end
    endcase
    if (start) ran <= 1'b0;
    if (rst) state <= IDLE;
  end
  logic ran, scaled, written;
  logic [3:0] flying;
  assign busy    = state != IDLE;
  assign s_ready = state == FILL;
  always_ff @(posedge clk) cycles <= state == IDLE && start ? 32'd0 : busy ? cycles + 1'b1 : cycles;

  // ---- inputs ----
  logic [3:0] tap_y, tap_x;
  logic [8:0] at_y, at_x, from_y, from_x;  // of the tap
  logic [6:0] from_w;
  logic has_point, deeper;
  logic [2:0] from_group;
  logic [A-1:0] read_at, base, plane;
  assign tap_y = tap < 4'd3 ? 4'd0 : tap < 4'd6 ? 4'd1 : 4'd2;
  assign tap_x = tap - tap_y - (tap_y << 1);
  assign at_y  = means ? {1'b0, y, 1'b0} + {8'b0, tap[1]} : {2'b0, y} + {5'b0, tap_y} - 9'd1;
  assign at_x  = means ? {1'b0, x, 1'b0} + {8'b0, tap[0]} : {2'b0, x} + {5'b0, tap_x} - 9'd1;
  assign has_point = means ? at_y < {2'b0, height} && at_x < {2'b0, width} : at_y < {2'b0, h} && at_x < {2'b0, w};
  assign deeper = layer == 3'd3 && in_group >= 3'(G8);  // each of its points stands for four
  assign from_group = means ? out_group : deeper ? in_group - 3'(G8) : in_group;
  assign plane = layer == 3'd2 || deeper ? A'(HALF) : A'(FULL);
  always_comb
    case (layer)
      3'd0: base = A'(INPUT);
      3'd1: base = A'(BOTH);
      3'd2: base = A'(MEANS);
      3'd3: base = deeper ? A'(DEEP) : A'(BOTH);
      default: base = A'(LAST);
    endcase
  assign from_w  = layer == 3'd2 || deeper ? half_w : width;
  assign from_y  = deeper ? at_y >> 1 : at_y;
  assign from_x  = deeper ? at_x >> 1 : at_x;
  assign read_at = base + plane * A'(from_group) + A'(from_y) * A'(from_w) + A'(from_x);

  // ---- a step in four cycles: memory, products, sums, outputs ----
  logic has_point1, first1, straight1, from_slice1, valid1;
  logic [2:0] ends;  // a sum is complete
  logic [A-1:0] to[3];
  logic last3;
  logic [4:0] shift[3];
  logic [2:0] of_last;
  logic [8*P-1:0] read, in;
  logic [8*P*P-1:0] weight;
  logic [32*P-1:0] bias, sum;
  logic [A-1:0] write_base;
  always_comb
    case (layer)
      3'd0: write_base = A'(BOTH);
      3'd1: write_base = A'(MEANS);
      3'd2: write_base = A'(DEEP);
      default: write_base = A'(LAST);
    endcase
  assign go     = !m_valid || m_ready;
  assign flying = {valid1, ends};
  always_ff @(posedge clk) begin
    if (go) begin
      valid1    <= state == RUN;
      has_point1 <= has_point;
      first1    <= tap == 4'd0 && in_group == 3'd0;
      straight1 <= means;
      from_slice1 <= layer == 3'd0;
      ends      <= {ends[1:0], state == RUN && last_in};
      to[0]     <= write_base + (is_half ? A'(HALF) : A'(FULL)) * A'(out_group) + A'(y) * A'(w) + A'(x);
      shift[0]  <= means ? 5'd2 : layer == 3'd0 ? shifts[4:0] : layer == 3'd2 ? shifts[9:5] :
          layer == 3'd3 ? shifts[14:10] : shifts[19:15];
      of_last   <= {of_last[1:0], layer == 3'd4};
      for (int i = 1; i < 3; i++) begin
        to[i]    <= to[i-1];
        shift[i] <= shift[i-1];
      end
    end
    if (rst) begin
      valid1 <= 1'b0;
      ends   <= '0;
    end
  end
  assign last3 = of_last[2];
  // Points beside a layer's piece are 0.
  assign in = has_point1 ? read : from_slice1 ? (8 * P)'(beside) : '0;
  flare_pe #(
      .P(P)
  ) array (
      .clk,
      .go,
      .valid(valid1),
      .first(first1),
      .straight(straight1),
      .in,
      .weight,
      .bias(straight1 ? {P{32'd2}} : bias),
      .sum
  );
  logic [8*P-1:0] narrow;
  logic signed [31:0] shifted[P];
  logic [7:0] signed_one;
  always_comb begin
    for (int j = 0; j < P; j++) begin
      shifted[j] = $signed(sum[32*j+:32]) >>> shift[2];
      narrow[8*j+:8] = shifted[j] < 0 ? 8'd0 : shifted[j] > 127 ? 8'd127 : shifted[j][7:0];
    end
    signed_one = shifted[0] < -64 ? -8'sd64 : shifted[0] > 64 ? 8'd64 : shifted[0][7:0];
  end
  assign m_value = signed_one;
  assign m_valid = ends[2] && last3;

  // ---- memories ----
  logic [7:0] scaled_value, byte_value, filled;
  assign filled = bytes ? byte_value : scaled_value;
  logic fills;
  logic [A-1:0] fill_at;
  flare_scale scale (
      .clk,
      .rst,
      .start(start && state == IDLE),
      .least,
      .largest,
      .ready(scaled),
      .s_value,
      .m_value(scaled_value)
  );
  always_ff @(posedge clk) begin
    fills   <= s_valid && s_ready;
    fill_at <= A'(y) * A'(width) + A'(x);
    byte_value <= s_value[7:0];
  end
  assign written = fills || (ends[2] && !last3);
  ceaz_memory #(
      .W(8 * P),
      .DEPTH(1 << A)
  ) channels (
      .clk,
      .write(written),
      .write_at(fills ? fill_at : to[2]),
      .write_data(fills ? (8 * P)'(filled) : narrow),
      .read(go),
      .read_at,
      .read_data(read)
  );
  ceaz_memory #(
      .W(8 * P * P),
      .DEPTH(WEIGHTS)
  ) weights (
      .clk,
      .write(weight_write),
      .write_at,
      .write_data(write_weight),
      .read(go),
      .read_at(weight_at),
      .read_data(weight)
  );
  ceaz_memory #(
      .W(32 * P),
      .DEPTH(16)
  ) biases (
      .clk,
      .write(bias_write),
      .write_at(write_at[3:0]),
      .write_data(write_bias),
      .read(go),
      .read_at(bias_at[3:0]),
      .read_data(bias)
  );
  logic unused;
  assign unused = &{1'b0, bias_at[7:4]};
endmodule

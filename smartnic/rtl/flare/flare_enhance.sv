// flare_enhance.sv - the network behind FLARE's core. FIFO2 holds the decoded values of a batch of 32 slices, block by
// block, in a memory of the array that makes the block. When the batch is done, the slices' ranges are known. Then each
// slice goes through flare_net, piece by piece, scaled at its input; slices whose values are all equal do not.
module flare_enhance #(
    parameter int M = 4,
    parameter int P = 8,
    parameter int W = 16,
    parameter int BLOCKS = 16,                  // of 32^3 points, in FIFO2
    parameter int LOG = M > 1 ? $clog2(M) : 1
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            clear,              // a chunk begins
    input  logic            decode,
    input  logic            alone,              // bytes alone go through the network, of all slices of the chunk
    input  logic            begins,             // alone
    input  logic            reg_write,
    input  logic [    12:0] reg_at,
    input  logic [    31:0] reg_data,
    output logic [    31:0] cycles,             // while it works
    input  logic [     7:0] nz,
    input  logic [   W-1:0] ny,
    input  logic [   W-1:0] nx,
    // Blocks of the finest level; the values of each array's.
    input  logic            job,
    input  logic [ LOG-1:0] job_array,
    input  logic            job_opens,
    output logic [   M-1:0] may,                // has room for one more
    input  logic [   M-1:0] f_valid,
    input  logic [15*M-1:0] f_place,
    input  logic [32*M-1:0] f_value,
    input  logic            closing,            // ranges of the batch are put together
    input  logic [     6:0] first_slice,
    output logic            busy,
    output logic [     6:0] slice,              // its range is asked for
    input  logic [    31:0] least,
    input  logic [    31:0] largest,
    input  logic [     7:0] i_byte,
    input  logic            i_valid,
    output logic            i_ready,
    output logic [     7:0] o_value,
    output logic [     6:0] o_slice,
    output logic            o_valid,
    input  logic            o_ready
);
  localparam int SLOTS = BLOCKS / M, S = SLOTS > 1 ? $clog2(SLOTS) : 1, B = $clog2(BLOCKS), U = $clog2(SLOTS + 1);
  localparam int PARTS = P * P / 4;

  // ---- registers, weights ----
  logic on, bytes, registers, weight_write, bias_write;
  logic [7:0] beside, weight_at, bias_at;
  logic [6:0] piece_h, piece_w;
  logic [19:0] shifts;
  logic [$clog2(PARTS)-1:0] part;
  logic [$clog2(P)-1:0] bias_part;
  logic [8*P*P-1:0] weight;
  logic [32*P-1:0] bias;
  assign registers = reg_write && reg_at[12:3] == 10'd3;
  always_ff @(posedge clk) begin
    weight_write <= 1'b0;
    bias_write   <= 1'b0;
    if (weight_write) weight_at <= weight_at + 1'b1;
    if (bias_write) bias_at <= bias_at + 1'b1;
    if (registers)
      case (reg_at[2:0])
        3'd0: {beside, bytes, on} <= {reg_data[15:8], reg_data[1:0]};
        3'd1: {piece_w, piece_h} <= {reg_data[14:8], reg_data[6:0]};
        3'd2: begin
          shifts <= reg_data[19:0];
          {weight_at, bias_at, part, bias_part} <= '0;
        end
        3'd3: begin
          weight       <= {reg_data, weight[8*P*P-1:32]};
          part         <= part + 1'b1;
          weight_write <= part == '1;
        end
        3'd4: begin
          bias       <= {reg_data, bias[32*P-1:32]};
          bias_part  <= bias_part + 1'b1;
          bias_write <= bias_part == '1;
        end
        default: ;
      endcase
    if (rst) on <= 1'b0;
  end

  // ---- FIFO2: where blocks are ----
  logic [LOG+S-1:0] places[BLOCKS];
  logic [B-1:0] blocks;
  logic [U-1:0] used[M];
  logic [S-1:0] slot[M];
  always_comb for (int k = 0; k < M; k++) may[k] = !on || job_opens || used[k] < U'(SLOTS);
  always_ff @(posedge clk)
    if (rst || clear) for (int k = 0; k < M; k++) used[k] <= '0;
    else if (job) begin
      blocks <= job_opens ? B'(1) : blocks + 1'b1;
      places[job_opens ? '0 : blocks] <= {job_array, job_opens ? S'(0) : S'(used[job_array])};
      for (int k = 0; k < M; k++) begin
        used[k] <= (job_opens ? '0 : used[k]) + U'(job_array == LOG'(k));
        if (job_array == LOG'(k)) slot[k] <= job_opens ? '0 : S'(used[k]);
      end
    end

  // ---- slices of the batch, their pieces, the pieces' points ----
  typedef enum logic [2:0] {IDLE, RANGE, BEGIN, FEED, WAIT} state_t;
  state_t state;
  logic closing1, ends_row, ends_piece, ends_columns, ends_slice, ends, moves, net_busy, net_ready, there, advance;
  logic [7:0] z, slices, batch;
  logic [1:0] waits;
  logic [6:0] y, x, height, width, first;
  logic [W-1:0] y0, x0, at_y, at_x, left_y, left_x;
  assign busy    = begins || state != IDLE || (closing1 && !closing && on && decode);
  assign batch   = nz - {1'b0, first_slice};
  assign left_y  = ny - y0;
  assign left_x  = nx - x0;
  assign height  = left_y < W'(piece_h) ? 7'(left_y) : piece_h;
  assign width   = left_x < W'(piece_w) ? 7'(left_x) : piece_w;
  assign ends_row     = x == width - 7'd1;
  assign ends_piece   = ends_row && y == height - 7'd1;
  assign ends_columns = left_x <= W'(piece_w);
  assign ends_slice   = ends_columns && left_y <= W'(piece_h);
  assign ends         = z + 8'd1 == slices;
  assign advance = !there || net_ready;
  assign i_ready = state == FEED && bytes && net_ready;
  assign moves   = state == FEED && (bytes ? i_valid && net_ready : advance);
  assign slice   = first + z[6:0];
  assign o_slice = slice;
  always_ff @(posedge clk) begin
    closing1 <= closing;
    waits    <= state == RANGE ? waits + 2'd1 : 2'd0;
    cycles   <= clear ? '0 : busy ? cycles + 1'b1 : cycles;
    case (state)
      IDLE:
      if (busy) begin
        state    <= RANGE;
        first    <= alone ? 7'd0 : first_slice;
        slices   <= alone ? nz : batch < 8'd32 ? batch : 8'd32;
        z        <= '0;
        {y0, x0} <= '0;
      end
      RANGE:
      if (waits == 2'd2) begin
        if (bytes || least != largest) state <= BEGIN;
        else begin
          z     <= z + 8'd1;
          state <= ends ? IDLE : RANGE;
          waits <= 2'd0;
        end
      end
      BEGIN: begin
        state  <= FEED;
        {y, x} <= '0;
      end
      FEED:
      if (moves) begin
        x <= ends_row ? '0 : x + 7'd1;
        if (ends_row) y <= y + 7'd1;
        if (ends_piece) state <= WAIT;
      end
      default:
      if (!net_busy) begin
        x0    <= ends_columns ? '0 : x0 + W'(piece_w);
        if (ends_columns) y0 <= ends_slice ? '0 : y0 + W'(piece_h);
        if (ends_slice) z <= z + 8'd1;
        state <= !ends_slice ? BEGIN : ends ? IDLE : RANGE;
      end
    endcase
    if (rst || clear) state <= IDLE;
  end

  // ---- FIFO2: memories ----
  logic [B-1:0] block, across;
  logic [LOG-1:0] from, from1;
  logic [S-1:0] slot_there;
  logic [31:0] value[M];
  assign at_y   = y0 + W'(y);
  assign at_x   = x0 + W'(x);
  assign across = B'((nx + W'(31)) >> 5);
  assign block  = B'(at_y >> 5) * across + B'(at_x >> 5);
  assign {from, slot_there} = places[block];
  always_ff @(posedge clk) begin
    if (advance) begin
      there <= state == FEED && !bytes;
      from1 <= from;
    end
    if (rst || clear) there <= 1'b0;
  end
  generate
    for (genvar k = 0; k < M; k++) begin : fifo2
      ceaz_memory #(
          .W(32),
          .DEPTH(SLOTS << 15)
      ) memory (
          .clk,
          .write(f_valid[k] && on),
          .write_at(($clog2(SLOTS) + 15)'({slot[k], f_place[15*k+:15]})),
          .write_data(f_value[32*k+:32]),
          .read(advance),
          .read_at(($clog2(SLOTS) + 15)'({slot_there, z[4:0], at_y[4:0], at_x[4:0]})),
          .read_data(value[k])
      );
    end
  endgenerate

  logic [31:0] piece_cycles;
  flare_net #(
      .P(P)
  ) net (
      .clk,
      .rst(rst || clear),
      .weight_write,
      .bias_write,
      .write_at(bias_write ? bias_at : weight_at),
      .write_weight(weight),
      .write_bias(bias),
      .shifts,
      .start(state == BEGIN),
      .least,
      .largest,
      .height,
      .width,
      .bytes,
      .beside,
      .busy(net_busy),
      .s_value(bytes ? {24'b0, i_byte} : value[from1]),
      .s_valid(bytes ? state == FEED && i_valid : there),
      .s_ready(net_ready),
      .m_value(o_value),
      .m_valid(o_valid),
      .m_ready(o_ready),
      .cycles(piece_cycles)
  );
  logic unused;
  assign unused = &{1'b0, piece_cycles, reg_data[31:20], reg_data[7]};
endmodule

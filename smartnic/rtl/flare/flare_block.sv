// flare_block.sv - a block of up to 32^3 points: its memory, the way through it, and an array (format.md 1.6). First
// the points come in that coarser levels have made, row by row. Then, in the order of codes, a value (or a code) of
// each other point goes in, and a code and a value come out, a point a cycle.
//
// The four points of a direction lie in four memories: a point's memory is the sum of its halved coordinates modulo 4.
// So along each axis the next known point lies in the next memory.
module flare_block (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic        decode,
    input  logic [17:0] count,    // points along z, y, x, 6 bits each, x lowest; 1 to 32
    output logic        idle,
    output logic        runs,     // predicts: to be counted
    // It asks for the place of a known point, whose value comes a cycle after it was taken.
    output logic [14:0] k_at,
    output logic        k_valid,
    input  logic        k_ready,
    input  logic [31:0] k_data,
    output logic        k_comes,  // that it is there, and its place in the block
    output logic [14:0] k_place,
    input  logic [31:0] s_data,
    input  logic        s_none,   // has no value
    input  logic        s_valid,
    output logic        s_ready,
    output logic        s_last,   // of the block
    output logic [14:0] m_at,     // z, y, x in the block
    output logic [31:0] m_code,
    output logic [31:0] m_value,
    output logic        m_last,
    output logic        m_valid,
    input  logic        m_ready
);
  localparam int STAGES = 7;  // from a point's address to its code
  typedef enum logic [2:0] {IDLE, LOAD, LOADED, RUN, DRAIN} state_t;
  state_t state;

  // ---- the way: at[0] is x ----
  logic [17:0] n;
  logic [4:0] at[3], first[3], next[3];
  logic [5:0] step[3];
  logic [1:0] axis;
  logic last, moves, go, decodes;
  always_comb begin
    for (int i = 0; i < 3; i++) begin
      first[i] = state == RUN && 2'(i) == axis ? 5'd1 : 5'd0;
      step[i]  = state == LOAD || 2'(i) >= axis ? 6'd2 : 6'd1;
    end
    last = 1'b1;
    for (int i = 0; i < 3; i++) begin
      next[i] = at[i];
      if (last) begin
        last    = {1'b0, at[i]} + step[i] >= n[6*i+:6];
        next[i] = last ? first[i] : at[i] + step[i][4:0];
      end
    end
  end
  // The next direction that has points, from this one on.
  function automatic logic [1:0] direction(input logic [1:0] from, input logic [17:0] points);
    direction = 2'd3;
    for (int i = 2; i >= 0; i--)
      if (2'(i) >= from && points[6*i+:6] > 6'd1) direction = 2'(i);
  endfunction
  logic [1:0] later;
  logic [STAGES-1:0] valid;
  logic begins;
  assign later = direction(axis + 2'd1, n);
  assign idle  = state == IDLE;
  assign runs  = state == RUN || state == DRAIN;
  assign k_valid = state == LOAD;
  assign s_ready = state == RUN && go;
  assign s_last  = last && later == 2'd3;
  assign moves = state == LOAD ? k_ready : s_valid && s_ready;
  assign begins = state == DRAIN && valid == '0;
  always_ff @(posedge clk) begin
    if (moves) for (int i = 0; i < 3; i++) at[i] <= next[i];
    case (state)
      IDLE:
      if (start) begin
        n       <= count;
        decodes <= decode;
        axis    <= 2'd3;
        state   <= LOAD;
        for (int i = 0; i < 3; i++) at[i] <= 5'd0;
      end
      LOAD: if (moves && last) state <= LOADED;
      LOADED: begin
        axis  <= direction(2'd0, n);
        state <= direction(2'd0, n) == 2'd3 ? IDLE : RUN;
        for (int i = 0; i < 3; i++) at[i] <= 2'(i) == direction(2'd0, n) ? 5'd1 : 5'd0;
      end
      RUN: if (moves && last) state <= DRAIN;
      default:
      if (begins) begin
        axis  <= later;
        state <= later == 2'd3 ? IDLE : RUN;
        for (int i = 0; i < 3; i++) at[i] <= 2'(i) == later ? 5'd1 : 5'd0;
      end
    endcase
    if (rst) state <= IDLE;
  end

  // ---- from an address to a code ----
  logic [14:0] place[STAGES];
  logic [STAGES-1:0] lasts;
  assign go = !m_valid || m_ready;
  always_ff @(posedge clk) begin
    if (go) begin
      valid    <= {valid[STAGES-2:0], state == RUN && s_valid};
      lasts    <= {lasts[STAGES-2:0], last && later == 2'd3};
      place[0] <= {at[2], at[1], at[0]};
      for (int k = 1; k < STAGES; k++) place[k] <= place[k-1];
    end
    if (rst) valid <= '0;
  end
  assign m_valid = valid[STAGES-1];
  assign m_last  = lasts[STAGES-1];

  // ---- memories ----
  // The number of the memory, from the halved coordinates; and the place in it, from all bits except the two that tell
  // the memory.
  function automatic logic [1:0] bank_of(input logic [1:0] z, input logic [1:0] y, input logic [1:0] x);
    bank_of = z + y + x;
  endfunction
  logic [14:0] here, put_at, came_at;
  logic [31:0] put;
  logic puts;
  assign here    = {at[2], at[1], at[0]};
  assign k_at    = here;
  assign k_place = came_at;
  assign m_at    = place[STAGES-1];
  assign puts    = k_comes || (m_valid && m_ready);
  assign put_at  = k_comes ? came_at : m_at;
  assign put     = k_comes ? k_data : m_value;
  always_ff @(posedge clk) begin
    k_comes <= state == LOAD && k_ready;
    came_at <= here;
  end

  // Point k of the four, at -3, -1, 1, 3. Outside points read anything.
  logic [14:0] point[4];
  logic [2:0] has;
  logic [5:0] along, length;
  always_comb begin
    along  = {1'b0, axis == 2'd2 ? at[2] : axis == 2'd1 ? at[1] : at[0]};
    length = axis == 2'd2 ? n[17:12] : axis == 2'd1 ? n[11:6] : n[5:0];
    has    = {along + 6'd3 < length, along + 6'd1 < length, along >= 6'd3};
    for (int k = 0; k < 4; k++) begin
      point[k] = here;
      case (axis)
        2'd0: point[k][4:0] = at[0] + 5'(2 * k) - 5'd3;
        2'd1: point[k][9:5] = at[1] + 5'(2 * k) - 5'd3;
        default: point[k][14:10] = at[2] + 5'(2 * k) - 5'd3;
      endcase
    end
  end
  logic [1:0] turn, turn1;
  logic [2:0] has1;
  logic [31:0] bank_out[4], tap[4];
  assign turn = bank_of(point[0][12:11], point[0][7:6], point[0][2:1]);
  generate
    for (genvar b = 0; b < 4; b++) begin : bank
      logic [1:0] k;
      assign k = 2'(b) - turn;
      ceaz_memory #(
          .W(32),
          .DEPTH(8192)
      ) memory (
          .clk,
          .write(puts && bank_of(put_at[12:11], put_at[7:6], put_at[2:1]) == 2'(b)),
          .write_at({put_at[14:3], put_at[0]}),
          .write_data(put),
          .read(go),
          .read_at({point[k][14:3], point[k][0]}),
          .read_data(bank_out[b])
      );
      assign tap[b] = bank_out[turn1+2'(b)];
    end
  endgenerate
  logic [32:0] fresh;
  always_ff @(posedge clk)
    if (go) begin
      turn1 <= turn;
      has1  <= has;
      fresh <= {s_none, s_data};
    end

  flare_array array (
      .clk,
      .go,
      .decode(decodes),
      .has(has1),
      .a(tap[0]),
      .b(tap[1]),
      .c(tap[2]),
      .d(tap[3]),
      .value(fresh[31:0]),
      .none(fresh[32]),
      .m_code,
      .m_value
  );
endmodule

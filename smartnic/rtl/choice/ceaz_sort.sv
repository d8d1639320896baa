// ceaz_sort.sv - symbols that occur, approximately sorted, the rarest first (CEAZ 3.2.1, Algorithm 1). Counts fall to
// both sides of the residual 0. So the unit compares only the two symbols at the same distance from it with each other,
// from the outermost pair inwards. It merges in the runs, whose counts fall with their length, and the escape. The
// order is the codec's (ZMPI_SORT_APPROXIMATE). It takes about four cycles for each symbol.
module ceaz_sort (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    output logic        done,
    // The histogram, which answers two cycles later.
    output logic [ 9:0] ask,
    input  logic [31:0] count,
    // Items, in order.
    output logic        m_valid,
    output logic [ 9:0] m_symbol,
    output logic [31:0] m_count
);
  localparam logic [9:0] RUNS = 10'd976, ESCAPE = 10'd997, ZERO = 10'd16;

  typedef enum logic [2:0] {IDLE, FETCH, BELOW, ABOVE, RUN, MERGE, TAIL} state_t;
  state_t state, back;
  logic [8:0] distance;  // distance of the pair from the middle
  logic [9:0] below, above, run;
  logic [31:0] below_count, above_count, run_count, fetched, taken_count;
  logic [1:0] wait_for;
  logic second, first, last_pair, runs_left;
  logic [9:0] taken;

  // Residuals -1-d and d up to 16; beyond, eight classes on each side.
  logic [8:0] outer;
  assign outer = distance - 9'd16;
  always_comb begin
    if (distance < 9'd16) begin
      below = {1'b0, 9'd15 - distance};
      above = {1'b0, 9'd16 + distance};
    end else begin
      below = 10'd32 + {outer[8:3], 4'b0} + {6'b0, 1'b1, ~outer[2:0]};
      above = 10'd32 + {outer[8:3], 4'b0} + {7'b0, outer[2:0]};
    end
  end
  // Both of these occur at least once.
  assign fetched = count == 32'd0 && (ask == ZERO || ask == ESCAPE) ? 32'd1 : count;
  assign first = above_count < below_count;
  assign taken = second != first ? above : below;
  assign taken_count = second != first ? above_count : below_count;
  assign last_pair = distance == 9'd0;
  assign runs_left = run >= RUNS;

  always_ff @(posedge clk) begin
    m_valid <= 1'b0;
    done    <= 1'b0;
    case (state)
      IDLE:
      if (start) begin
        distance <= 9'd487;
        run      <= ESCAPE;
        ask      <= ESCAPE;
        wait_for <= 2'd2;
        state    <= FETCH;
        back     <= RUN;
      end
      FETCH: begin
        wait_for <= wait_for - 2'd1;
        if (wait_for == 2'd0) state <= back;
      end
      RUN: begin  // the next run's count; then a pair, if there is none yet
        run_count <= fetched;
        if (run == ESCAPE) begin
          ask      <= below;
          wait_for <= 2'd2;
          state    <= FETCH;
          back     <= BELOW;
        end else state <= distance == 9'd488 ? TAIL : MERGE;
      end
      BELOW: begin
        below_count <= fetched;
        ask         <= above;
        wait_for    <= 2'd2;
        state       <= FETCH;
        back        <= ABOVE;
      end
      ABOVE: begin
        above_count <= fetched;
        second      <= 1'b0;
        state       <= MERGE;
      end
      MERGE:
      if (taken_count != 32'd0 && runs_left && run_count <= taken_count) begin
        m_valid  <= run_count != 32'd0;
        m_symbol <= run;
        m_count  <= run_count;
        run      <= run - 10'd1;
        ask      <= run - 10'd1;
        wait_for <= 2'd2;
        state    <= FETCH;
        back     <= RUN;
      end else begin
        m_valid  <= taken_count != 32'd0;
        m_symbol <= taken;
        m_count  <= taken_count;
        second   <= 1'b1;
        if (second) begin
          second   <= 1'b0;
          distance <= last_pair ? 9'd488 : distance - 9'd1;  // 488: there are no more pairs
          back     <= BELOW;
          wait_for <= 2'd3;
          state    <= last_pair ? TAIL : FETCH;
        end
      end
      default:  // TAIL: the remaining runs
      if (!runs_left) begin
        done  <= 1'b1;
        state <= IDLE;
      end else begin
        m_valid  <= run_count != 32'd0;
        m_symbol <= run;
        m_count  <= run_count;
        run      <= run - 10'd1;
        ask      <= run - 10'd1;
        wait_for <= 2'd2;
        state    <= FETCH;
        back     <= RUN;
      end
    endcase
    // The next pair's first symbol is known a cycle after its distance.
    if (state == FETCH && wait_for == 2'd3) ask <= below;
    if (rst) state <= IDLE;
  end
endmodule

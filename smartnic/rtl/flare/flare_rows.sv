// flare_rows.sv - packs codes, which come 1 to 4 at a time, into rows of four; the last row of a batch may have fewer.
// Codes that do not fit go out one after the other.
module flare_rows (
    input  logic         clk,
    input  logic         rst,
    input  logic [127:0] total,     // codes of each batch
    input  logic [  2:0] s_count,
    input  logic [ 31:0] s_code,
    input  logic [  3:0] s_escape,
    input  logic [ 95:0] s_value,
    input  logic         s_valid,
    output logic         s_ready,
    output logic [ 31:0] m_row,
    output logic         m_valid,
    input  logic         m_ready,
    output logic [ 23:0] e_code,
    output logic         e_valid,
    input  logic         e_ready
);
  // ---- escapes: a row waits until all its own are out ----
  logic [3:0] gone, to_go;
  logic [1:0] first;
  logic takes;
  always_comb begin
    to_go = s_escape & ~gone & ~(4'hF << s_count);
    first = 2'd0;
    for (int i = 3; i >= 0; i--) if (to_go[i]) first = 2'(i);
  end
  assign e_code  = s_value[24*first+:24];
  assign e_valid = s_valid && to_go != 4'b0;
  always_ff @(posedge clk) begin
    if (e_valid && e_ready) gone[first] <= 1'b1;
    if (takes || rst) gone <= 4'b0;
  end

  // ---- rows ----
  logic [1:0] batch;
  logic [31:0] put, length;   // codes of the batch: in rows, all
  logic [55:0] held, rest;    // codes that have come, up to seven
  logic [2:0] pending, left;
  logic [31:0] come;
  logic ends, row;
  assign length  = total[32*batch+:32];
  assign ends    = put + {29'b0, pending} >= length;
  assign m_row   = held[31:0];
  assign m_valid = pending >= 3'd4 || (ends && pending != 3'd0);
  assign row     = m_valid && m_ready;
  assign s_ready = to_go == 4'b0 && !ends && (pending < 3'd4 || m_ready);
  assign takes   = s_valid && s_ready;
  assign come    = s_code & ~(32'hFFFF_FFFF << {s_count, 3'b0});
  assign rest    = row ? held >> 32 : held;
  assign left    = !row ? pending : pending >= 3'd4 ? pending - 3'd4 : 3'd0;
  always_ff @(posedge clk) begin
    held    <= takes ? rest | {24'b0, come} << {left[1:0], 3'b0} : rest;
    pending <= takes ? left + s_count : left;
    if (row) put <= put + {29'b0, pending >= 3'd4 ? 3'd4 : pending};
    if (ends && pending == 3'd0 && batch != 2'd3) begin
      put   <= '0;
      batch <= batch + 2'd1;
    end
    if (rst) begin
      held    <= '0;
      pending <= '0;
      put     <= '0;
      batch   <= '0;
    end
  end
endmodule

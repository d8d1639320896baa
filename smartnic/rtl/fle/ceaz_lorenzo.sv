// ceaz_lorenzo.sv - the differences along z, y and x (format.md 1.2, 4.6: the Lorenzo predictor), in five stages, one
// beat a cycle. Along x alone they go on from one row to the next.
//
// Rows need not be whole beats: each lane counts its place in its row and in its plane. A lane's counts start at its
// number, modulo the row and the plane. If these are longer than a beat, that takes no time; otherwise `ready` comes N
// + 1 cycles after `shape`.
module ceaz_lorenzo #(
    parameter int N = 4
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            shape,   // row, plane and axes belong to the next chunk
    input  logic [    13:0] row,     // words, at least 1
    input  logic [    13:0] plane,
    input  logic [     2:0] axes,
    output logic            ready,
    input  logic            valid,
    input  logic            first,
    input  logic [32*N-1:0] x,
    output logic [32*N-1:0] r,
    output logic            r_valid
);
  localparam logic [6:0] LANES = 7'(N);

  // ---- places of the lanes in the first beat, and their step from beat to beat ----
  logic [14*N-1:0] row_start, plane_start;
  logic [13:0] row_step, plane_step;
  logic [6:0] lane;
  logic simple;
  assign simple = row > {7'b0, LANES};
  always_ff @(posedge clk) begin
    if (shape) begin
      lane       <= 7'b0;
      ready      <= simple;
      row_step   <= simple ? {7'b0, LANES} : 14'b0;
      plane_step <= simple ? {7'b0, LANES} : 14'b0;
      for (int i = 0; i < N; i++) begin
        row_start[14*i+:14]   <= 14'(i);
        plane_start[14*i+:14] <= 14'(i);
      end
    end else if (!ready) begin
      lane  <= lane + 7'd1;
      ready <= lane == LANES - 7'd1;
      for (int i = 0; i < N; i++)
      if (lane == 7'(i)) begin
        row_start[14*i+:14]   <= row_step;
        plane_start[14*i+:14] <= plane_step;
      end
      row_step   <= row_step + 14'd1 == row ? 14'd0 : row_step + 14'd1;
      plane_step <= plane_step + 14'd1 == plane ? 14'd0 : plane_step + 14'd1;
    end
    if (rst) ready <= 1'b0;
  end

  // ---- where the beat's elements are ----
  logic [14*N-1:0] in_row, in_plane;
  logic [N-1:0] has_z, has_y, has_x, later_planes;
  always_comb
    for (int i = 0; i < N; i++) begin
      logic [13:0] a, b;
      a = first ? row_start[14*i+:14] : in_row[14*i+:14];
      b = first ? plane_start[14*i+:14] : in_plane[14*i+:14];
      has_x[i] = axes == 3'b001 ? !first || i != 0 : axes[0] && a != 14'd0;
      has_y[i] = axes[1] && b >= row;
      // Is it behind the first plane? In a beat with several planes, elements before a plane's start may be, too.
      has_z[i] = axes[2] && (first ? 14'(i) >= plane : later_planes[i]);
    end
  always_ff @(posedge clk)
    if (valid)
      for (int i = 0; i < N; i++) begin
        logic [13:0] a, b;
        logic [14:0] c, d;
        a = first ? row_start[14*i+:14] : in_row[14*i+:14];
        b = first ? plane_start[14*i+:14] : in_plane[14*i+:14];
        c = {1'b0, a} + {1'b0, row_step};
        d = {1'b0, b} + {1'b0, plane_step};
        in_row[14*i+:14] <= c >= {1'b0, row} ? c[13:0] - row : c[13:0];
        in_plane[14*i+:14] <= d >= {1'b0, plane} ? d[13:0] - plane : d[13:0];
        // A plane is shorter than the step only if the step crosses several planes; those are behind the first one.
        later_planes[i] <= (first ? 14'(i) >= plane : later_planes[i]) || d >= {1'b0, plane} ||
            plane <= {7'b0, LANES};
      end

  // ---- z, y, x ----
  logic [32*N-1:0] along_z, along_y;
  logic [N-1:0] y1, y2, x1, x2, x3, x4;
  logic v1, v2, v3, v4;
  ceaz_delay #(
      .N(N)
  ) along_planes (
      .clk,
      .valid,
      .distance(plane[12:0]),
      .x,
      .use_it(has_z),
      .y(along_z)
  );
  ceaz_delay #(
      .N(N),
      .DEPTH(512)
  ) along_rows (
      .clk,
      .valid(v2),
      .distance(row[12:0]),
      .x(along_z),
      .use_it(y2),
      .y(along_y)
  );
  logic [31:0] lower;
  always_ff @(posedge clk) begin
    {v4, v3, v2, v1} <= {v3, v2, v1, valid};
    r_valid          <= v4;
    y1 <= has_y;
    y2 <= y1;
    x1 <= has_x;
    x2 <= x1;
    x3 <= x2;
    x4 <= x3;
    if (v4) lower <= along_y[32*(N-1)+:32];
    r[31:0] <= along_y[31:0] - (x4[0] ? lower : 32'b0);
    for (int i = 1; i < N; i++)
    r[32*i+:32] <= along_y[32*i+:32] - (x4[i] ? along_y[32*(i-1)+:32] : 32'b0);
    if (rst) {r_valid, v4, v3, v2, v1} <= 5'b0;
  end
endmodule

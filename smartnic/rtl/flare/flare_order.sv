// flare_order.sv - the blocks of a chunk in look-ahead order (FLARE 3.1, format.md 1.6): a level's slab, then, down to
// level 1, the blocks in its lower half, then those in its upper half.
module flare_order #(
    parameter int W = 16  // bits of an extent
) (
    input  logic           clk,
    input  logic           rst,
    input  logic           start,
    input  logic [    7:0] nz,      // 1 to 128
    input  logic [  W-1:0] ny,
    input  logic [  W-1:0] nx,
    output logic           busy,
    output logic           valid,
    output logic           opens,   // the first block of a slab, which needs all earlier blocks
    output logic [    1:0] shift,   // of the level's stride
    output logic [3*W-1:0] at,      // z, y, x of the first point, x lowest
    output logic [   17:0] count,   // points, 6 bits each
    input  logic           ready
);
  logic [2:0] slab;
  logic [W-1:0] y, x, side;
  logic [7:0] z;
  // Of the seven slabs of 128 planes.
  always_comb begin
    case (slab)
      3'd0: {shift, z} = {2'd2, 8'd0};
      3'd1: {shift, z} = {2'd1, 8'd0};
      3'd2: {shift, z} = {2'd0, 8'd0};
      3'd3: {shift, z} = {2'd0, 8'd32};
      3'd4: {shift, z} = {2'd1, 8'd64};
      3'd5: {shift, z} = {2'd0, 8'd64};
      default: {shift, z} = {2'd0, 8'd96};
    endcase
    side = W'(32) << shift;
  end
  // Points from `from` on, of every 2^by-th, at most 32.
  function automatic logic [5:0] points(input logic [W-1:0] n, input logic [W-1:0] from, input logic [1:0] by);
    logic [W-1:0] left;
    left   = (n - from - 1'b1) >> by;
    points = left > W'(31) ? 6'd32 : left[5:0] + 6'd1;
  endfunction
  logic there, ends_row, ends_slab;
  assign there     = z < nz;
  assign valid     = busy && there;
  assign opens     = y == '0 && x == '0;
  assign at        = {W'(z), y, x};
  assign count     = {points(W'(nz), W'(z), shift), points(ny, y, shift), points(nx, x, shift)};
  assign ends_row  = nx - x <= side;
  assign ends_slab = ends_row && ny - y <= side;
  always_ff @(posedge clk) begin
    if (start) begin
      busy <= 1'b1;
      slab <= 3'd0;
      y    <= '0;
      x    <= '0;
    end else if (busy && (!there || ready)) begin
      x <= ends_row || !there ? '0 : x + side;
      if (there && ends_row) y <= ends_slab ? '0 : y + side;
      if (!there || ends_slab) begin
        slab <= slab + 3'd1;
        if (slab == 3'd6) busy <= 1'b0;
      end
    end
    if (rst) busy <= 1'b0;
  end
endmodule

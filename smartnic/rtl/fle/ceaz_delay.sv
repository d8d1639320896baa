// ceaz_delay.sv - subtracts from each element the one `distance` before it, where `use` says so: the difference along
// one axis (format.md 4.6). Two stages, one beat a cycle. DEPTH makes it a line buffer or a plane buffer.
//
// With distance = a N + b the words lie in two beats, which came a and a + 1 beats ago. One is read from the buffer,
// the other was read the cycle before; a shift takes the words out of both.
module ceaz_delay #(
    parameter int N = 4,
    parameter int DEPTH = 8192  // words; the distance is smaller
) (
    input  logic            clk,
    input  logic            valid,
    input  logic [    12:0] distance,
    input  logic [32*N-1:0] x,
    input  logic [   N-1:0] use_it,
    output logic [32*N-1:0] y
);
  localparam int ROWS = DEPTH / N;
  localparam int RA = $clog2(ROWS);
  localparam int LOG = $clog2(N);

  logic [12:0] beats;
  logic [6:0] rest, back;
  assign beats = distance >> LOG;
  assign rest  = distance[6:0] & 7'(N - 1);
  assign back  = 7'(N) - rest;

  logic [RA-1:0] at;
  logic [32*N-1:0] stored;
  ceaz_memory #(
      .W(32 * N),
      .DEPTH(ROWS)
  ) memory (
      .clk,
      .write(valid),
      .write_at(at),
      .write_data(x),
      .read(valid),
      .read_at(at - beats[RA-1:0]),
      .read_data(stored)
  );

  logic [32*N-1:0] x1;
  logic [N-1:0] use1;
  logic valid1, here;
  always_ff @(posedge clk) begin
    if (valid) begin
      at <= at + 1'b1;
      x1 <= x;
    end
    use1   <= use_it;
    valid1 <= valid;
    here   <= beats == 13'b0;
  end

  logic [32*N-1:0] later, earlier;
  logic [64*N-1:0] both;
  assign later = here ? x1 : stored;
  assign both  = {later, earlier} >> {back, 5'b0};
  always_ff @(posedge clk) begin
    if (valid1) earlier <= later;
    for (int i = 0; i < N; i++)
    y[32*i+:32] <= x1[32*i+:32] - (use1[i] ? both[32*i+:32] : 32'b0);
  end
  // The upper half of the shift is not needed.
  logic unused;
  assign unused = &{1'b0, both[64*N-1:32*N], beats[12:RA-1]};
endmodule

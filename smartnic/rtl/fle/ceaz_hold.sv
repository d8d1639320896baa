// ceaz_hold.sv - integers minus `base`, the first integer that belongs to no exception. An exception takes the integer
// of the last element before it that is none (format.md 4.5). Two stages, one beat a cycle.
module ceaz_hold #(
    parameter int N = 4
) (
    input  logic            clk,
    input  logic            valid,
    input  logic            first,   // beat of a chunk
    input  logic [32*N-1:0] q,
    input  logic [   N-1:0] ok,
    output logic [32*N-1:0] d,
    output logic [    31:0] base     // after the chunk's last beat
);
  localparam int LOG = $clog2(N);

  // 1: within the beat: the last element up to each that is ok, by a scan of log2 N steps; and the first one.
  logic [32*N-1:0] scan;
  logic [N-1:0] any;
  logic [31:0] head;
  always_comb begin
    logic [32*N-1:0] lower;
    logic [   N-1:0] known;
    scan = q;
    any  = ok;
    for (int s = 0; s < LOG; s++) begin
      lower = scan << (32 << s);
      known  = any << (1 << s);
      for (int i = 0; i < N; i++) if (!any[i]) scan[32*i+:32] = lower[32*i+:32];
      any = any | known;
    end
    head = q[31:0];
    for (int i = N - 1; i >= 0; i--) if (ok[i]) head = q[32*i+:32];
  end
  logic [32*N-1:0] scan1;
  logic [N-1:0] any1;
  logic [31:0] head1;
  logic valid1, first1;
  always_ff @(posedge clk) begin
    scan1  <= scan;
    any1   <= any;
    head1  <= head;
    valid1 <= valid;
    first1 <= first;
  end

  // 2: from beat to beat. Elements before the first that is ok are base, so 0 here.
  logic begun, begun_now;
  logic [31:0] carry, base_now;
  assign begun_now = begun && !first1;
  assign base_now  = begun_now ? base : head1;
  always_ff @(posedge clk) begin
    if (valid1) begin
      begun <= begun_now || any1[N-1];
      base  <= base_now;
      if (any1[N-1]) carry <= scan1[32*(N-1)+:32];
    end
    for (int i = 0; i < N; i++)
    if (any1[i]) d[32*i+:32] <= scan1[32*i+:32] - base_now;
    else d[32*i+:32] <= begun_now ? carry - base : 32'b0;
  end
endmodule

// ceaz_compact.sv - moves those words of a beat together that a mask names, lowest first (a vector's compress
// operation). Word i moves down by the number of gaps below it, a power of two at a time. It has no stage: the caller
// has the registers.
module ceaz_compact #(
    parameter int N = 4
) (
    input  logic [32*N-1:0] words,
    input  logic [   N-1:0] mask,
    output logic [32*N-1:0] out,
    output logic [     6:0] count
);
  localparam int LOG = $clog2(N);
  always_comb begin
    logic [7*N-1:0] down;
    logic [6:0] gaps;
    gaps = 7'd0;
    down = '0;
    for (int i = 0; i < N; i++) begin
      down[7*i+:7] = mask[i] ? gaps : 7'd0;
      gaps += {6'b0, !mask[i]};
    end
    count = 7'(N) - gaps;
    out   = words;
    for (int i = 0; i < N; i++) if (!mask[i]) out[32*i+:32] = 32'b0;
    for (int s = 0; s < LOG; s++)
      for (int i = 0; i + (1 << s) < N; i++)
      if (down[7*(i+(1<<s))+s]) begin
        out[32*i+:32] = out[32*(i+(1<<s))+:32];
        down[7*i+:7] = down[7*(i+(1<<s))+:7];
        out[32*(i+(1<<s))+:32] = 32'b0;
        down[7*(i+(1<<s))+:7] = 7'd0;
      end
  end
endmodule

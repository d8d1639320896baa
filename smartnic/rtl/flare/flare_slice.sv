// flare_slice.sv - the least and the largest decoded value of each slice, while arrays make them (FLARE 3.2). Each
// array has its own numbers for the 32 slices of a batch. When all are done, these are put together, a slice a cycle.
module flare_slice #(
    parameter int M = 4
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            clear,    // a batch begins
    input  logic [   M-1:0] valid,
    input  logic [ 5*M-1:0] slice,
    input  logic [32*M-1:0] value,
    input  logic            close,    // a batch ended
    input  logic [     6:0] first,    // slice of the chunk
    output logic            closing,
    input  logic [     6:0] ask,      // answered a cycle later
    output logic [    31:0] least,
    output logic [    31:0] largest
);
  logic [4:0] at;
  logic [63:0] of[M];
  logic [M-1:0] seen;
  always_ff @(posedge clk) begin
    if (close) begin
      closing <= 1'b1;
      at      <= 5'd0;
    end else if (closing) begin
      at <= at + 5'd1;
      if (at == 5'd31) closing <= 1'b0;
    end
    if (rst) closing <= 1'b0;
  end
  generate
    for (genvar k = 0; k < M; k++) begin : array
      logic [63:0] both[32];  // read in the same cycle: a small memory of look-up tables
      logic [31:0] there;
      logic [4:0] which;
      logic [31:0] v, low, high;
      assign which = closing ? at : slice[5*k+:5];
      assign v     = value[32*k+:32];
      assign {high, low} = both[which];
      assign of[k]   = both[which];
      assign seen[k] = there[which];
      always_ff @(posedge clk) begin
        if (valid[k]) begin
          both[which][31:0]  <= !there[which] || $signed(v) < $signed(low) ? v : low;
          both[which][63:32] <= !there[which] || $signed(v) > $signed(high) ? v : high;
          there[which]       <= 1'b1;
        end
        if (clear) there <= '0;
      end
    end
  endgenerate
  logic [31:0] low, high;
  always_comb begin
    low  = 32'h7FFFFFFF;
    high = 32'h80000000;
    for (int k = 0; k < M; k++)
      if (seen[k]) begin
        if ($signed(of[k][31:0]) < $signed(low)) low = of[k][31:0];
        if ($signed(of[k][63:32]) > $signed(high)) high = of[k][63:32];
      end
  end
  ceaz_memory #(
      .W(64),
      .DEPTH(128)
  ) memory (
      .clk,
      .write(closing),
      .write_at(first + {2'b0, at}),
      .write_data({high, low}),
      .read(1'b1),
      .read_at(ask),
      .read_data({largest, least})
  );
endmodule

// ceaz_histogram.sv - counts how often each symbol occurs: four symbols a cycle. Each stream has counts of its own
// (CEAZ 3.2: replicated), because two symbols of a cycle may be the same. A read adds them and answers two cycles
// later, while nothing is counted.
module ceaz_histogram (
    input  logic        clk,
    input  logic        rst,
    input  logic        clear,      // 1024 cycles
    output logic        clearing,
    input  logic [39:0] symbol,
    input  logic [ 3:0] valid,
    input  logic        load,       // a count to load, after a clear
    input  logic [ 9:0] load_at,
    input  logic [31:0] load_count,
    input  logic [ 9:0] ask,
    output logic [31:0] count
);
  logic [9:0] at;
  always_ff @(posedge clk) begin
    if (clear) clearing <= 1'b1;
    else if (at == 10'd1023) clearing <= 1'b0;
    at <= clearing ? at + 10'd1 : 10'd0;
    if (rst) clearing <= 1'b0;
  end

  logic [127:0] each;
  generate
    for (genvar k = 0; k < 4; k++) begin : stream
      logic [9:0] at1, last_at;
      logic valid1, last_valid;
      logic [31:0] stored, last_value, value;
      // This read was too early for what the cycle before wrote.
      assign value = (last_valid && last_at == at1 ? last_value : stored) + 32'd1;
      always_ff @(posedge clk) begin
        valid1     <= valid[k] && !rst;
        at1        <= valid[k] ? symbol[10*k+:10] : ask;
        last_valid <= valid1;
        last_at    <= at1;
        last_value <= value;
      end
      ceaz_memory #(
          .W(32),
          .DEPTH(1024)
      ) memory (
          .clk,
          .write(valid1 || clearing || (load && k == 0)),
          .write_at(load ? load_at : clearing ? at : at1),
          .write_data(load ? load_count : clearing ? 32'd0 : value),
          .read(1'b1),
          .read_at(valid[k] ? symbol[10*k+:10] : ask),
          .read_data(stored)
      );
      assign each[32*k+:32] = stored;
    end
  endgenerate
  always_ff @(posedge clk) count <= each[31:0] + each[63:32] + each[95:64] + each[127:96];
endmodule

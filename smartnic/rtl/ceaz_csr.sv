// ceaz_csr.sv - the registers, by AXI-Lite (docs/rtl.md lists them). The job may be written while the engine is idle only.
module ceaz_csr #(
    parameter int N = 4
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [13:0] awaddr,
    input  logic        awvalid,
    output logic        awready,
    input  logic [31:0] wdata,
    input  logic        wvalid,
    output logic        wready,
    output logic [ 1:0] bresp,
    output logic        bvalid,
    input  logic        bready,
    input  logic [13:0] araddr,
    input  logic        arvalid,
    output logic        arready,
    output logic [31:0] rdata,
    output logic [ 1:0] rresp,
    output logic        rvalid,
    input  logic        rready,
    // The job.
    output logic        is_float,
    output logic [ 2:0] axes,
    output logic [ 1:0] levels,
    output logic [95:0] step,
    output logic [95:0] inverse,
    output logic [92:0] limit,
    output logic [92:0] reach,
    output logic        huffman,
    output logic        counting,
    // Codes of books: bank, symbol; length, code.
    output logic        book_write,
    output logic [10:0] book_at,
    output logic [15:0] book_code,
    // The histogram and the builder: commands, counts to be loaded, and what is asked for, three cycles later.
    output logic        clear,
    output logic        build,
    output logic        build_bank,
    output logic        build_exact,
    output logic        load,
    output logic [ 9:0] ask,
    input  logic        building,
    input  logic [31:0] count,
    input  logic [ 3:0] length,
    // What is counted.
    input  logic        busy,
    input  logic        bad,
    input  logic [13:0] saving,  // words, by encoder 2
    input  logic        beat_in,
    input  logic        beat_out,
    input  logic        chunk_out
);
  localparam logic [31:0] MAGIC = 32'h5A41_4543;  // CEAZ
  localparam logic [31:0] VERSION = 32'd1;

  logic failed;
  logic [31:0] beats_in, beats_out, chunks, cycles, saved;

  // ---- writing ----
  logic write;
  assign write   = awvalid && wvalid && (!bvalid || bready);
  assign awready = write;
  assign wready  = write;
  assign bresp   = 2'b00;
  assign book_write = write && awaddr[13];
  assign book_at    = awaddr[12:2];
  assign book_code  = wdata[15:0];
  assign load       = write && awaddr[13:12] == 2'b01;
  always_ff @(posedge clk) begin
    if (bready) bvalid <= 1'b0;
    clear <= 1'b0;
    build <= 1'b0;
    saved <= saved + {18'b0, saving};
    if (beat_in) beats_in <= beats_in + 32'd1;
    if (beat_out) beats_out <= beats_out + 32'd1;
    if (chunk_out) chunks <= chunks + 32'd1;
    if (busy) cycles <= cycles + 32'd1;
    if (bad) failed <= 1'b1;
    if (write) begin
      bvalid <= 1'b1;
      case (awaddr)
        14'h010: begin  // status: any write clears it and the counters
          failed    <= 1'b0;
          beats_in  <= 32'd0;
          beats_out <= 32'd0;
          chunks    <= 32'd0;
          cycles    <= 32'd0;
          saved     <= 32'd0;
        end
        14'h014: {counting, huffman, levels, is_float, axes} <= wdata[7:0];
        14'h064: {build_exact, build_bank, build, clear} <= wdata[3:0];
        14'h020: step[31:0] <= wdata;
        14'h024: step[63:32] <= wdata;
        14'h028: step[95:64] <= wdata;
        14'h030: inverse[31:0] <= wdata;
        14'h034: inverse[63:32] <= wdata;
        14'h038: inverse[95:64] <= wdata;
        14'h040: limit[30:0] <= wdata[30:0];
        14'h044: limit[61:31] <= wdata[30:0];
        14'h048: limit[92:62] <= wdata[30:0];
        14'h070: reach[30:0] <= wdata[30:0];
        14'h074: reach[61:31] <= wdata[30:0];
        14'h078: reach[92:62] <= wdata[30:0];
        default: ;
      endcase
    end
    if (rst) begin
      bvalid    <= 1'b0;
      failed    <= 1'b0;
      beats_in  <= 32'd0;
      beats_out <= 32'd0;
      chunks    <= 32'd0;
      cycles    <= 32'd0;
      saved     <= 32'd0;
    end
  end

  // ---- reading: three cycles for what is in a memory, and so for all ----
  logic [1:0] wait_for;
  logic [13:0] at;
  logic asked;
  assign arready = arvalid && !asked && !rvalid;
  assign rresp   = 2'b00;
  assign ask     = at[11:2];
  always_ff @(posedge clk) begin
    if (rready) rvalid <= 1'b0;
    if (arready) begin
      at       <= araddr;
      asked    <= 1'b1;
      wait_for <= 2'd3;
    end
    if (asked) wait_for <= wait_for - 2'd1;
    if (asked && wait_for == 2'd0) begin
      asked  <= 1'b0;
      rvalid <= 1'b1;
      case (at)
        14'h000: rdata <= MAGIC;
        14'h004: rdata <= VERSION;
        14'h008: rdata <= 32'(N);
        14'h010: rdata <= {29'b0, building, failed, busy};
        14'h014: rdata <= {24'b0, counting, huffman, levels, is_float, axes};
        14'h050: rdata <= beats_in;
        14'h054: rdata <= beats_out;
        14'h058: rdata <= chunks;
        14'h05C: rdata <= cycles;
        14'h060: rdata <= saved;
        default: rdata <= at[13] ? {28'b0, length} : at[12] ? count : 32'd0;
      endcase
    end
    if (rst) begin
      rvalid <= 1'b0;
      asked  <= 1'b0;
    end
  end
endmodule

// ceaz_csr.sv - the registers, by AXI-Lite (docs/internals/rtl.md lists them). The job may be written only while the
// engine is idle.
module ceaz_csr #(
    parameter int N = 4,
    parameter int H = 1
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
    output logic [11:0] shift,
    output logic [95:0] step,
    output logic [95:0] inverse,
    output logic [92:0] limit,
    output logic [92:0] reach,
    output logic        huffman,
    output logic        counting,
    // The histogram and the choice of books: commands, counts and lengths to load, and reads, which answer three cycles
    // later.
    output logic        clear,
    output logic        build,
    output logic        assign_codes,
    output logic        chi,
    output logic        cost,
    output logic        take,
    output logic        forget,
    output logic        book_bank,
    output logic        exact,
    output logic [ 1:0] shortest,
    output logic        sampled,
    output logic [31:0] tau0,
    output logic [31:0] tau1,
    output logic        load_count,
    output logic        load_lengths,
    output logic [ 9:0] load_at,
    output logic [ 9:0] ask,
    input  logic        choosing,
    input  logic [31:0] count,
    input  logic [31:0] lengths,
    input  logic [31:0] spread,
    input  logic [18:0] residuals,
    input  logic [ 1:0] verdict,
    input  logic [31:0] bits,
    // Counters.
    input  logic        busy,
    input  logic        bad,
    input  logic [17:0] saving,  // words that encoder 2 saved
    input  logic        beat_in,
    input  logic        beat_out,
    input  logic        chunk_out
);
  localparam logic [31:0] MAGIC = 32'h5A41_4543;  // CEAZ
  localparam logic [31:0] VERSION = 32'd3;

  logic failed;
  logic [31:0] beats_in, beats_out, chunks, cycles, saved;

  // ---- writing ----
  logic write;
  assign write   = awvalid && wvalid && (!bvalid || bready);
  assign awready = write;
  assign wready  = write;
  assign bresp   = 2'b00;
  assign load_count   = write && awaddr[13:12] == 2'b01;
  assign load_lengths = write && awaddr[13:12] == 2'b10;
  assign load_at      = awaddr[11:2];
  always_ff @(posedge clk) begin
    if (bready) bvalid <= 1'b0;
    {forget, take, cost, chi, assign_codes, build, clear} <= '0;
    saved <= saved + {14'b0, saving};
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
        14'h014: {shift, counting, huffman, levels, is_float, axes} <= wdata[19:0];
        14'h064: begin
          {forget, take, cost, chi, assign_codes, build, clear} <= wdata[6:0];
          {sampled, shortest, exact, book_bank}                 <= wdata[12:8];
        end
        14'h068: tau0 <= wdata;
        14'h06C: tau1 <= wdata;
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

  // ---- reading: everything takes three cycles, because what is in a memory does ----
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
        14'h00C: rdata <= 32'(H);
        14'h010: rdata <= {29'b0, choosing, failed, busy};
        14'h014: rdata <= {12'b0, shift, counting, huffman, levels, is_float, axes};
        14'h050: rdata <= beats_in;
        14'h054: rdata <= beats_out;
        14'h058: rdata <= chunks;
        14'h05C: rdata <= cycles;
        14'h060: rdata <= saved;
        14'h080: rdata <= spread;
        14'h084: rdata <= {30'b0, verdict};
        14'h088: rdata <= bits;
        14'h08C: rdata <= {13'b0, residuals};
        default: rdata <= at[13] ? lengths : at[12] ? count : 32'd0;
      endcase
    end
    if (rst) begin
      rvalid <= 1'b0;
      asked  <= 1'b0;
    end
  end
endmodule

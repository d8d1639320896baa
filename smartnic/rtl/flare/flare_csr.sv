// flare_csr.sv - FLARE's registers (docs/flare.md): words of 32 bits. A read answers three cycles after its address;
// there may be one a cycle.
module flare_csr #(
    parameter int M = 4,
    parameter int P = 8,
    parameter int W = 16,
    parameter int A = 18
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         write,
    input  logic [ 12:0] at,          // words
    input  logic [ 31:0] data,
    output logic [ 31:0] answer,
    // Commands.
    output logic         start,
    output logic         decode,
    output logic         alone,       // the network
    output logic         goes_on,     // the book, or table, is there
    // The chunk.
    output logic [  7:0] nz,
    output logic [W-1:0] ny,
    output logic [W-1:0] nx,
    output logic [A-1:0] row,
    output logic [A-1:0] plane,
    output logic [  1:0] last_batch,
    output logic [ 31:0] coarse,
    output logic [127:0] total,
    // Books, tables, counts, slices.
    output logic         book_write,
    output logic         table_write,
    output logic [  9:0] symbol,
    output logic [ 11:0] table_at,
    input  logic [ 31:0] count,
    output logic [  6:0] slice,
    input  logic [ 31:0] least,
    input  logic [ 31:0] largest,
    input  logic         busy,
    input  logic         asks,
    input  logic         wrong,
    input  logic [  1:0] batch,
    input  logic [ 31:0] cycles,
    input  logic [ 31:0] predicts,
    input  logic [ 31:0] runs,
    input  logic [ 31:0] codes,
    input  logic [ 31:0] network
);
  assign book_write  = write && at[12:10] == 3'd2;
  assign table_write = write && at[12];
  assign symbol      = at[9:0];
  assign table_at    = at[11:0];
  assign slice       = at[7:1];
  logic low;
  logic [12:0] at1, at2;  // as counts take two cycles, all take three
  logic [31:0] range;
  assign low = at[12:8] == 5'd0;
  always_ff @(posedge clk) begin
    start   <= write && low && at[7:0] == 8'd2 && data[0];
    goes_on <= write && low && at[7:0] == 8'd2 && data[2];
    if (write && low)
      case (at[7:0])
        8'd2: if (data[0]) {alone, decode} <= {data[3], data[1]};
        8'd4: nz <= data[7:0];
        8'd5: ny <= data[W-1:0];
        8'd6: nx <= data[W-1:0];
        8'd7: row <= data[A-1:0];
        8'd8: plane <= data[A-1:0];
        8'd9: last_batch <= data[1:0];
        8'd10: coarse <= data;
        8'd12: total[31:0] <= data;
        8'd13: total[63:32] <= data;
        8'd14: total[95:64] <= data;
        8'd15: total[127:96] <= data;
        default: ;
      endcase
    at1   <= at;
    at2   <= at1;
    range <= at1[0] ? largest : least;
    if (at2[12:10] == 3'd1) answer <= count;
    else if (at2[12:8] == 5'd1) answer <= range;
    else
      case (at2[7:0])
        8'd0: answer <= 32'h464C_4152;  // FLAR
        8'd1: answer <= 32'(M);
        8'd2: answer <= {22'b0, batch, 5'b0, wrong, asks, busy};
        8'd16: answer <= cycles;
        8'd17: answer <= predicts;
        8'd18: answer <= runs;
        8'd19: answer <= codes;
        8'd20: answer <= network;
        8'd30: answer <= 32'(P);
        default: answer <= 32'd0;
      endcase
    if (rst) begin
      start   <= 1'b0;
      goes_on <= 1'b0;
    end
  end
endmodule

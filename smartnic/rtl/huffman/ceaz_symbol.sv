// ceaz_symbol.sv - what a symbol stands for (format.md 1.4): how many residuals and which, and the bits behind its
// code.
module ceaz_symbol (
    input  logic [ 9:0] symbol,
    output logic        is_run,
    output logic [10:0] times,      // residuals: zeros of a run, else one
    output logic [ 9:0] magnitude,  // of the residual, a class as its middle; at most 512
    output logic        negative,
    output logic [ 5:0] extra
);
  logic [9:0] run;
  logic [5:0] row;
  assign is_run = symbol >= 10'd976 && symbol < 10'd997;
  assign run    = symbol - 10'd976;
  assign row    = symbol[9:4];
  always_comb begin
    times     = !is_run ? 11'd1 : run < 10'd14 ? {1'b0, run} + 11'd2 : 11'd16 << (run - 10'd14);
    extra     = 6'd0;
    magnitude = 10'd0;
    negative  = 1'b0;
    if (symbol < 10'd32) begin
      negative  = !symbol[4];
      magnitude = symbol[4] ? {6'b0, symbol[3:0]} : 10'd16 - {6'b0, symbol[3:0]};
    end else if (symbol < 10'd976) begin
      extra     = row - 6'd1;
      negative  = symbol[3];
      magnitude = 10'd17 + {6'b0, symbol[2:0], 1'b0};
      if (negative) magnitude = 10'd31 - {6'b0, symbol[2:0], 1'b0};
      magnitude = row >= 6'd7 ? 10'd512 : magnitude << (row - 6'd2);
    end else if (symbol == 10'd997) extra = 6'd32;
  end
endmodule

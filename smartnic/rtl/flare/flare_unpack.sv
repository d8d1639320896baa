// flare_unpack.sv - sections of a chunk's batches back to codes (format.md 1.6). Before each batch it asks for its table. Words of a
// section come as flare_coder gives them: four sizes, then streams.
module flare_unpack (
    input  logic         clk,
    input  logic         rst,
    input  logic         start,
    input  logic [127:0] total,         // codes of each batch
    input  logic [  1:0] last_batch,
    output logic         busy,
    output logic         wrong,         // a section is none: nothing goes on
    output logic         asks,          // for the table of `batch`
    output logic [  1:0] batch,
    input  logic         answer,
    input  logic         table_write,
    input  logic [ 11:0] table_at,
    input  logic [ 13:0] table_entry,
    input  logic [ 63:0] s_word,
    input  logic         s_valid,
    output logic         s_ready,
    // Codes that are escapes, in order.
    input  logic [ 23:0] e_code,
    input  logic         e_valid,
    output logic         e_ready,
    output logic [ 31:0] m_code,
    output logic         m_valid,
    input  logic         m_ready
);
  typedef enum logic [2:0] {IDLE, ASK, HEAD, BEGIN, WORK} state_t;
  state_t state;
  logic [31:0] left;
  logic [13:0] length;
  logic [63:0] sizes;
  logic unfit;  // no stream has so many bytes
  logic decodes, decoder_wrong, decoder_ready, code_valid, code_ready, escape;
  logic [7:0] code;
  assign busy    = state != IDLE;
  assign asks    = state == ASK;
  assign length  = left > 32'd8192 ? 14'd8192 : left[13:0];
  assign s_ready = state == HEAD ? left != 32'd0 : decoder_ready;
  always_ff @(posedge clk) begin
    case (state)
      IDLE:
      if (start) begin
        batch <= 2'd0;
        state <= ASK;
      end
      ASK:
      if (answer) begin
        left  <= total[32*batch+:32];
        state <= HEAD;
      end
      HEAD:
      if (left == 32'd0) begin
        batch <= batch + 2'd1;
        state <= batch == last_batch ? IDLE : ASK;
      end else if (s_valid) begin
        sizes <= s_word;
        state <= BEGIN;
      end
      BEGIN: state <= WORK;
      default:
      if (!decodes && !wrong) begin
        left  <= left - {18'b0, length};
        state <= HEAD;
      end
    endcase
    wrong <= wrong || (state == WORK && decoder_wrong) || (state == BEGIN && unfit);
    if (rst) begin
      state <= IDLE;
      wrong <= 1'b0;
    end
  end
  assign unfit = |{sizes[63:62], sizes[47:46], sizes[31:30], sizes[15:14]};

  flare_decoder decoder (
      .clk,
      .rst,
      .start(state == BEGIN && !unfit),
      .total(length),
      .bytes({sizes[61:48], sizes[45:32], sizes[29:16], sizes[13:0]}),
      .busy(decodes),
      .wrong(decoder_wrong),
      .table_write,
      .table_at,
      .table_entry,
      .s_word,
      .s_valid(s_valid && state == WORK),
      .s_ready(decoder_ready),
      .m_code(code),
      .m_valid(code_valid),
      .m_ready(code_ready)
  );
  assign escape     = code == 8'h80;
  assign m_code     = escape ? {{8{e_code[23]}}, e_code} : {{24{code[7]}}, code};
  assign m_valid    = code_valid && (!escape || e_valid);
  assign code_ready = m_ready && (!escape || e_valid);
  assign e_ready    = code_valid && escape && m_ready;
endmodule

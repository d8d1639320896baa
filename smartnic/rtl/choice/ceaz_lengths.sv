// ceaz_lengths.sv - from (nearly) sorted symbols to the lengths of a Huffman code of at most 12 bits, as in the codec
// (format.md 4.9): the tree from two queues, depths from the root down, lengths that are too long cut. It takes some
// cycles for each symbol. With `exact` it first corrects the order, by insertion, which is quick because few symbols
// are far from their places.
module ceaz_lengths (
    input  logic        clk,
    input  logic        rst,
    input  logic        clear,     // before the first item
    input  logic        s_valid,
    input  logic [ 9:0] s_symbol,
    input  logic [31:0] s_count,
    input  logic        exact,
    input  logic        start,     // all items are there, at least two
    output logic        done,
    // A length for each item.
    output logic        m_valid,
    output logic [ 9:0] m_symbol,
    output logic [ 3:0] m_length
);
  typedef enum logic [3:0] {IDLE, TAKE, INSERT, FIRST, SECOND, DEPTHS, LEAVES, CUT, FIND, HANG, SPLIT, GIVE} state_t;
  state_t state;

  // These small memories of look-up tables answer in the same cycle.
  logic [41:0] items[1024];    // symbol, count
  logic [41:0] weights[1024];  // of nodes
  logic [9:0] leaf_up[1024], node_up[1024], depths[1024], numbers[1024];
  logic [9:0] n, leaf, node, made, deepest, at, longest, hang;
  logic [41:0] weight;
  logic [3:0] length;
  logic [9:0] clear_at;

  logic [41:0] key, lower;
  logic further;
  assign lower = items[hang-10'd1];
  assign further = hang != 10'd0 &&
      {lower[31:0], ~lower[41:32]} > {key[31:0], ~key[41:32]};

  logic take_leaf;
  logic [41:0] leaf_weight, node_weight, taken;
  logic [9:0] depth;
  assign leaf_weight = {10'b0, items[leaf][31:0]};
  assign node_weight = weights[node];
  assign take_leaf   = node == made || (leaf != n && leaf_weight <= node_weight);
  assign taken       = take_leaf ? leaf_weight : node_weight;
  assign depth       = depths[state == LEAVES ? leaf_up[at] : node_up[at]] + 10'd1;

  // One number changes in a cycle.
  logic change;
  logic [9:0] which, changed;
  always_comb begin
    change  = 1'b1;
    which   = 10'd0;
    changed = 10'd0;
    case (state)
      IDLE: begin
        change = clear || clear_at != 10'd0;
        which  = clear_at;
      end
      LEAVES: begin
        which   = depth;
        changed = numbers[depth] + 10'd1;
      end
      CUT: begin
        change  = longest > 10'd12 && numbers[longest] != 10'd0;
        which   = longest;
        changed = numbers[longest] - 10'd2;
      end
      FIND: begin
        which   = longest - 10'd1;
        changed = numbers[longest-10'd1] + 10'd1;
        change  = hang == longest - 10'd2;  // at its first cycle
      end
      HANG: begin
        which   = hang + 10'd1;
        changed = numbers[hang+10'd1] + 10'd2;
      end
      SPLIT: begin
        which   = hang;
        changed = numbers[hang] - 10'd1;
      end
      default: change = 1'b0;
    endcase
  end

  always_ff @(posedge clk) begin
    done    <= 1'b0;
    m_valid <= 1'b0;
    if (change) numbers[which] <= changed;
    case (state)
      IDLE: begin
        clear_at <= clear || clear_at != 10'd0 ? clear_at + 10'd1 : 10'd0;
        if (s_valid) begin
          items[n] <= {s_symbol, s_count};
          n        <= n + 10'd1;
        end
        if (clear) n <= 10'd0;
        leaf <= 10'd0;
        node <= 10'd0;
        made <= 10'd0;
        at   <= 10'd1;
        if (start) state <= exact ? TAKE : FIRST;
      end
      TAKE: begin
        key   <= items[at];
        hang  <= at;
        state <= at == n ? FIRST : INSERT;
      end
      INSERT: begin  // of equal counts the higher symbol comes first
        items[hang] <= further ? items[hang-10'd1] : key;
        hang        <= hang - 10'd1;
        if (!further) begin
          at    <= at + 10'd1;
          state <= TAKE;
        end
      end
      FIRST, SECOND: begin  // the two rarest become a node
        weight <= state == FIRST ? taken : weight;
        if (take_leaf) begin
          leaf_up[leaf] <= made;
          leaf          <= leaf + 10'd1;
        end else begin
          node_up[node] <= made;
          node          <= node + 10'd1;
        end
        state <= SECOND;
        if (state == SECOND) begin
          weights[made] <= weight + taken;
          made          <= made + 10'd1;
          state         <= FIRST;
          if (made == n - 10'd2) begin
            state        <= n == 10'd2 ? LEAVES : DEPTHS;
            depths[made] <= 10'd0;
            at           <= n == 10'd2 ? 10'd0 : n - 10'd3;
            deepest      <= 10'd0;
          end
        end
      end
      DEPTHS: begin  // of the nodes, the root first
        depths[at] <= depth;
        at         <= at - 10'd1;
        if (at == 10'd0) begin
          state <= LEAVES;
          at    <= 10'd0;
        end
      end
      LEAVES: begin
        if (depth > deepest) deepest <= depth;
        at      <= at + 10'd1;
        longest <= depth > deepest ? depth : deepest;
        if (at == n - 10'd1) state <= CUT;
      end
      CUT: begin
        hang <= longest - 10'd2;
        if (longest <= 10'd12) begin
          state  <= GIVE;
          at     <= 10'd0;
          length <= 4'd12;
        end else if (numbers[longest] != 10'd0) state <= FIND;
        else longest <= longest - 10'd1;
        made <= numbers[12];
      end
      FIND:
      if (numbers[hang] != 10'd0) state <= HANG;
      else hang <= hang - 10'd1;
      HANG:  state <= SPLIT;
      SPLIT: state <= CUT;
      default:  // GIVE: the rarest symbols get the longest lengths
      if (made == 10'd0) begin
        length <= length - 4'd1;
        made   <= numbers[{6'b0, length-4'd1}];
        if (length == 4'd1) begin
          state <= IDLE;
          done  <= 1'b1;
        end
      end else begin
        made     <= made - 10'd1;
        at       <= at + 10'd1;
        m_valid  <= 1'b1;
        m_symbol <= items[at][41:32];
        m_length <= length;
      end
    endcase
    if (rst) begin
      state    <= IDLE;
      clear_at <= 10'd0;
      n        <= 10'd0;
    end
  end
endmodule

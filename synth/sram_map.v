// Yosys technology map: a memory with synchronous reads and at least MACRO_BITS bits becomes a macro, which is counted
// (synth/sram.py) and not mapped to flops. Parameters and ports are those of Yosys's $mem_v2 cell.
(* techmap_celltype = "$mem_v2" *)
module _sram_map_ (RD_CLK, RD_EN, RD_ARST, RD_SRST, RD_ADDR, RD_DATA, WR_CLK, WR_EN, WR_ADDR, WR_DATA);
  parameter MEMID = "";
  parameter SIZE = 0, OFFSET = 0, ABITS = 0, WIDTH = 0, INIT = 0;
  parameter RD_PORTS = 0, RD_CLK_ENABLE = 0, RD_CLK_POLARITY = 0, RD_TRANSPARENCY_MASK = 0, RD_COLLISION_X_MASK = 0;
  parameter RD_WIDE_CONTINUATION = 0, RD_CE_OVER_SRST = 0, RD_ARST_VALUE = 0, RD_SRST_VALUE = 0, RD_INIT_VALUE = 0;
  parameter WR_PORTS = 0, WR_CLK_ENABLE = 0, WR_CLK_POLARITY = 0, WR_PRIORITY_MASK = 0, WR_WIDE_CONTINUATION = 0;

  input [RD_PORTS-1:0] RD_CLK, RD_EN, RD_ARST, RD_SRST;
  input [RD_PORTS*ABITS-1:0] RD_ADDR;
  output [RD_PORTS*WIDTH-1:0] RD_DATA;
  input [WR_PORTS-1:0] WR_CLK;
  input [WR_PORTS*WIDTH-1:0] WR_EN, WR_DATA;
  input [WR_PORTS*ABITS-1:0] WR_ADDR;

  wire _TECHMAP_FAIL_ = SIZE * WIDTH < `MACRO_BITS || !(&RD_CLK_ENABLE);

  sram_macro #(.SIZE(SIZE), .WIDTH(WIDTH), .RD_PORTS(RD_PORTS), .WR_PORTS(WR_PORTS)) _TECHMAP_REPLACE_ (
    .RD_CLK(RD_CLK), .RD_EN(RD_EN), .RD_ADDR(RD_ADDR), .RD_DATA(RD_DATA),
    .WR_CLK(WR_CLK), .WR_EN(WR_EN), .WR_ADDR(WR_ADDR), .WR_DATA(WR_DATA));
endmodule

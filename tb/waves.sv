// A waveform from one cycle to the end of the run: +waves_first=CYCLE, into +waves_file=FILE. (Verilator cannot stop it.)
module waves (
    input clk
);
  integer first;
  logic [31:0] cycle;  // of one name in VCD and FST
  string file;

  initial begin
    cycle = 0;
    if (!$value$plusargs("waves_first=%d", first)) first = -1;
    if (!$value$plusargs("waves_file=%s", file)) file = "waves.vcd";
  end

  always @(posedge clk) begin
    if (cycle == first) begin
      $dumpfile(file);
      $dumpvars(0);
    end
    cycle <= cycle + 1;
  end
endmodule

// A waveform of some cycles only: +waves_first=CYCLE +waves_last=CYCLE, into +waves_file=FILE.
module waves (
    input clk
);
  integer first, last, cycle;
  string file;

  initial begin
    cycle = 0;
    if (!$value$plusargs("waves_first=%d", first)) first = -1;
    if (!$value$plusargs("waves_last=%d", last)) last = -1;
    if (!$value$plusargs("waves_file=%s", file)) file = "waves.vcd";
  end

  always @(posedge clk) begin
    if (cycle == first) begin
      $dumpfile(file);
      $dumpvars(0);
    end
    if (cycle == last) $dumpoff;
    cycle <= cycle + 1;
  end
endmodule

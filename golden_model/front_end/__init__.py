"""Which warp issues what: warps, SIMT, scoreboard, pickers and issue, with decisions plugged in."""

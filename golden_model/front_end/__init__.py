"""The front end: warps, SIMT, scoreboard, pickers and issue, with plug-ins for decisions."""

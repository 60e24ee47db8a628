"""The FG-SIMT engine ([AFFINE], section 2): units and planted bugs. Its affine execution is described with the
mechanism (`affine.py`)."""

from warploom.arch.mechanisms.descriptor import PROBE, Mechanism, Unit

LANES = {"sizes": "engine"}

FG_SIMT = Mechanism(
    name="fg_simt",
    units=(
        Unit("SimpleUnit", "warploom.rtl.fg_simt.simple.SimpleUnit", LANES, alone=True),
        Unit("FirstSau", "warploom.rtl.fg_simt.sau.FirstSau", LANES, probe=PROBE, alone=True),
        Unit("SecondSau", "warploom.rtl.fg_simt.sau.SecondSau", LANES, probe=PROBE, alone=True),
        Unit("LoadUnit", "warploom.rtl.fg_simt.slu.LoadUnit", LANES, alone=True),
        Unit("AddressUnit", "warploom.rtl.fg_simt.address.AddressUnit", LANES, alone=True),
        Unit("AccessUnit", "warploom.rtl.fg_simt.access.AccessUnit", LANES, alone=True),
        Unit("Constants", "warploom.rtl.fg_simt.constants.Constants", LANES, alone=True),
        Unit("SimtRegisterFile", "warploom.rtl.fg_simt.srf.SimtRegisterFile", LANES, probe=PROBE, alone=True),
        Unit("PredicateMasks", "warploom.rtl.fg_simt.predicate_masks.PredicateMasks", LANES, alone=True),
        Unit("Lanes", "warploom.rtl.fg_simt.lanes.Lanes", LANES, probe=PROBE, alone=True),
        Unit("Coalescer", "warploom.rtl.fg_simt.coalesce.Coalescer", LANES, alone=True),
        Unit("Fetch", "warploom.rtl.fg_simt.fetch.Fetch", probe=PROBE, alone=True),
        Unit("Host", "warploom.rtl.fg_simt.host.Host", probe=PROBE, alone=True),
        Unit("ControlProcessor", "warploom.rtl.fg_simt.control.ControlProcessor", {"affine": "affine"}, probe=PROBE,
             alone=True),
        Unit("SharedLoads", "warploom.rtl.fg_simt.shared_loads.SharedLoads", probe={**PROBE, "second": True},
             alone=True),
        Unit("Fragments", "warploom.rtl.fg_simt.fragments.Fragments", probe=PROBE, alone=True),
        Unit("Threads", "warploom.rtl.fg_simt.threads.Threads", alone=True),
        Unit("IssueUnit", "warploom.rtl.fg_simt.issue.IssueUnit", LANES, fixed={"payload": 192, "extension": 3},
             probe=PROBE, alone=True),
        Unit("MemoryUnit", "warploom.rtl.fg_simt.memory_unit.MemoryUnit", LANES, probe=PROBE, alone=True),
        Unit("Engine", "warploom.rtl.fg_simt.engine.Engine", {**LANES, "affine": "affine"}, probe=PROBE, alone=True),
        Unit("WholeEngine", "warploom.rtl.fg_simt.whole.WholeEngine", {**LANES, "affine": "affine"}, probe=PROBE,
             alone=True),
    ),
    parts=("warploom.rtl.fg_simt.engine.Engine", "warploom.rtl.fg_simt.lanes.Lanes"),
    bugs=("warploom.tb.fg_simt.memory_mutants.MUTANTS", "warploom.tb.fg_simt.front_mutants.MUTANTS",
          "warploom.tb.fg_simt.host_mutants.MUTANTS", "warploom.tb.fg_simt.control_mutants.MUTANTS",
          "warploom.tb.fg_simt.issue_mutants.MUTANTS", "warploom.tb.fg_simt.lane_mutants.MUTANTS",
          "warploom.tb.fg_simt.arithmetic_mutants.MUTANTS", "warploom.tb.fg_simt.storage_mutants.MUTANTS",
          "warploom.tb.fg_simt.engine_mutants.MUTANTS"),
)

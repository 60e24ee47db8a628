"""The first-level caches of the FG-SIMT engine: units and planted bugs."""

from warploom.arch.mechanisms.descriptor import PROBE, Mechanism, Unit

LANES = {"lanes": "engine_lanes"}

L1 = Mechanism(
    name="l1",
    units=(
        Unit("CacheBank", "warploom.rtl.l1.bank.CacheBank", fixed={"banks": 8, "tag_bits": 7}, probe=PROBE, alone=True),
        Unit("DataCache", "warploom.rtl.l1.data_cache.DataCache", LANES, probe=PROBE, alone=True),
        Unit("L1", "warploom.rtl.l1.whole.L1", LANES, probe=PROBE, alone=True),
    ),
    parts=("warploom.rtl.l1.whole.L1",),
    bugs=("warploom.tb.l1.mutants.MUTANTS",),
)

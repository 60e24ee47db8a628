"""Units of floating point, which the lanes of the FG-SIMT engine have: units and planted bugs."""

from warploom.arch.mechanisms.descriptor import PROBE, Mechanism, Unit

FLOATING_POINT = Mechanism(
    name="floating_point",
    units=(
        Unit("FusedMultiplyAdd", "warploom.rtl.float.fused.FusedMultiplyAdd", alone=True),
        Unit("FloatCompare", "warploom.rtl.float.compare.FloatCompare", alone=True),
        Unit("Converter", "warploom.rtl.float.convert.Converter", alone=True),
        Unit("Divider", "warploom.rtl.float.divide.Divider", probe=PROBE, alone=True),
    ),
    bugs=("warploom.tb.float.mutants.MUTANTS",),
)

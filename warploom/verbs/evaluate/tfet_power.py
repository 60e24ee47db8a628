"""``warploom evaluate tfet_power``: the rename stage in gates."""

from dataclasses import asdict

from warploom import report
from warploom.evaluation.study import Study
from warploom.evaluation.tfet import power as tfet_power
from warploom.verbs import Body


def show(study: Study) -> Body:
    """The rename stage in gates, at the activity of kernels."""
    machine = study.config.with_settings([*tfet_power.SETTINGS, *study.wanted.settings])
    found = tfet_power.measured(machine, study.names, study.wanted.size)
    power = report.records(
        f"{tfet_power.UNIT} beside the register file: {study.preset} ({', '.join(tfet_power.SETTINGS)}), "
        f"{found.cycles} cycles of {', '.join(study.names)}", tfet_power.COLUMNS, found.rows())
    return {"configuration": asdict(machine), "size": study.wanted.size, "groups": study.groups, "cycles": found.cycles,
            "power": power}

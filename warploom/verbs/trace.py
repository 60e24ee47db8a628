"""``warploom trace``: a run on the golden SM as a Perfetto trace."""

import argparse
import dataclasses

from warploom import report
from warploom.files import writing
from warploom.golden_model.statistics import total
from warploom.verbs import Body, configuration
from warploom.watch.launches import launches
from warploom.watch.recorder import Recording


def main(options: argparse.Namespace) -> Body:
    """Run the kernel or program, and write what happens in each cycle."""
    config = configuration(options)
    with report.working("timing"), writing(options.trace) as file:
        recording = Recording(f"{options.kernel} on {config.name}", file)
        runs = launches(options, config, recording.launch)
        recording.close()
    statistics, size = total(runs), options.trace.stat().st_size
    report.fields(f"{options.kernel} on {config.name}: {options.trace}", {
        "launches": len(runs), "cycles": statistics.cycles, "warp instructions": statistics.warp_instructions,
        "slices": recording.slices,
        "bytes": f"{size:,}, {size / statistics.warp_instructions:.0f} for each warp instruction",
    })
    print("Open it at https://ui.perfetto.dev, or query it with Perfetto's trace_processor.")
    return {"configuration": dataclasses.asdict(config), "trace": str(options.trace), "launches": len(runs),
            "slices": recording.slices, "bytes": size, "timing": statistics.to_json()}

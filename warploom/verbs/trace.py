"""``warploom trace``: a run on the golden SM as a Perfetto trace."""

import argparse
import dataclasses

from warploom import report
from warploom.files import writing
from warploom.golden_model.functional.executor import Stream
from warploom.running import find, run
from warploom.verbs import Body, configuration
from warploom.watch.recorder import record
from warploom.watch.source import Source


def main(options: argparse.Namespace) -> Body:
    """Run the kernel, and write what happens in each cycle."""
    config = configuration(options)
    file = find(options.kernel, options.size)
    executed = run(file, config, record=False)
    with report.working("timing"), writing(options.trace) as trace:
        statistics, slices = record(config, Stream(executed.program, file.launch), Source(executed.program), trace)
    size = options.trace.stat().st_size
    report.fields(f"{statistics.kernel} on {config.name}: {options.trace}", {
        "cycles": statistics.cycles, "warp instructions": statistics.warp_instructions, "slices": slices,
        "bytes": f"{size:,}, {size / statistics.warp_instructions:.0f} for each warp instruction",
    })
    print("Open it at https://ui.perfetto.dev, or query it with Perfetto's trace_processor.")
    return {"configuration": dataclasses.asdict(config), "trace": str(options.trace), "slices": slices, "bytes": size,
            "timing": statistics.to_json()}

"""``warploom sweep``: machines over ranges of fields, and those that no other one beats."""

import argparse
import csv
import dataclasses
import io
from collections.abc import Mapping, Sequence
from typing import Any

from warploom import report
from warploom.arch.errors import ConfigError, WarploomError, one_line
from warploom.arch.gpu import Machine, sm_of
from warploom.evaluation import workloads
from warploom.evaluation.simulations import cases, results
from warploom.evaluation.sweep import Measures, Point, combined, front, listed, measures, point, ranges
from warploom.files import write_whole
from warploom.synth.combinations import Combination, synthesise_all
from warploom.synth.report import Row
from warploom.tb import seeds
from warploom.verbs import Body, consistent, machine

Errors = dict[Point, WarploomError]

MEASURES = ("ipc", "ghz", "speed", "energy_pj", "storage_bits", "area_um2")
"""What an entry has beside the values of its fields, and `front`."""


def main(options: argparse.Namespace) -> Body:
    """Simulate all points, and print those on the front."""
    base = _base(options)
    names = [name for members in workloads.chosen(options.workloads or [workloads.KERNELS], "").values()
             for name in members]
    points, illegal = _points(options, base)
    failed: Errors = {}
    rows = _synthesised(points, failed) if options.synth else {}
    found = _measured(options, [one for one in points if one not in failed], names, rows, failed)
    if not found:
        raise next(iter(failed.values()))
    entries = [{"values": dict(one.values), **_entry(each), "front": best}
               for (one, each), best in zip(found.items(), front(list(found.values())), strict=True)]
    if options.csv:  # before anything is printed: the reader may close the output
        write_whole(options.csv, _csv(entries).encode())
    errors = [{"values": dict(one.values), "error": one_line(str(error))} for one, error in failed.items()]
    _show(base.name, options, entries, illegal, errors)
    return {"configuration": dataclasses.asdict(base), "size": options.size, "workloads": names, "points": entries,
            "illegal": illegal, "failed": errors,
            "failure": f"{len(failed)} of {len(points)} points failed, the first one: {errors[0]['error']}"
                       if failed else None}


def _base(options: argparse.Namespace) -> Machine:
    """The machine whose fields vary. Raises `ConfigError`."""
    sm, gpu = machine(argparse.Namespace(**vars(options) | {"settings": []}))  # its settings are ranges
    if gpu is not None and options.synth:
        raise ConfigError("--gpu: leave out --synth: only the datapath of one SM is hardware")
    return gpu or sm


def _points(options: argparse.Namespace, base: Machine) -> tuple[list[Point], list[Body]]:
    """The legal points, each once, and the illegal ones with the reason. Raises `ConfigError` if all are illegal."""
    if options.points and (options.settings or options.random):
        raise ConfigError("--points: the file has all points: leave --set and --random out")
    if not options.points and not options.settings:
        raise ConfigError("sweep: give fields with --set FIELD=VALUES, or points with --points FILE")
    if options.seed is not None and options.random is None:
        raise ConfigError("--seed: only points that are drawn depend on it: add --random N")
    seed = seeds.FIXED if options.seed is None else options.seed
    wanted = (listed(options.points).items() if options.points else
              [("--set", values) for values in combined(ranges(consistent(options.settings)), options.random, seed)])
    found: dict[Machine, Point] = {}
    illegal: list[tuple[Mapping[str, str], ConfigError]] = []
    for where, values in wanted:
        try:
            one = point(base, values, where)
        except ConfigError as error:
            illegal.append((values, error))
        else:
            found.setdefault(one.machine, one)
    if not found:
        raise illegal[0][1]
    return list(found.values()), [{"values": dict(values), "error": one_line(str(error))} for values, error in illegal]


def _synthesised(points: Sequence[Point], failed: Errors) -> dict[Point, Row]:
    """The datapath of each point; those without hardware fail."""
    wanted = {}
    for one in points:
        try:
            sm_of(one.machine).check_hardware()
        except ConfigError as error:
            failed[one] = error
        else:
            wanted[one] = Combination(tuple(f"{name}={value}" for name, value in one.values),
                                       sm_of(one.machine))
    with report.counting("synthesis", len(wanted)) as done:
        return dict(zip(wanted, synthesise_all(list(wanted.values()), None, done), strict=True))


def _measured(options: argparse.Namespace, points: Sequence[Point], names: Sequence[str], rows: Mapping[Point, Row],
              failed: Errors) -> dict[Point, Measures]:
    """The measures of the points all of whose simulations have ended well."""
    of = {one: cases(names, options.size, {str(number): one.machine}) for number, one in enumerate(points)}
    needed = sorted((case for group in of.values() for case in group), key=lambda case: case.workload)
    with report.counting("simulating", len(needed)) as done:
        known = results(needed, lambda case: done(f"{case.workload}, point {case.setting}"), options.scheduler)
    found = {}
    for one, group in of.items():
        runs = [known[case] for case in group]
        errors = [run for run in runs if isinstance(run, WarploomError)]
        if errors:
            failed[one] = errors[0]
        else:
            found[one] = measures([run for run in runs if not isinstance(run, WarploomError)], rows.get(one))
    return found


def _entry(found: Measures) -> Body:
    return {name: getattr(found, name) for name in MEASURES}


def _csv(entries: Sequence[Mapping[str, Any]]) -> str:
    """A line for each point: its values, its measures, and whether it is on the front."""
    text = io.StringIO()
    fields = dict.fromkeys(name for entry in entries for name in entry["values"])
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*fields, *MEASURES, "front"])
    writer.writerows([*(entry["values"][name] for name in fields), *(entry[name] for name in MEASURES),
                      int(entry["front"])] for entry in entries)
    return text.getvalue()


def _counted(illegal: Sequence[Mapping[str, Any]]) -> str | int:
    """The number of illegal points, and the error of the first one, which may be a slip."""
    return f"{len(illegal)}, the first one: {illegal[0]['error']}" if illegal else 0


def _show(name: str, options: argparse.Namespace, entries: Sequence[Mapping[str, Any]],
          illegal: Sequence[Mapping[str, Any]], errors: Sequence[Mapping[str, Any]]) -> None:
    """Print the front, the fastest point first."""
    best = sorted((entry for entry in entries if entry["front"]), key=lambda entry: -entry["speed"])
    columns = ("ipc", "ghz", "energy_pj", "area_um2") if options.synth else ("ipc", "energy_pj", "storage_bits")
    heads = {"ipc": "IPC", "ghz": "GHz", "energy_pj": "pJ/instruction", "area_um2": "area, µm²",
             "storage_bits": "storage, bits"}
    report.table(f"Points of {name} that no other one beats", ["point", *(heads[name] for name in columns)],
                 [[", ".join(f"{name}={value}" for name, value in entry["values"].items()),
                   *(entry[name] for name in columns)] for entry in best])
    report.fields("All points", {
        "simulated": len(entries), "on the front": len(best), "illegal": _counted(illegal),
        "failed": len(errors),
        "compared by": "IPC x clock, energy and area, by synthesis" if options.synth
                       else "IPC, energy, and bits of storage instead of area; --synth synthesises each point",
    })
    if errors:
        report.table("Failed", ("point", "error"), [
            [", ".join(f"{name}={value}" for name, value in entry["values"].items()), entry["error"]]
            for entry in errors])

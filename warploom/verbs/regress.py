"""``warploom regress``: every bundled kernel in lockstep with the hardware, and one of them at full size.

What has passed once is not run again until something that it depends on changes, so an interrupted regression goes on
where it stopped.
"""

import argparse
import dataclasses
import hashlib
import json
from pathlib import Path

from tb.lockstep import LockstepError, lockstep
from warploom import report
from warploom.arch.config import SmConfig
from warploom.kernels.launchfile import LaunchFile
from warploom.kernels.library import kernel, kernels
from warploom.verbs import Body, configuration

STEADY = "pathfinder"
"""The kernel that runs at its default size: barriers, divergence, and both kinds of memory."""

FOLDER = Path("build/regress")
ROOT = Path(__file__).resolve().parents[2]
PACKAGES, SOURCES = ("golden_model", "rtl", "tb", "warploom"), (".py", ".lark", ".sv")


def main(options: argparse.Namespace) -> Body:
    """Run what has not passed yet, and list all."""
    config = configuration(options)
    files = [k.load("tiny") for k in kernels()] + [kernel(STEADY).load("default")]
    rows, failure = [], None
    for file in files:
        row = _passed(config, file)
        failure = failure or row.get("failure")
        rows.append(row)
    report.table(f"Lockstep of {config.name}, seed 1", ("kernel", "size", "verdict", "cycles", "warp instructions"),
                 [(row["kernel"], row["size"], "differs" if "failure" in row else "equal", row.get("cycles"),
                   row.get("warp_instructions")) for row in rows])
    return {"configuration": dataclasses.asdict(config), "runs": rows, "failure": failure}


def _passed(config: SmConfig, file: LaunchFile) -> Body:
    """What an earlier run found if it passed, else what a run finds now."""
    remembered = FOLDER / f"{_fingerprint(config, file)}.json"
    if remembered.exists():
        return json.loads(remembered.read_text())
    name, size = file.path.parent.name, file.path.stem
    origin = {"kernel": name, "size": size}
    with report.working(f"{name}, {size}"):
        try:
            row = {**origin, **lockstep(config, file).to_json()}
        except LockstepError as error:
            return {**origin, "failure": str(error)}
    FOLDER.mkdir(parents=True, exist_ok=True)
    report.write_json(remembered, row)
    return row


def _fingerprint(config: SmConfig, file: LaunchFile) -> str:
    """A hash of everything that decides how the run ends: configuration, launch, PTX, and all of our sources."""
    digest = hashlib.sha256(config.to_toml().encode())
    sources = (path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.suffix in SOURCES)
    for path in (file.path, file.ptx, ROOT / "requirements.txt", *sorted(sources)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]

"""`python -m tests.bench [decision] [store] [provider] [--runs N] [--json FILE]`: measure, print, judge."""

import argparse
import os
import platform
import sys
from pathlib import Path

import msgspec

from tests.bench import decision, provider, storage
from tests.bench.measure import load, table

AREAS = {"decision": decision.rows, "store": storage.rows, "provider": provider.rows}


def main() -> int:
    """1 if a ratio is far beyond what is usual."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="How fast the program is.")
    parser.add_argument("areas", nargs="*", help=f"any of {', '.join(AREAS)}; all if none is named")
    parser.add_argument("--runs", type=int, default=3, help="repetitions, of which medians are shown (3)")
    parser.add_argument("--json", type=Path, help="write every sample to this file")
    asked = parser.parse_args()
    if unknown := [area for area in asked.areas if area not in AREAS]:
        parser.error(f"no such area: {', '.join(unknown)}")
    print(f"{platform.system()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, load {load()}")
    rows = []
    for name in asked.areas or AREAS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += AREAS[name](asked.runs)
    print(table(rows))
    print(f"load at the end {load()}; {asked.runs} runs, medians")
    if asked.json:
        asked.json.write_bytes(msgspec.json.format(msgspec.json.encode(rows)))
    return 0 if all(row.good for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""Pictures that must stay as they are. QIMING_UPDATE_SNAPSHOTS=1 accepts what is drawn: look at it first."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"


def same(name: str, svg: str, *, beside: Path) -> None:
    """Compare with the stored picture; where it differs, both can be looked at."""
    stored = FOLDER / f"{name}.svg"
    if os.environ.get("QIMING_UPDATE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        stored.write_text(svg, encoding="utf-8")
        return
    if stored.read_text(encoding="utf-8") != svg:
        drawn = beside / f"{name}.svg"
        drawn.write_text(svg, encoding="utf-8")
        raise AssertionError(f"{name} is drawn differently: compare {stored} with {drawn}")

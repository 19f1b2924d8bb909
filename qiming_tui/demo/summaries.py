"""What the scripted model answers when it is asked for a summary."""

from typing import Final

from qiming_tui.demo import ferry
from qiming_tui.demo.turns import log_path, week_words
from qiming_tui.provider.scenario import Reply

BLANK: Final = Reply(text="  \n")
"""A summary that is none."""


def summary(*weeks: int, next_step: str = "nothing is open") -> Reply:
    """A summary of the work on the ferry project, after the logs of these weeks were read."""
    lines = [
        "## Goal",
        "Keep the ferry project's fares and timetable right, and report from the harbour office's logs which "
        "boats were more than 15 minutes late.",
        "",
        "## Instructions",
        "- Money in cents, never in floats; check every change with `python3 -B check.py` (`all good`).",
        "- `data/` and `logs/` are read, never edited.",
        "",
        "## Discoveries",
        f"- A fare: adult {ferry.ADULT_PRICE} cents less the passenger's discount; day return twice that "
        "less 10 %; bicycle +310.",
        "- The 23:20 boat arrives after midnight; `duration` was negative for it.",
        *(f"- {week_words(week)}" for week in weeks),
        "",
        "## Accomplished",
        "- `infant` with a discount of 100 % added to `DISCOUNTS`; the checks of the fares pass.",
        "- `duration` is taken modulo 24 hours; no sailing is of negative length.",
        f"- Next: {next_step}.",
        "",
        "## Relevant files / directories",
        "- ferry/fares.py: prices; changed",
        "- ferry/timetable.py: reads data/sailings.csv; changed",
        "- check.py: the checks",
        *(f"- {log_path(week)}: read" for week in weeks),
    ]
    return Reply(text="\n".join(lines))


def short_summary(next_step: str) -> Reply:
    """A summary of a summary."""
    return Reply(
        text=f"""\
## Goal
Ferry project: fares, timetable, late boats.

## Accomplished
Infant fares and the length of the night boat: done and checked. Next: {next_step}.

## Relevant files / directories
ferry/fares.py, ferry/timetable.py, check.py, logs/"""
    )

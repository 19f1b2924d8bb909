"""Scenarios in which something is wrong: overflow, huge-result, failed-summary, storm."""

from typing import Final

from qiming_tui.demo import ferry
from qiming_tui.demo.calls import act, bash, grep, read, say, turn
from qiming_tui.demo.summaries import BLANK, short_summary, summary
from qiming_tui.demo.turns import ALLOW, infants, late_boats, log_path, look_round, night_boat, week_words
from qiming_tui.model.limits import Limits, Origin
from qiming_tui.provider.scenario import Scenario

TELEMETRY: Final = "logs/telemetry.log"
TELEMETRY_BYTES: Final = 1_700_000
FAILURES: Final = (4_711, 12_345, 19_999)
"""Records of the telemetry at which the gangway failed."""


def telemetry() -> str:
    """The ferries' telemetry: 1.7 MB of nothing much, and three lines that matter."""
    noise = ferry.numbers(2_025)
    lines = []
    size = number = 0
    while size < TELEMETRY_BYTES:
        number += 1
        vessel = ferry.VESSELS[number % len(ferry.VESSELS)]
        words = f"INFO  speed {9 + next(noise) % 40 / 10:.1f} knots, engine steady, gangway locked"
        if number in FAILURES:
            words = "ERROR gangway sensor gave no answer, crew checked it by hand"
        lines.append(f"{ferry.clock(360 + number // 20)} {number:06d} {vessel}: {words}")
        size += len(lines[-1]) + 1
    return "\n".join(lines) + "\n"


def overflow() -> Scenario:
    """The provider takes less than the catalogue promises, refuses, and the work goes on with a summary."""
    return Scenario(
        name="overflow",
        sentence="The provider refuses what should have fitted: the history is summarised and it goes on.",
        limits=Limits(16_000, None, 2_000, Origin.ARGUMENT),
        refuses_above=10_000,
        allow=ALLOW,
        files=ferry.files(),
        turns=(look_round(), infants(), night_boat(), late_boats(1, 2, 3)),
        summaries=(summary(1, 2, next_step="read the log of week 3 and report the total"),),
        title="Fares, the night boat, late sailings",
    )


def huge_result() -> Scenario:
    """A tool prints 1.7 MB; the window gets the head and a pointer, the whole text stays in reach."""
    records = ", ".join(f"{number:06d}" for number in FAILURES)
    return Scenario(
        name="huge-result",
        sentence="A command prints 1.7 MB: the window gets a part and a pointer, the text stays in reach.",
        limits=Limits(40_000, None, 4_000, Origin.ARGUMENT),
        allow=ALLOW,
        files=(*ferry.files(weeks=1), (TELEMETRY, telemetry())),
        turns=(
            look_round(),
            turn(
                "Something was wrong with a gangway yesterday. Look at the telemetry.",
                act("The telemetry is one file.", bash(f"cat {TELEMETRY}")),
                act(
                    "That was far too much to read in full. I search it for errors instead.",
                    grep("ERROR", TELEMETRY),
                ),
                say(
                    f"""The gangway sensor gave no answer three times (records {records}); each time the crew
                    checked it by hand. Everything else in the 1.7 MB of telemetry is routine."""
                ),
            ),
        ),
        summaries=(short_summary("nothing is open"),),
        title="The gangway in the telemetry",
    )


def failed_summary() -> Scenario:
    """The first summary is blank: the history stays as it was, and the second try works."""
    return Scenario(
        name="failed-summary",
        sentence="The first summary comes back blank: the history stays, and the second try works.",
        limits=Limits(13_000, None, 3_000, Origin.ARGUMENT),
        allow=ALLOW,
        files=ferry.files(),
        turns=(
            look_round(),
            infants(),
            night_boat(),
            late_boats(1, 2, 3),
            turn(
                "Please go on with the late boats where you stopped.",
                act("Week 3 is left.", read(log_path(3))),
                say(week_words(3)),
            ),
        ),
        summaries=(BLANK, summary(1, 2, next_step="read the log of week 3 and report the total")),
        title="Fares, the night boat, late sailings",
    )


def storm() -> Scenario:
    """The provider refuses every request from some moment on: two summaries, then it stops and explains."""
    next_step = "read the logs of the weeks 1 and 2"
    return Scenario(
        name="storm",
        sentence="The provider refuses everything from some moment on: two summaries, then it stops.",
        limits=Limits(40_000, None, 4_000, Origin.ARGUMENT),
        refuses_after=11,
        allow=ALLOW,
        files=ferry.files(),
        turns=(look_round(), infants(), night_boat(), late_boats(1, 2)),
        summaries=(summary(next_step=next_step), short_summary(next_step)),
        title="Fares, the night boat, late sailings",
    )

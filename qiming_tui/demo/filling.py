"""Scenarios in which the window fills: grow, prune, input-limit."""

from typing import Final

from qiming_tui.demo import ferry
from qiming_tui.demo.calls import act, check, read, say, turn, write
from qiming_tui.demo.summaries import summary
from qiming_tui.demo.turns import ALLOW, infants, late_boats, log_path, look_round, night_boat, week_words
from qiming_tui.model.limits import Limits, Origin
from qiming_tui.model.window import Settings
from qiming_tui.provider.scenario import Scenario, Turn

CHANGES: Final = """\
# Changes

- Infants (under four) travel free; their bicycles still pay.
- The length of sailings that arrive after midnight is right.
"""


def _changes_file() -> Turn:
    return turn(
        "Good. Write down in CHANGES.md what you changed, for the release.",
        act("Two entries.", write("CHANGES.md", CHANGES), check()),
        say("CHANGES.md has both entries: free travel for infants, and the length of the night boat."),
    )


def grow() -> Scenario:
    """The window fills step by step, is summarised by itself, and the work goes on."""
    return Scenario(
        name="grow",
        sentence="The window fills step by step until it is summarised by itself; the work goes on.",
        limits=Limits(13_000, None, 3_000, Origin.ARGUMENT),
        allow=ALLOW,
        files=ferry.files(),
        turns=(look_round(), infants(), night_boat(), late_boats(1, 2, 3), _changes_file()),
        summaries=(summary(1, 2, next_step="read the log of week 3 and report the total"),),
        title="Infant fares, the night boat and late sailings",
    )


def prune() -> Scenario:
    """Old results are cleared: the model sees a placeholder, the text stays, reading again works."""
    return Scenario(
        name="prune",
        sentence="Old tool results are cleared in one batch; placeholders stand for them, the texts stay.",
        limits=Limits(32_000, None, 4_000, Origin.ARGUMENT),
        settings=Settings(protect=5_000, minimum=3_000),
        allow=ALLOW,
        files=ferry.files(),
        turns=(
            late_boats(1, 2, 3, 4),
            infants(),
            night_boat(),
            turn(
                "Which vessel was the worst one of week 1, and did the importer warn about it?",
                act(
                    "The result of that log was cleared from my window, so I read it again.",
                    read(log_path(1)),
                ),
                say(f"{week_words(1)} The importer warned that passengers were told."),
            ),
        ),
        summaries=(summary(1, 2, 3, 4),),
        title="Late sailings of four weeks",
    )


def input_limit() -> Scenario:
    """A model with an input limit of its own: the bound is that limit less the reserve."""
    return Scenario(
        name="input-limit",
        sentence="A model that takes less input than its window holds: usable is input limit less reserve.",
        limits=Limits(40_000, 13_000, 4_000, Origin.ARGUMENT),
        settings=Settings(reserved=3_000),
        allow=ALLOW,
        files=ferry.files(),
        turns=(look_round(), infants(), night_boat(), late_boats(1, 2, 3)),
        summaries=(summary(1, 2, next_step="read the log of week 3 and report the total"),),
        title="Infant fares and late sailings",
    )

"""Scenarios in which the user steers the window: undo, pins; and one in which our count is far off."""

from qiming_tui.demo import ferry
from qiming_tui.demo.calls import act, after, read, say, turn
from qiming_tui.demo.summaries import short_summary, summary
from qiming_tui.demo.turns import ALLOW, infants, late_boats, look_round, night_boat, week_words
from qiming_tui.model.limits import Limits, Origin
from qiming_tui.provider.scenario import Act, Scenario

FARES = "ferry/fares.py"


def undo() -> Scenario:
    """Everything is taken back and done again: a cleared result, a compaction."""
    return Scenario(
        name="undo",
        sentence="A cleared result and a compaction are undone and redone; the history was never gone.",
        limits=Limits(16_000, None, 3_000, Origin.ARGUMENT),
        allow=ALLOW,
        files=ferry.files(weeks=1),
        turns=(
            after(look_round(), Act("clear", "README.md"), Act("undo"), Act("redo")),
            after(
                night_boat(),
                Act("restore", "README.md"),
                Act("compact", "the night boat"),
                Act("undo"),
            ),
            turn(
                "What was wrong with the night boat? In a sentence.",
                say("It arrives after midnight, so the difference of the two times was negative."),
                then=(Act("redo"),),
            ),
            turn("Is anything open?", say("Nothing is open: the checks of the timetable pass.")),
        ),
        summaries=(short_summary("nothing is open"),),
        title="Fares and the night boat",
    )


def pins() -> Scenario:
    """What is pinned is in every request, compacted or not, until it is let go."""
    return Scenario(
        name="pins",
        sentence="A file is pinned: its text outlives two compactions, until the pin is taken out.",
        limits=Limits(16_000, None, 3_000, Origin.ARGUMENT),
        allow=ALLOW,
        files=ferry.files(weeks=1),
        turns=(
            after(look_round(), Act("pin", FARES)),
            after(night_boat(), Act("compact")),
            turn(
                "What does a bicycle cost, and how is the day return worked out?",
                say(
                    """The pinned `ferry/fares.py` has it: a bicycle is 310 cents, and a day return is
                    twice the price less 10 %."""
                ),
            ),
            after(late_boats(1), Act("compact"), Act("unpin", FARES)),
            turn(
                "Which week did we look at?",
                say(f"The first one. {week_words(1)}"),
            ),
        ),
        summaries=(summary(next_step="nothing is open"), short_summary("nothing is open")),
        title="Fares, a pin and the night boat",
    )


def bad_estimate() -> Scenario:
    """The provider counts a third more than our tokenizer: the drift is shown, and learned."""
    return Scenario(
        name="bad-estimate",
        sentence="The provider counts a third more than we do: the drift is shown, learned, and goes.",
        limits=Limits(20_000, None, 3_000, Origin.ARGUMENT),
        counting_error=1.35,
        allow=ALLOW,
        files=ferry.files(weeks=2),
        turns=(
            look_round(),
            infants(),
            night_boat(),
            late_boats(1),
            turn(
                "And week 2? The number and the worst one.",
                act("I read its log.", read("logs/week-2.log")),
                say(week_words(2)),
            ),
        ),
        summaries=(summary(1, next_step="read the log of week 2"),),
        title="Infant fares and two weeks of logs",
    )


def model_switch() -> Scenario:
    """The work goes to a model with a smaller window, which the history does not fit, and back."""
    return Scenario(
        name="model-switch",
        sentence="A smaller model takes over: the history does not fit it and is summarised; then back.",
        limits=Limits(20_000, None, 3_000, Origin.ARGUMENT),
        small=Limits(7_500, None, 1_500, Origin.ARGUMENT),
        allow=ALLOW,
        files=ferry.files(weeks=1),
        turns=(
            look_round(),
            after(night_boat(), Act("model", "model-switch-small")),
            turn(
                "Say in a sentence what was wrong with the night boat, and what you changed.",
                say("It arrives after midnight; `duration` now takes the difference modulo 24 hours."),
                then=(Act("model"),),
            ),
            turn("Is anything open?", say("Nothing is open: the checks of the timetable pass.")),
        ),
        summaries=(short_summary("nothing is open"),),
        title="The night boat and two models",
    )

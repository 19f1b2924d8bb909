"""Turns of work on the ferry project that several scenarios share; what they claim comes from the data."""

from itertools import pairwise
from typing import Final

from qiming_tui.demo import ferry
from qiming_tui.demo.calls import act, check, edit, grep, listing, read, say, turn
from qiming_tui.provider.scenario import Turn

ALLOW: Final = ("edit:*", "write:*", "bash:python3 *", "bash:cat *")
"""What the demo's model may do without being asked about, inside its temporary folder."""

OLD_DISCOUNTS: Final = '"child": 50}'
NEW_DISCOUNTS: Final = '"child": 50, "infant": 100}'
OLD_DURATION: Final = 'return minutes(sailing["arrives"]) - minutes(sailing["departs"])'
NEW_DURATION: Final = 'return (minutes(sailing["arrives"]) - minutes(sailing["departs"])) % (24 * 60)'


def look_round() -> Turn:
    """The first look at the project."""
    return turn(
        "Look round this project and tell me in two sentences how a fare is worked out.",
        act("I will look at the layout first.", listing()),
        act("The fares live in one module.", read("README.md"), read("ferry/fares.py")),
        say(
            """A ticket starts from the adult price of 12.40 euros, lowered by the passenger's discount (25 %
            for seniors, 20 % for students, 50 % for children), all in whole cents. A day return is twice that
            less 10 %, and a bicycle adds a flat 3.10 euros at the end."""
        ),
    )


def infants() -> Turn:
    """A small change: infants travel free."""
    return turn(
        "Children under four should travel free, the README says so. Build it and check it.",
        act("Let me see where the kinds of passenger are used.", grep("DISCOUNTS"), read("check.py")),
        act(
            "A discount of 100 % does it: the bicycle is added afterwards, so it still pays.",
            edit("ferry/fares.py", OLD_DISCOUNTS, NEW_DISCOUNTS),
        ),
        act("Now the checks.", check()),
        say(
            """Infants travel free now: `DISCOUNTS` in `ferry/fares.py` has the kind `infant` with 100 %, and
            a bicycle still pays. The checks of the fares pass."""
        ),
    )


def night_boat(days: int = 14) -> Turn:
    """A bug: sailings that end after midnight."""
    sailings = days * len(ferry.DEPARTURES)
    return turn(
        "Why does the check count sailings of negative length? Find the cause and mend it.",
        act(
            "I need the code that works out the length, and the data it reads.",
            read("ferry/timetable.py"),
            read("data/sailings.csv"),
            reasoning=f"{days} of {sailings} sailings, one a day: that smells of midnight, not of bad data.",
        ),
        act(
            """It is the 23:20 boat: it arrives at 00:35 on the next day, and the date is not in the sum. The
            length has to be taken modulo a day.""",
            edit("ferry/timetable.py", OLD_DURATION, NEW_DURATION),
        ),
        act("And the checks again.", check()),
        say(
            """The boat of 23:20 arrives after midnight, so 00:35 minus 23:20 was negative. `duration` now
            takes the difference modulo 24 hours, and no sailing is of negative length any more."""
        ),
    )


def log_path(week: int) -> str:
    """The import log of a week."""
    return f"logs/week-{week}.log"


def week_words(week: int) -> str:
    """What the log of a week says about late boats."""
    worst = ferry.worst(week)
    return (
        f"Week {week}: {ferry.late_count(week)} sailings were more than 15 minutes late, the worst the "
        f"{worst.departs} of {worst.day} ({worst.vessel}, {worst.late} minutes)."
    )


def late_boats(*weeks: int) -> Turn:
    """Reading the import logs one after the other."""
    replies = [act("I will go through the import logs week by week.", read(log_path(weeks[0])))]
    replies += [act(week_words(before), read(log_path(week))) for before, week in pairwise(weeks)]
    total = sum(ferry.late_count(week) for week in weeks)
    names = ", ".join(str(week) for week in weeks)
    last = week_words(weeks[-1])
    replies.append(say(f"{last} In the weeks {names} together {total} sailings were that late."))
    return turn(
        f"""Which boats were more than 15 minutes late in the weeks {names}? The import logs have it; give
        me the number and the worst one of each week.""",
        *replies,
    )

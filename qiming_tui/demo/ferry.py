"""The project of the scenarios: the timetable and fares of a small ferry line, with logs to read.

Source files are short texts; what is bulky is made by a function, the same every time.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

ADULT_PRICE: Final = 1240

AGENTS: Final = """\
# Rules for this repository

- Money is in cents, never in floats.
- Every change is checked with `python3 -B check.py`; it must print `all good`.
- Data under `data/` and `logs/` comes from the harbour office: read it, never edit it.
"""

README: Final = """\
# island-ferry

Timetable and fares of the line Nordhafen - Inselmole, for the ticket machines on both piers.

- `ferry/fares.py` works out the price of a ticket.
- `ferry/timetable.py` reads `data/sailings.csv` and answers questions about sailings.
- `logs/` holds what the harbour office's import wrote, one file a week.
- `check.py` checks all of it; run `python3 -B check.py`.

Children under four travel free, but nobody has built that yet. Bicycles always pay.
"""

FARES: Final = '''\
"""Fares of the island line, in cents."""

ADULT = 1240
BIKE = 310
RETURN_DISCOUNT = 10
DISCOUNTS = {"adult": 0, "senior": 25, "student": 20, "child": 50}


def fare(kind: str, *, bike: bool = False, day_return: bool = False) -> int:
    """Price of one ticket; raises KeyError for a kind of passenger that we do not know."""
    price = ADULT * (100 - DISCOUNTS[kind]) // 100
    if day_return:
        price = price * 2 * (100 - RETURN_DISCOUNT) // 100
    if bike:
        price += BIKE
    return price
'''

TIMETABLE: Final = '''\
"""The timetable, read from the harbour office's file."""

import csv
from pathlib import Path

COLUMNS = ["day", "departs", "arrives", "from", "to", "vessel"]


def minutes(clock: str) -> int:
    """Minutes since midnight of a time such as 06:10."""
    hours, rest = clock.split(":")
    return int(hours) * 60 + int(rest)


def duration(sailing: dict[str, str]) -> int:
    """How long a sailing takes, in minutes."""
    return minutes(sailing["arrives"]) - minutes(sailing["departs"])


def sailings(path: Path = Path("data/sailings.csv")) -> list[dict[str, str]]:
    """All sailings of the file, in its order."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def longest(rows: list[dict[str, str]]) -> dict[str, str]:
    """The sailing that takes longest."""
    return max(rows, key=duration)
'''

CHECK: Final = '''\
"""Checks the project; prints one line a group and ends with 1 if something is wrong."""

import sys

from ferry.fares import DISCOUNTS, fare
from ferry.timetable import duration, sailings

wrong = []


def expect(what, got, wanted):
    if got != wanted:
        wrong.append(f"{what}: got {got}, wanted {wanted}")


expect("adult", fare("adult"), 1240)
expect("child", fare("child"), 620)
expect("student return with bicycle", fare("student", bike=True, day_return=True), 2095)
if "infant" in DISCOUNTS:
    expect("infant", fare("infant"), 0)
    expect("infant with bicycle", fare("infant", bike=True), 310)
print(f"fares: {len(DISCOUNTS)} kinds of passenger")

rows = sailings()
night = [row for row in rows if duration(row) < 0]
expect("sailings of negative length", len(night), 0)
print(f"timetable: {len(rows)} sailings")

for line in wrong:
    print("WRONG", line)
print("not good" if wrong else "all good")
sys.exit(1 if wrong else 0)
'''

VESSELS: Final = ("Seeschwalbe", "Alte Liebe", "Nordlicht", "Inselfee")
PIERS: Final = ("Nordhafen", "Inselmole")
DEPARTURES: Final = ("06:10", "08:40", "11:15", "14:00", "17:30", "20:05", "23:20")
CROSSING: Final = 75
"""Minutes of a crossing on time."""


class Sailing(NamedTuple):
    """One line of an import log."""

    day: str
    departs: str
    vessel: str
    late: int


def numbers(seed: int) -> Iterator[int]:
    """An endless row of pseudo-random numbers 0..32767, the same for a seed everywhere."""
    state = seed
    while True:
        state = (state * 1_103_515_245 + 12_345) % 2**31
        yield state >> 16


def clock(minutes: int) -> str:
    """HH:MM of minutes since midnight, past midnight too."""
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def minutes(text: str) -> int:
    """Minutes since midnight of HH:MM."""
    return int(text[:2]) * 60 + int(text[3:])


def sailings_csv(days: int) -> str:
    """The timetable of so many days of March, two lines a departure."""
    lines = ["day,departs,arrives,from,to,vessel"]
    for day in range(1, days + 1):
        for index, departs in enumerate(DEPARTURES):
            vessel = VESSELS[(day + index) % len(VESSELS)]
            start, end = PIERS if index % 2 == 0 else PIERS[::-1]
            arrives = clock(minutes(departs) + CROSSING)
            lines.append(f"2025-03-{day:02d},{departs},{arrives},{start},{end},{vessel}")
    return "\n".join(lines) + "\n"


def week(number: int) -> list[Sailing]:
    """What the harbour office wrote down in week 1 to 4: seven days, seven departures each."""
    noise = numbers(number * 7919)
    out = []
    for day in range(number * 7 - 6, number * 7 + 1):
        for index, departs in enumerate(DEPARTURES):
            roll = next(noise) % 100
            late = 0 if roll < 70 else roll - 66
            out.append(Sailing(f"2025-03-{day:02d}", departs, VESSELS[(day + index) % 4], late))
    return out


def week_log(number: int) -> str:
    """The import log of one week: a line a sailing, and what the importer says in between."""
    lines = [f"INFO  import of week {number} started, source harbour-office, format 4"]
    for row, sailing in enumerate(week(number), 1):
        arrives = clock(minutes(sailing.departs) + CROSSING + sailing.late)
        delay = f"late {sailing.late} min" if sailing.late else "on time"
        lines.append(
            f"INFO  row {number}{row:03d}: {sailing.day} {sailing.vessel} departed {sailing.departs}, "
            f"arrived {arrives}, {delay}"
        )
        if sailing.late > 25:
            lines.append(f"WARN  row {number}{row:03d}: late by more than 25 minutes, passengers were told")
    lines.append(f"INFO  import of week {number} finished")
    return "\n".join(lines) + "\n"


def worst(number: int) -> Sailing:
    """The latest arrival of a week."""
    return max(week(number), key=lambda sailing: sailing.late)


def late_count(number: int) -> int:
    """How many sailings of a week were late by more than 15 minutes."""
    return sum(sailing.late > 15 for sailing in week(number))


def files(*, days: int = 14, weeks: int = 4) -> tuple[tuple[str, str], ...]:
    """Path and text of every file of the project."""
    return (
        ("AGENTS.md", AGENTS),
        ("README.md", README),
        ("check.py", CHECK),
        ("data/sailings.csv", sailings_csv(days)),
        ("ferry/__init__.py", '"""The island ferry."""\n'),
        ("ferry/fares.py", FARES),
        ("ferry/timetable.py", TIMETABLE),
        *((f"logs/week-{number}.log", week_log(number)) for number in range(1, weeks + 1)),
    )

"""No information by colour alone: what differs on the screen differs in its text, also without colours."""

import msgspec

from qiming_tui.model.window import ItemState, State
from qiming_tui.tui.blocks import BoundaryFacts, Cost, Kind
from qiming_tui.tui.prompt_note import PromptStatus
from qiming_tui.tui.toolrow import Phase
from tests.tui.bars import bar
from tests.tui.frames import Look, frame
from tests.tui.pages import Page
from tests.tui.strips import marks
from tests.tui.talks import COSTS, FACTS, block, call

MONO = Look(size=(120, 40), no_color=True)


def bars():
    """States of the budget that must not look alike."""
    yield from (bar(state=state) for state in State)
    yield bar(state=State.OVER, over_by=3_204, count=171_204, percent=102)
    yield from (bar(auto=False), bar(cached=0), bar(cache_break=19_200, cached=19_200, reread=51_800))
    yield from (bar(draft_tokens=30_000), bar(growth=None), bar(count=95_300), bar(since=600))
    for letter in "STMZUAR":
        yield bar(by_class={"S": 3_000, "T": 11_200, letter: 60_000}, total=98_600 + ord(letter))


def tools():
    """Ways in which a call can stand in the conversation."""
    for phase in Phase:
        yield {"r1": call("r1", "bash", "x", seq=2, phase=phase, started=0)}, {}
    yield {"r1": call("r1", "bash", "x", seq=2, bad=True, outcome="exit 1", phase=Phase.FAILED)}, {}
    yield {"r1": call("r1", "bash", "x", seq=2, cleared="14:02", was=6_100)}, {}
    for cost in (
        Cost(1_900, "R"),
        Cost(1_900, "A"),
        Cost(1_900, "R", pinned=True),
        Cost(12, "R", ItemState.CLEARED),
    ):
        yield {"r1": call("r1", "bash", "x", seq=2)}, {"r1": cost}


def said():
    """Other blocks that must not look alike."""
    for kind in (Kind.USER, Kind.SYNTHETIC, Kind.TEXT, Kind.THINKING, Kind.NOTE):
        yield {"r1": block("r1", kind, "the same words", seq=2)}, {}
    yield {"r1": block("r1", Kind.NOTE, "the same words", seq=2, failed=True)}, {}


BOUNDARIES = (
    FACTS,
    msgspec.structs.replace(FACTS, auto=False),
    msgspec.structs.replace(FACTS, rough=True),
    msgspec.structs.replace(FACTS, undone=True),
    BoundaryFacts(running="compacting"),
    BoundaryFacts(failed="the model returned no text"),
)
STATUSES = (
    PromptStatus(),
    PromptStatus(busy=True, doing="running bash"),
    PromptStatus(busy=True, doing="waiting for permission", waiting=True),
    PromptStatus(queued=2),
    PromptStatus(queued=2, held=True),
    PromptStatus(draft_tokens=3_100, lands_at=105_113, percent=63),
    PromptStatus(draft_tokens=3_100, lands_at=105_113, percent=63, compacts=True),
)


async def frames_of(held, states, show):
    """The text of each state."""
    found = []
    for state in states:
        show(state)
        await held.settle()
        await held.settle()
        found.append(held.text())
    return found


def alike(found):
    """Pairs of places that show the same."""
    return [(a, b) for a, text in enumerate(found) for b in range(a) if found[b] == text]


async def test_no_two_states_look_alike_without_colours():
    async with frame(Page, MONO) as held:
        main = held.app.main
        assert held.app.no_color
        while not main.conversation.ready:
            await held.settle()
        assert alike(await frames_of(held, bars(), main.bar.show)) == []
        main.conversation.load([])

        def block_shown(state):
            blocks, costs = state
            main.conversation.load(blocks.values())
            main.conversation.set_costs(costs)

        assert alike(await frames_of(held, [*tools(), *said()], block_shown)) == []
        main.conversation.load([block("m3", Kind.BOUNDARY, seq=3)])
        bounds = await frames_of(held, BOUNDARIES, lambda f: main.conversation.set_boundary("m3", f))
        assert alike(bounds) == []
        assert alike(await frames_of(held, STATUSES, main.prompt_bar.show)) == []


async def test_where_one_is_and_what_is_archived_is_to_be_seen_without_colours():
    async with frame(Page, MONO) as held:
        main = held.app.main
        while not main.conversation.ready:
            await held.settle()
        blocks = [block("a", Kind.TEXT, "one", seq=1), block("b", Kind.TEXT, "two", seq=2)]
        main.conversation.load(blocks)
        main.conversation.set_costs(COSTS | {"a": Cost(600, "A"), "b": Cost(600, "A")})
        frames = await frames_of(held, [(), ("m1",)], main.conversation.set_archived)
        main.conversation.focus()
        frames += await frames_of(held, ["a", "b"], lambda name: setattr(main.conversation, "cursor", name))
        main.strip.focus()
        frames += await frames_of(held, [46, 20], lambda step: main.strip.show(marks(), step))
        main.bar.focus()
        frames += await frames_of(held, [bar(state=State.LAST_TURN)], main.bar.show)
        assert alike(frames) == []


async def test_the_same_bar_has_as_many_letters_as_coloured_cells():
    runs = []
    for look in (Look(size=(120, 40)), MONO):
        async with frame(Page, look) as held:
            row = held.lines()[2]
            if look.no_color:
                letters = [char for char in row[: row.index("?") + 1] if char.isalpha() or char == "?"]
                runs.append({letter: letters.count(letter) for letter in letters})
                continue
            held_cells: dict[str, int] = {}
            letter = ""
            for text, _, back in held.colours(2):
                for char in text:
                    letter = char if char in "STMZUAR?" else letter
                    if char not in "∙▏▎▍▌▋▊▉":
                        held_cells[f"{letter} {back}"] = held_cells.get(f"{letter} {back}", 0) + 1
            cells = {}
            for key, count in held_cells.items():
                cells.setdefault(key[0], count)
            runs.append(cells)
    assert {k: v for k, v in runs[0].items() if k in "STMZUA"} == {
        k: v for k, v in runs[1].items() if k in "STMZUA"
    }

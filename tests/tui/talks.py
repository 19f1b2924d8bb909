"""Blocks for tests of the conversation: the talk of the pictures that it is drawn after."""

from typing import Any

from qiming_tui.model.window import ItemState
from qiming_tui.tui.blocks import Block, Cost, Kind
from qiming_tui.tui.toolrow import Phase, ToolRow
from qiming_tui.tui.widgets.conversation import BoundaryFacts, Conversation
from tests.tui.frames import Bench

DIFF = """--- a/src/retry.py
+++ b/src/retry.py
@@ -39,4 +39,4 @@
 class Retry:
 for delay in self.delays:
-    time.sleep(delay)
+    self.clock.sleep(delay)
     yield
"""

SUMMARY = """## Goal
make retry deterministic

## Done
- clock injected in `Retry`
- three call sites left
"""


def block(id: str, kind: Kind, text: str = "", *, seq: int = 0, part: int = 0, **more: Any) -> Block:
    """A block of message m<seq>."""
    return Block(id=id, message_id=f"m{seq}", kind=kind, text=text, order=(seq, part), **more)


def call(id: str, name: str, subject: str, *, seq: int, part: int = 1, text: str = "", **more: Any) -> Block:
    """A tool block."""
    phase = more.pop("phase", Phase.OK)
    row = ToolRow(name=name, subject=subject, phase=phase, **more)
    return Block(
        id=id,
        message_id=f"m{seq}",
        kind=Kind.TOOL,
        order=(seq, part),
        text=text,
        tool=row,
        live=row.running,
    )


def talk() -> list[Block]:
    """The conversation of main-120x40-why.png."""
    why = "The sleep is patched in `setUp` but restored from a worker thread, so two tests share one clock."
    return [
        block(
            "u1",
            Kind.USER,
            "Fix the flaky retry test and explain why it raced.",
            seq=1,
            turn=12,
            parts=("p1",),
        ),
        block("a1", Kind.TEXT, why, seq=2),
        call("r1", "read", "tests/test_retry.py", seq=2, cleared="14:02", was=6_100, was_rough=False),
        call(
            "b1",
            "bash",
            "pytest -x tests/test_retry.py",
            seq=2,
            part=2,
            phase=Phase.FAILED,
            outcome="exit 1",
            bad=True,
            took_ms=2_300,
            text="F\nE   AssertionError: [stage] x [/",
        ),
        block("m3", Kind.BOUNDARY, seq=3, parts=("pc",)),
        block("s1", Kind.SUMMARY, SUMMARY, seq=4),
        block("c1", Kind.SYNTHETIC, "Continue if you have next steps", seq=5, parts=("pc1",)),
        block("a2", Kind.TEXT, "The helper now takes a **clock**; three call sites are left.", seq=6),
        call(
            "g1",
            "grep",
            "time.sleep src/",
            seq=6,
            outcome="3 hits",
            took_ms=100,
            text="src/a.py:1: time.sleep(1)",
        ),
        call("e1", "edit", "src/retry.py", seq=6, part=2, outcome="+12 -7", took_ms=100, diff=DIFF),
    ]


COSTS = {
    "p1": Cost(100, "U"),
    "a1": Cost(600, "A"),
    "r1": Cost(12, "R", ItemState.CLEARED),
    "b1": Cost(1_900, "R"),
    "s1": Cost(4_600, "Z"),
    "pc1": Cost(100, "U", ItemState.SYNTHETIC),
    "a2": Cost(400, "A"),
    "g1": Cost(400, "R"),
    "e1": Cost(900, "A"),
}

FACTS = BoundaryFacts(number=1, auto=True, step=27, before=171_204, after=24_300, archived=58)


class Talk(Bench):
    """An app with a conversation in it."""

    def __init__(self, view: Conversation | None = None) -> None:
        self.view = view or Conversation()
        self.wishes: list[tuple[Any, ...]] = []
        self.running = call("w1", "bash", "pytest", seq=9, phase=Phase.RUNNING, started=9_500.0)
        super().__init__(self.view, styles=("base", "conversation"))

    def on_conversation_copy_wanted(self, message: Conversation.CopyWanted) -> None:
        """Remember."""
        self.heard.append(message)

    def on_conversation_body_wanted(self, message: Conversation.BodyWanted) -> None:
        """Remember."""
        self.heard.append(message)

    def on_conversation_link_wanted(self, message: Conversation.LinkWanted) -> None:
        """Remember."""
        self.heard.append(message)

    def on_conversation_edit_wanted(self, message: Conversation.EditWanted) -> None:
        """Remember."""
        self.wishes.append((message.kind, message.part_ids, message.message_id))

    def on_conversation_look_wanted(self, message: Conversation.LookWanted) -> None:
        """Remember."""
        self.wishes.append((message.what, message.part_ids, message.message_id))


def shown(app: Talk) -> str:
    """All rows of the whole conversation, below the fold too."""
    view = app.view
    for place in range(len(view.shelf)):
        view.shelf.ensure(place)
    rows = []
    for place, item in enumerate(view.shelf.items):
        rows += [view.row_strip(place, row).text.rstrip() for row in range(item.height)]
    return "\n".join(rows)

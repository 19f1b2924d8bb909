"""Random edits with undos in any order give the expected next body, byte for byte.

`Model` is a second, naive account of the rules: it keeps the groups that are on and replays them from the
start for every request. It shares no code with the engine.
"""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.assemble import assemble, first_change, manifest, view_hash
from qiming_tui.context.boundary import window
from qiming_tui.context.cache import Cache
from qiming_tui.context.edits import fold, is_cleared
from qiming_tui.context.health import health, pin_sent
from qiming_tui.context.state import WindowEdits
from qiming_tui.context.tokens import Tally
from qiming_tui.context.view import build
from qiming_tui.context.weigh import recount
from qiming_tui.model.codec import canonical
from qiming_tui.model.edits import EditKind
from qiming_tui.model.messages import Entry
from qiming_tui.model.window import Preset, Settings
from tests.context.histories import histories
from tests.context.make import asks, assistant, edit, goes_on, numbered, state, summary, switch, tool, user

PLACEHOLDER = "[Old tool result content cleared]"
CONTINUE = (
    "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed."
)


class Model:
    """What happened, told simply: messages, and groups of edits that are on or off."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str, Any]] = []
        self.groups: list[dict[str, Any]] = []

    def active(self, *kinds: str) -> list[dict[str, Any]]:
        return [group for group in self.groups if group["on"] and group["kind"] in kinds]

    def say(self, role: str, id: str, content: Any) -> None:
        self.messages.append((role, id, content))

    def body(self) -> list[dict[str, Any]]:
        hidden = {id for g in self.groups if g["kind"] == "compact" and not g["on"] for id in g["messages"]}
        shown = [m for m in self.messages if m[1] not in hidden]
        cleared: dict[str, bool] = {}
        pins: dict[str, str] = {}
        texts: dict[str, str] = {}
        clipped: dict[str, int] = {}
        for group in self.active("clear", "restore", "clip", "unclip", "pin", "unpin", "summary"):
            for target in group["targets"]:
                if group["kind"] in ("restore", "unclip"):
                    clipped.pop(target, None)
                if group["kind"] in ("clear", "restore"):
                    cleared[target] = group["kind"] == "clear"
                elif group["kind"] == "clip":
                    clipped[target] = group["chars"]
                elif group["kind"] == "unclip":
                    pass
                elif group["kind"] == "pin":
                    pins.pop(target, None)
                    pins[target] = group["text"]
                elif group["kind"] == "unpin":
                    pins.pop(target, None)
                else:
                    texts[target] = group["text"]
        compactions = self.active("compact")
        if not compactions:
            return self.rendered(shown, cleared, texts, clipped)
        newest = compactions[-1]
        at = next(i for i, m in enumerate(shown) if m[1] == newest["messages"][0])
        older = {id for group in compactions for id in group["messages"][:2]}
        tail = []
        if newest["tail"]:
            start = next((i for i, m in enumerate(shown[:at]) if m[1] == newest["tail"]), at)
            tail = [m for m in shown[start:at] if m[1] not in older]
        pair, rest = shown[at : at + 2], shown[at + 2 :]
        live = {m[1] for m in tail + rest} | {c for m in tail + rest if m[0] == "tool" for c in [m[2][0]]}
        lost = [f"[Pinned by the user, from x]\n{text}" for part, text in pins.items() if part not in live]
        out = self.rendered(pair, cleared, texts, clipped)
        if lost:
            blocks = [{"type": "text", "text": text} for text in lost]
            out.append({"role": "user", "content": lost[0] if len(lost) == 1 else blocks})
        return out + self.rendered(tail + rest, cleared, texts, clipped)

    @staticmethod
    def rendered(
        messages: list[Any], cleared: dict[str, bool], texts: dict[str, str], clipped: dict[str, int]
    ) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for role, id, content in messages:
            if role != "tool":
                out.append({"role": role, "content": texts.get(id, content)})
                continue
            part, result = content
            path = part[: clipped.get(part, len(part))]
            path += "" if path == part else f"[... {len(part) - len(path)} characters cut]"
            arguments = json.dumps({"path": path}, separators=(",", ":"))
            function = {"name": "read", "arguments": arguments}
            call = {"id": f"call_{part}", "type": "function", "function": function}
            out.append({"role": "assistant", "content": None, "tool_calls": [call]})
            shown = PLACEHOLDER if cleared.get(part) else result
            out.append({"role": "tool", "tool_call_id": f"call_{part}", "content": shown})
        return out


class Story:
    """The same events for the engine (entries and a log) and for the model."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.entries: list[Entry] = []
        self.log: list[Any] = []
        self.model = Model()
        self.parts: list[str] = []
        self.summaries: list[str] = []
        self.turn()

    def add(self, entry: Entry, role: str, content: Any) -> None:
        self.entries.append(entry)
        self.model.say(role, entry.id, content)

    def turn(self) -> None:
        n = len(self.entries)
        self.add(user(f"u{n}", f"say {n}"), "user", f"say {n}")
        if self.draw(st.booleans()):
            part = f"p{n}"
            self.parts.append(part)
            self.add(assistant(f"a{n}", tool(f"a{n}", part, f"result {n}")), "tool", (part, f"result {n}"))
        else:
            self.add(assistant(f"a{n}", f"answer {n}"), "assistant", f"answer {n}")

    def record(self, kind: EditKind, name: str, targets: list[str], **extra: Any) -> None:
        seq = len(self.log) + 1
        params = {"text": extra["text"], "source": "x"} if "text" in extra else {}
        params |= {"chars": extra["chars"]} if "chars" in extra else {}
        params |= {"clip": True} if name == "unclip" else {}
        self.log.append(edit(seq, kind, *targets, group=f"g{seq}", **params))
        group = {"id": f"g{seq}", "kind": name, "targets": targets, "on": True, "messages": targets}
        self.model.groups.append(group | extra)

    def compact(self) -> None:
        n = len(self.entries)
        users = [e.id for e in self.entries if e.real_user]
        tail = self.draw(st.sampled_from([None, users[-1]]))
        self.add(asks(f"c{n}", tail=tail), "user", "What did we do so far?")
        self.add(summary(f"s{n}", f"c{n}", f"summary {n}"), "assistant", f"summary {n}")
        ids = [f"c{n}", f"s{n}"]
        if self.draw(st.booleans()):
            self.add(goes_on(f"k{n}"), "user", CONTINUE)
            ids.append(f"k{n}")
        self.summaries.append(f"s{n}")
        self.record(EditKind.COMPACT, "compact", ids, tail=tail)

    def change(self) -> None:
        kinds = {
            "clear": (EditKind.CLEAR, self.parts),
            "restore": (
                EditKind.RESTORE,
                [t for g in self.model.groups if g["kind"] == "clear" for t in g["targets"]],
            ),
            "clip": (EditKind.CLIP, self.parts),
            "unclip": (EditKind.RESTORE, self.parts),
            "pin": (EditKind.PIN, self.parts),
            "unpin": (EditKind.UNPIN, self.parts),
            "summary": (EditKind.SUMMARY_EDIT, self.summaries),
        }
        name = self.draw(st.sampled_from(sorted(kinds)))
        kind, targets = kinds[name]
        if not targets:
            return
        chosen = self.draw(st.lists(st.sampled_from(targets), min_size=1, max_size=2, unique=True))
        if name in ("pin", "summary"):
            self.record(kind, name, chosen, text=f"text {len(self.log)}")
        elif name == "clip":
            self.record(kind, name, chosen, chars=self.draw(st.integers(0, 1)))
        else:
            self.record(kind, name, chosen)

    def toggle(self) -> None:
        """An undo or a redo of any group, compactions in the only order that is allowed: the newest first."""
        compactions = [g for g in self.model.groups if g["kind"] == "compact"]
        groups = [g for g in self.model.groups if g["kind"] != "compact"]
        groups += [g for g in compactions if g["on"]][-1:]
        groups += [
            g for i, g in enumerate(compactions) if not g["on"] and not any(o["on"] for o in compactions[i:])
        ][:1]
        if groups:
            group = self.draw(st.sampled_from(groups))
            group["on"] = not group["on"]
            self.log.append(switch(len(self.log) + 1, group["id"], group["on"]))


def is_hidden(target, window_now):
    """Whether what is pinned is live and was cleared by hand: then its placeholder is sent, and the health
    line says so."""
    parts = {part.id: part for entry in window_now.live for part in entry.parts}
    return target in parts and is_cleared(parts[target], window_now.edits)


@given(st.data(), st.sampled_from(list(Preset)))
def test_the_next_body_is_the_expected_one_after_every_event(data, preset):
    story = Story(data)
    cache, tally = Cache(), Tally()
    for step in data.draw(
        st.lists(st.sampled_from(["turn", "change", "change", "toggle", "compact"]), max_size=12)
    ):
        log = tuple(story.log)
        getattr(story, step)()
        assert tuple(story.log[: len(log)]) == log
        made = state(*story.entries, edits=tuple(story.log))
        view = build(made, Settings(preset=preset), tally, cache=cache)
        body = assemble(view.params, view.items)
        assert canonical(body["messages"]) == canonical(story.model.body())
        assert view.hash == view_hash(body)
        assert recount(body, tally) == view.total
        assert view == build(made, Settings(preset=preset), Tally())
        window_now = window(made.entries, fold(made.edits), preset)
        bad = {check.name for check in health(view, window_now).checks if not check.good}
        assert bad <= {"pins"}
        hidden = [pin for pin in window_now.edits.pins if not pin_sent(pin, view.items, window_now)]
        assert all(is_hidden(pin.target, window_now) for pin in hidden)
        assert bool(hidden) == ("pins" in bad)


@given(st.data(), histories(), st.sampled_from(["openai", "anthropic", "gemini"]))
def test_what_is_appended_never_changes_what_stands_before(data, history, dialect):
    """Between two edits the prefix of the request stays byte for byte the same, so that prompt caches hit."""
    cache, tally = Cache(), Tally()
    before = None
    for count in range(1, len(history) + 1):
        made = state(*history[:count], dialect=dialect)
        view = build(made, Settings(), tally, cache=cache)
        if before is not None:
            assert first_change(before, manifest(view.items)) is None
        before = manifest(view.items)


@given(histories())
def test_a_boundary_is_idempotent(history):
    """What is live, taken as a history of its own, is live again in the same order."""
    whole = numbered(*history, asks("c", tail=history[0].id), summary("s", "c"), user("n", "next"))
    for preset in Preset:
        once = window(whole, WindowEdits(), preset)
        again = window(once.live, WindowEdits(), preset)
        assert again.live == once.live
        assert [entry.id for entry in once.live[:3]] == ["c", "s", history[0].id]

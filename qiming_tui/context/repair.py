"""Make any list of items legal for OpenAI and Anthropic (`design.md` 5.6). Stored originals stay untouched.

Every call has exactly one result right after its message, every result a call; ids of calls are unique; no
blank block is sent; an answer is never made of reasoning alone; the conversation begins with a user message.
On a sound history nothing changes, and what is appended later never changes what stands before it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from qiming_tui.context.assemble import FIXED_ROLES, runs
from qiming_tui.context.scene import UNWEIGHED, make_item, text_value
from qiming_tui.model.codec import JSON, canonical, digest
from qiming_tui.model.parts import INTERRUPTED_TEXT
from qiming_tui.model.window import Item, ItemState, Klass

LEAD_TEXT: Final = "[The beginning of this conversation is missing]"
NO_OUTPUT_TEXT: Final = "[No output]"

_RANK: Final = {"S": 0, "T": 1, "M": 2}
_ANTHROPIC_ID: Final = re.compile(r"[A-Za-z0-9_-]+")


def blank(text: str) -> bool:
    """Whether a text holds nothing that a provider would take."""
    return not text or text.isspace()


def repair(items: Sequence[Item], *, dialect: str = "openai") -> list[Item]:
    """The items of a legal request; changed and added ones, and those of a message that lost one, have
    tokens `UNWEIGHED`."""
    fixed = [item for item in items if item.value["role"] in FIXED_ROLES]
    spoken = [item for item in items if item.value["role"] not in FIXED_ROLES]
    return [*_fixed(fixed), *_Repair(dialect).run(spoken)]


def _fixed(items: list[Item]) -> list[Item]:
    """System blocks, tools and memory files, in this order; no blank block, no tool twice."""
    names: set[str] = set()
    kept = []
    for item in sorted(items, key=lambda item: _RANK.get(item.klass.value, 0)):
        name = item.value.get("name")
        if name in names or (name is None and blank(item.value["text"])):
            continue
        if name is not None:
            names.add(name)
        kept.append(item)
    if len(kept) < len(items):
        return [msgspec.structs.replace(item, tokens=UNWEIGHED) for item in kept]
    return kept


def _changed(item: Item, **fields: JSON) -> Item:
    value = {**item.value, **fields}
    blob = digest(canonical(value))
    return msgspec.structs.replace(item, value=value, blob=blob, tokens=UNWEIGHED)


def _says(value: Mapping[str, JSON]) -> bool:
    """Whether an item of a user or assistant message is not blank."""
    kind = value["type"]
    if kind == "text":
        return not blank(value["text"])
    return kind != "reasoning" or not blank(value["text"]) or bool(value.get("details"))


def _stem(item: Item) -> str:
    """What a call and its result have in common."""
    return item.key.rpartition(":")[0]


class _Repair:
    """One pass over the items; holds what has to be known of the messages before."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._ids: set[str] = set()
        self._keys: set[str] = set()
        self._results: dict[str, list[Item]] = {}
        self._begun = False
        self._out: list[Item] = []

    def run(self, items: Sequence[Item]) -> list[Item]:
        results = self._results
        for item in items:
            if item.value["role"] == "tool":
                results.setdefault(_stem(item), []).append(item)
        for run in runs(items):
            role = run[0].value["role"]
            if role == "tool":
                continue
            kept = [item for item in run if _says(item.value)]
            if len(kept) < len(run):
                kept = [msgspec.structs.replace(item, tokens=UNWEIGHED) for item in kept]
            if not kept:
                continue
            if role == "assistant":
                self._assistant(kept)
            else:
                self._begun = True
                self._out += [self._named(item) for item in kept]
        return self._out

    def forget(self, items: Sequence[Item]) -> None:
        """Go on as if these last items had not been seen; all of them were sound."""
        for item in items:
            self._keys.discard(item.key)
            if item.value.get("type") == "call":
                self._ids.discard(item.value["id"])
        self._results.clear()
        self._out = []

    def _named(self, item: Item) -> Item:
        """The item under a key that none before it has; a double result is a message of its own."""
        key, number = item.key, 1
        if key not in self._keys:
            self._keys.add(key)
            return item
        while key in self._keys:
            number += 1
            key = f"{item.key}~{number}"
        self._keys.add(key)
        group = key if item.value["role"] == "tool" else item.group
        return msgspec.structs.replace(item, key=key, group=group, tokens=UNWEIGHED)

    def _assistant(self, run: list[Item]) -> None:
        """An answer, and right after it the results of its calls."""
        if not any(item.value["type"] in ("text", "call") for item in run):
            return
        if not self._begun:
            self._begun = True
            self._out.append(_lead(run[0]))
        results = []
        for item in run:
            if item.value["type"] != "call":
                self._out.append(self._named(item))
                continue
            call_id = self._unique(item)
            call = item if call_id == item.value["id"] else _changed(item, id=call_id)
            self._out.append(self._named(call))
            results.append(self._named(self._result_of(item, call_id)))
        self._out += results

    def _unique(self, call: Item) -> str:
        """An id that no call before it has, and that the dialect takes; verbatim wherever it can be."""
        wanted: str = call.value["id"]
        if not wanted or (self._dialect == "anthropic" and not _ANTHROPIC_ID.fullmatch(wanted)):
            wanted = "call_" + digest(f"{call.key} {wanted}".encode())[:24]
        found, number = wanted, 1
        while found in self._ids:
            number += 1
            found = f"{wanted}_{number}"
        self._ids.add(found)
        return found

    def _result_of(self, call: Item, call_id: str) -> Item:
        waiting = self._results.get(_stem(call))
        if not waiting:
            return _missing_result(call, call_id)
        result = waiting.pop(0)
        value = result.value
        if value["id"] != call_id:
            result = _changed(result, id=call_id)
        if blank(value["content"]):
            result = _changed(result, content=NO_OUTPUT_TEXT)
        return result


def _lead(first: Item) -> Item:
    return make_item(
        "repair:lead",
        "repair:lead",
        text_value("user", LEAD_TEXT),
        Klass.USER,
        owner=(first.message_id, None),
        state=ItemState.SYNTHETIC,
        source="repair",
    )


def _missing_result(call: Item, call_id: str) -> Item:
    key = f"{_stem(call)}:result"
    return make_item(
        key,
        key,
        {"role": "tool", "id": call_id, "content": INTERRUPTED_TEXT},
        Klass.RESULT,
        owner=(call.message_id, call.part_id),
        state=ItemState.SYNTHETIC,
        source=call.source,
    )


class Sound:
    """Repair that remembers the last sound list of items, so that only what came after it is looked at.

    Its result is that of `repair`, always: the items of one message are legal or not by themselves, but for
    keys and ids of calls, which are remembered.
    """

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._dialect = ""
        self._state: _Repair | None = None

    def repair(self, items: list[Item], *, dialect: str) -> list[Item]:
        """As `repair`; the same list comes back where nothing had to be changed."""
        place = self._kept(items, dialect)
        if place is None:
            return self._whole(items, dialect)
        state = self._state
        assert state is not None
        state.forget(self._items[place:])
        rest = items[place:]
        legal = state.run(rest)
        if len(legal) != len(rest) or any(a is not b for a, b in zip(legal, rest, strict=True)):
            return self._whole(items, dialect)
        self._items = items
        return items

    def _kept(self, items: list[Item], dialect: str) -> int | None:
        """Where the new list leaves the remembered one, at the start of a message; None: too early."""
        if self._state is None or dialect != self._dialect:
            return None
        old = self._items
        both = zip(items, old, strict=False)
        place = next((at for at, (a, b) in enumerate(both) if a is not b), min(len(items), len(old)))
        while place and any(
            place < len(held) and held[place].message_id == held[place - 1].message_id
            for held in (items, old)
        ):
            place -= 1
        spoken = place and items[place - 1].value["role"] not in FIXED_ROLES
        return place if spoken else None

    def _whole(self, items: list[Item], dialect: str) -> list[Item]:
        fixed = [item for item in items if item.value["role"] in FIXED_ROLES]
        state = _Repair(dialect)
        spoken = state.run([item for item in items if item.value["role"] not in FIXED_ROLES])
        legal = [*_fixed(fixed), *spoken]
        self._state = None
        if len(legal) == len(items) and all(a is b for a, b in zip(legal, items, strict=True)):
            self._items, self._dialect, self._state = items, dialect, state
            return items
        return legal

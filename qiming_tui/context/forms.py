"""The three forms of a summary request (`design.md` 5.7): prefix, messages and transcript."""

from collections.abc import Sequence
from typing import Final

import msgspec

from qiming_tui.context.cache import Cache, weighed
from qiming_tui.context.prompts import ANNOUNCE, CREATE, MERGE, closing, instruction, prompt
from qiming_tui.context.render import fixed_items
from qiming_tui.context.repair import repair
from qiming_tui.context.scene import Scene, make_item, text_value
from qiming_tui.context.state import SessionState, ToolSchema, Window
from qiming_tui.context.tokens import Tally
from qiming_tui.context.transcript import escape
from qiming_tui.context.view import NO_OPTIONS, Options, breakpoints, items_of
from qiming_tui.model.limits import Limits, ModelRef
from qiming_tui.model.messages import Entry
from qiming_tui.model.parts import ToolPart
from qiming_tui.model.window import Item, ItemState, Klass, RequestParams, Settings

PREFIX, MESSAGES, TRANSCRIPT = "prefix", "messages", "transcript"

SOURCE: Final = "summary prompt"


class Compactor(msgspec.Struct, frozen=True, kw_only=True):
    """The model that writes the summary, with its own limits (cases C-054)."""

    model: ModelRef
    limits: Limits
    dialect: str = "openai"


_WHATEVER_IT_WEIGHS: Final = 10**12


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a compaction."""

    auto: bool
    overflow: bool = False
    """The provider refused the last request."""
    focus: str = ""
    """What the user asked the summary to keep in mind (cases C-071)."""
    keep_turns: int | None = None
    """So many of the newest turns stay word for word, whatever they weigh; None: the settings decide."""
    hook_prompt: str | None = None
    hook_context: tuple[str, ...] = ()
    compactor: Compactor | None = None
    """None: the working model."""
    options: Options = NO_OPTIONS
    """Those of the last turn; the prefix form sends the same, so that the prompt cache is hit."""

    def rules(self, settings: Settings) -> Settings:
        """The settings, with the tail that the user chose for this once."""
        if self.keep_turns is None:
            return settings
        return msgspec.structs.replace(
            settings, tail_turns=self.keep_turns, preserve_recent_tokens=_WHATEVER_IT_WEIGHS
        )


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A summary request whose size is known; it has no `max_tokens` yet."""

    form: str
    items: tuple[Item, ...]
    params: RequestParams
    cleared: tuple[str, ...] = ()
    """Parts that were cleared for this request only, so that it fits."""

    @property
    def tokens(self) -> int:
        """Size of the request."""
        return sum(item.tokens for item in self.items)


def _asks(text: str) -> Item:
    """The instruction: a user message of the program's own."""
    return make_item(
        "summary:instruction",
        "summary:instruction",
        text_value("user", text),
        Klass.USER,
        state=ItemState.SYNTHETIC,
        source=SOURCE,
    )


def prefix_form(
    state: SessionState,
    settings: Settings,
    tally: Tally,
    order: Order,
    *,
    window: Window,
    cache: Cache,
    entries: Sequence[Entry],
    limit: int | None,
) -> Draft:
    """The last request up to the tail with the instruction appended: same system prompt, tools, messages,
    reasoning and media, so that the provider's prompt cache is hit (cases C-063). `entries` is the beginning
    of the live window; tool calls are refused by the check of the answer, not by other parameters."""
    items = items_of(state, settings, tally, window=window, cache=cache, entries=entries)
    text = instruction(order.hook_prompt, order.focus, order.hook_context, limit=limit)
    items += weighed([_asks(text)], tally)
    params = RequestParams(
        model=state.model,
        dialect=state.dialect,
        tool_choice=order.options.tool_choice,
        temperature=order.options.temperature,
        reasoning_effort=order.options.reasoning_effort,
        breakpoints=breakpoints(items) if state.dialect == "anthropic" else (),
    )
    return Draft(form=PREFIX, items=tuple(items), params=params)


def messages_form(
    state: SessionState,
    settings: Settings,
    tally: Tally,
    order: Order,
    *,
    window: Window,
    entries: Sequence[Entry],
    limit: int | None,
    result_chars: int | None = None,
) -> Draft:
    """The articles' form: the history as messages and the instruction; no system prompt, no tools, no
    reasoning, media as words. `result_chars` shortens every tool result.

    Anthropic refuses calls in the history of a request without tools: there the schemas come along, with
    tool choice "none".
    """
    model = _compactor(state, order)
    held = window.boundary
    scene = Scene(
        model=model.model,
        dialect=model.dialect,
        preset=settings.preset,
        edits=window.edits,
        boundary=None if held is None else (held.message_id, held.summary_id),
        plain=True,
        result_chars=result_chars,
    )
    calls = any(isinstance(part, ToolPart) for entry in entries for part in entry.parts)
    tools = _schemas(state, entries) if calls and model.dialect == "anthropic" else ()
    items = fixed_items((), (), tools)
    for group in Cache().items(entries, scene, tally):
        items += group
    text = instruction(order.hook_prompt, order.focus, order.hook_context, limit=limit)
    items = weighed(repair([*items, _asks(text)], dialect=model.dialect), tally)
    params = RequestParams(
        model=model.model,
        dialect=model.dialect,
        tool_choice="none" if tools else None,
        breakpoints=breakpoints(items) if model.dialect == "anthropic" else (),
    )
    return Draft(form=MESSAGES, items=tuple(items), params=params)


def _schemas(state: SessionState, entries: Sequence[Entry]) -> tuple[ToolSchema, ...]:
    """The schemas of the session, and a bare one for each called tool that is not among them any more."""
    known = {tool.name for tool in state.tools}
    called = sorted(
        {part.tool for entry in entries for part in entry.parts if isinstance(part, ToolPart)} - known
    )
    bare = {"type": "object", "properties": {}}
    return (*state.tools, *(ToolSchema(name, "No longer available.", bare) for name in called))


def transcript_form(
    state: SessionState,
    tally: Tally,
    order: Order,
    *,
    chunk: str,
    previous: str | None,
    limit: int | None,
    part: tuple[int, int] = (1, 1),
) -> Draft:
    """OpenCode's form of today: one user message that quotes the history (conformance 1.3, step 8).

    `part`: (number, how many) where the history is summarised in several passes, each given the result of
    the one before as `previous`.
    """
    model = _compactor(state, order)
    value = {"role": "system", "text": prompt("summary_system")}
    system = make_item("summary:system", "system", value, Klass.SYSTEM, source=SOURCE)
    text = _transcript_text(chunk, order, previous=previous, limit=limit, part=part)
    items = weighed([system, _asks(text)], tally)
    params = RequestParams(model=model.model, dialect=model.dialect)
    return Draft(form=TRANSCRIPT, items=tuple(items), params=params)


def _transcript_text(
    chunk: str, order: Order, *, previous: str | None, limit: int | None, part: tuple[int, int]
) -> str:
    quoted = f"<conversation>\n{chunk}\n</conversation>"
    pieces = []
    hook = order.hook_prompt if order.hook_prompt and order.hook_prompt.strip() else None
    if hook is not None:
        pieces += [hook, ANNOUNCE]
    pieces.append(quoted)
    if part[1] > 1:
        pieces.append(f"This is part {part[0]} of {part[1]} of the conversation.")
    if previous is not None:
        pieces.append(f"<prior-summary>\n{escape(previous)}\n</prior-summary>")
    if hook is None:
        pieces += [CREATE if previous is None else MERGE, prompt("summary_transcript")]
        pieces += closing(order.focus, order.hook_context, limit=limit)
    else:
        pieces += closing(order.focus, (), limit=limit)
    return "\n\n".join(pieces)


def _compactor(state: SessionState, order: Order) -> Compactor:
    return order.compactor or Compactor(model=state.model, limits=state.limits, dialect=state.dialect)

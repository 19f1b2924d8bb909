"""Events as labelled lines for a plain terminal: `you:`, `agent:`, `tool:`, `context:`, `permission:` ...

Everything that a model, a tool or a file says is cleaned before it is written (cases C-131).
"""

import re
import sys
from collections.abc import Callable
from typing import Final, TextIO

from qiming_tui.model import events as e
from qiming_tui.model.parts import Completed, Failed, Part, ReasoningPart, TextPart, ToolPart
from qiming_tui.model.sanitize import clean, one_line
from qiming_tui.model.usage import Basis
from qiming_tui.model.window import PrunePlan, State, Verdict

_OPEN: Final = re.compile(r"[\x1b\x90\x98\x9b\x9d-\x9f][^\n]{0,4096}$")
_INDENT: Final = "       "
PREVIEW_LINES: Final = 6
"""Lines of a tool's result that are shown."""


class StreamCleaner:
    """Cleans a text that arrives in pieces: a sequence that is not complete yet is held back."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """What may be written now."""
        text = self._held + text
        found = _OPEN.search(text)
        cut = found.start() if found else len(text)
        if text.endswith("\r") and cut == len(text):
            cut -= 1
        self._held = text[cut:]
        return clean(text[:cut])[0]

    def end(self) -> str:
        """What was held back."""
        rest, self._held = clean(self._held)[0], ""
        return rest


def context_line(verdict: Verdict) -> str:
    """`~1,234 of 5,678 usable (22 %, ok, estimated): the arithmetic`."""
    mark = "" if verdict.basis is Basis.MEASURED else "~"
    count = f"{mark}{verdict.count:,}"
    state = "window unknown" if verdict.state is State.UNKNOWN else verdict.state.value
    words = [state, verdict.basis.value]
    if not verdict.auto:
        words.append("auto off")
    if verdict.usable is None:
        return f"{count} tokens ({', '.join(words)}): {verdict.arithmetic}"
    percent = "" if verdict.percent is None else f"{verdict.percent} %, "
    return f"{count} of {verdict.usable:,} usable ({percent}{', '.join(words)}): {verdict.arithmetic}"


def prune_line(plan: PrunePlan, phase: str, *, reasons_told: bool = False) -> str:
    """What a prune does, with the reasons for what stays, unless the line above has told them."""
    count = len(plan.cleared)
    verb = "cleared" if phase == "applied" else "will clear"
    kept: dict[str, int] = {}
    for fate in plan.fates:
        if fate.reason is not None:
            kept[fate.reason.sentence] = kept.get(fate.reason.sentence, 0) + 1
    reasons = "; ".join(f"{number} kept: {sentence}" for sentence, number in kept.items())
    noun = "result" if count == 1 else "results"
    told = reasons and not reasons_told
    words = f"{verb} {count} old tool {noun} of ~{plan.tokens:,} tokens, placeholders stay"
    return f"{words} ({reasons})" if told else words


class Labels:
    """Writes the events of a session as labelled lines."""

    def __init__(self, out: TextIO = sys.stdout, *, echo_user: bool = False) -> None:
        self._out = out
        self._echo_user = echo_user
        self._stream: str | None = None
        self._cleaner = StreamCleaner()
        self._at_start = True
        self._indent_due = False
        self._prompted = False
        self._speaker = "agent"
        self._verdict: Verdict | None = None
        self._planned: PrunePlan | None = None

    def write(self, event: e.Event) -> None:
        """Write one event; events that a plain terminal does not show write nothing."""
        match event:
            case e.PartDelta():
                self._delta(event)
            case e.CompactionStarted():
                self._speaker = "summary"
                self.line("compaction", self._compaction_started(event))
            case e.CompactionEnded():
                self._speaker = "agent"
                self.line("compaction", self._compaction_ended(event))
            case e.Context():
                self._verdict = event.verdict
                self.line("context", context_line(event.verdict))
            case e.Prune():
                self.line(
                    "prune", prune_line(event.plan, event.phase, reasons_told=event.plan == self._planned)
                )
                self._planned = event.plan if event.phase == "planned" else None
            case e.PartStarted(part=part):
                self._started(part)
            case e.PartFinished(part=part):
                self._finished(part)
            case _:
                text = self._one(event)
                if text is not None:
                    self.line(*text)

    def line(self, label: str, text: str) -> None:
        """A labelled line; further lines of the text are indented."""
        self._break()
        lines = clean(text)[0].split("\n")
        self._put(f"{label}: {lines[0]}\n")
        for more in lines[1:]:
            self._put(f"{_INDENT}{more}\n")

    def prompt(self) -> None:
        """Ask for a line of input, unless it is asked for already."""
        if not self._prompted:
            self._break()
            self._put("you: ")
            self._prompted = True

    def entered(self) -> None:
        """The person has ended a line: the cursor is at the start of the next one."""
        self._at_start, self._prompted, self._indent_due = True, False, self._stream is not None

    def _one(self, event: e.Event) -> tuple[str, str] | None:
        make = _WORDS.get(type(event))
        return make(event) if make is not None else None

    def _started(self, part: Part) -> None:
        if isinstance(part, (TextPart, ReasoningPart)):
            self._break()
            self._cleaner = StreamCleaner()
            self._stream = part.id
            self._put(f"{self._speaker}: " if isinstance(part, TextPart) else "thinking: ")

    def _delta(self, event: e.PartDelta) -> None:
        if event.part_id != self._stream:
            self._break()
            self._cleaner = StreamCleaner()
            self._stream = event.part_id
            self._put(f"{self._speaker}: ")
        self._say(self._cleaner.feed(event.text))

    def _finished(self, part: Part) -> None:
        if part.id == self._stream:
            self._say(self._cleaner.end())
            self._break()
        elif isinstance(part, ToolPart):
            self._tool(part)
        elif isinstance(part, TextPart) and (self._echo_user or part.synthetic):
            self.line("you" if not part.synthetic else "auto", part.text)

    def _tool(self, part: ToolPart) -> None:
        state = part.state
        if isinstance(state, Completed):
            title = one_line(state.title or "")
            self.line("tool", f"{one_line(part.tool)} {title}".rstrip() + _preview(state.output))
        elif isinstance(state, Failed):
            self.line("tool", f"{one_line(part.tool)} failed: {one_line(state.error, limit=400)}")

    def _say(self, text: str) -> None:
        """A piece of a streamed text. Its further lines are indented: nobody can forge a label."""
        if not text:
            return
        start = _INDENT if self._indent_due and text[0] != "\n" else ""
        self._indent_due = text[-1] == "\n"
        self._put(start + re.sub(r"\n(?=[^\n])", f"\n{_INDENT}", text))

    def _marked(self, count: int) -> str:
        """A count with `~`, unless the provider measured it."""
        known = self._verdict is not None and self._verdict.count == count
        measured = known and self._verdict is not None and self._verdict.basis is Basis.MEASURED
        return f"{count:,}" if measured else f"~{count:,}"

    def _compaction_started(self, event: e.CompactionStarted) -> str:
        """How it began and why; the arithmetic stands in the context line before it and is not repeated."""
        how = "by itself" if event.auto else "as asked"
        at = f" at {self._marked(event.before)} tokens" if event.before is not None else ""
        why = event.reason
        if self._verdict is not None:
            told = self._verdict.arithmetic
            why = why.replace(f": {told}", "").replace(told, "the count has reached what is usable")
        if not event.auto:
            why = why.removeprefix("asked for by the user").lstrip("; ")
        return f"started {how}{at}" + (f": {why}" if why else "")

    def _compaction_ended(self, event: e.CompactionEnded) -> str:
        sizes = ""
        if event.before is not None and event.after is not None:
            sizes = f" {self._marked(event.before)} -> ~{event.after:,} tokens"
        return f"{event.phase}{sizes}: {event.words}"

    def _break(self) -> None:
        self._stream, self._indent_due, self._prompted = None, False, False
        if not self._at_start:
            self._put("\n")

    def _put(self, text: str) -> None:
        if text:
            self._out.write(text)
            self._out.flush()
            self._at_start = text.endswith("\n")


def _preview(output: str) -> str:
    lines = clean(output)[0].rstrip("\n").split("\n")
    shown = [line if len(line) <= 200 else line[:199] + "…" for line in lines[:PREVIEW_LINES]]
    if len(lines) > PREVIEW_LINES:
        shown.append(f"({len(lines) - PREVIEW_LINES:,} more lines)")
    return "\n" + "\n".join(shown) if any(shown) else ""


def _failed(event: e.Failed) -> tuple[str, str]:
    return "error", event.message + (f"\n{event.hint}" if event.hint else "")


def _retry(event: e.RetryScheduled) -> tuple[str, str]:
    return (
        "retry",
        f"{event.fault.message.rstrip('.')}; attempt {event.attempt} in {event.delay_ms / 1000:.1f} s",
    )


def _edit(event: e.EditChanged) -> tuple[str, str] | None:
    kinds = sorted({edit.kind.value.replace("_", " ") for edit in event.edits})
    return None if event.phase == "applied" else ("edit", f"{event.phase}: {', '.join(kinds)}")


def _turn(event: e.TurnFinished) -> tuple[str, str] | None:
    words = {
        "aborted": "stopped; what came so far is kept",
        "blocked": "stopped, since you said no",
        "needs_you": "waiting for you",
        "interrupted": "the last turn was interrupted when the program ended; nothing else is lost",
    }
    return ("turn", words[event.reason]) if event.reason in words else None


_WORDS: Final[dict[type, Callable[..., tuple[str, str] | None]]] = {
    e.Failed: _failed,
    e.RetryScheduled: _retry,
    e.EditChanged: _edit,
    e.TurnFinished: _turn,
    e.Notice: lambda event: ("note", event.text),
    e.Unsaved: lambda event: (
        "store",
        f"not saved yet ({event.pending} changes in memory): {event.reason}",
    ),
    e.Saved: lambda event: ("store", "saved"),
}

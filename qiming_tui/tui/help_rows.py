"""Every key and command as lines of the help, with the user's own settings in force."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from textual.binding import Binding, BindingType

from qiming_tui.context.bar_words import Spans
from qiming_tui.tui.commands import COMMANDS, Command
from qiming_tui.tui.glyphs import Glyphs
from qiming_tui.tui.keys import LEADER, NONE, display
from qiming_tui.tui.picking import Cell, Row, clipped, columns, held_by, marked

GROUP: Final = "commands"
_LEAST: Final = 16
_HEAD: Final = (("key", 15, 0, False), ("chord", 6, 2, False), ("typed", 20, 1, False))


class HelpLine(msgspec.Struct, frozen=True, kw_only=True):
    """A command, or a key of one pane."""

    key: str
    """Unique among the lines."""
    group: str
    title: str
    keys: str = ""
    """As the screen names them: `^T F5`; empty: none."""
    chord: str = ""
    typed: str = ""
    sentence: str = ""
    ids: tuple[str, ...] = ()
    """Names for the settings' `[keymap]`."""
    command: str = ""
    """Id of the command that Enter runs."""


def help_lines(
    panes: Iterable[tuple[str, Iterable[BindingType]]], keymap: Mapping[str, str] | None = None
) -> tuple[HelpLine, ...]:
    """The commands, then the keys of each pane (its name, its bindings)."""
    own = keymap or {}
    out = [_of_command(command, own) for command in COMMANDS]
    for name, bindings in panes:
        for binding in bindings:
            if isinstance(binding, Binding) and binding.id and not binding.system:
                keys = binding.key_display or shown(own.get(binding.id, binding.key))
                out.append(
                    HelpLine(
                        key=f"{name}:{binding.id}",
                        group=name,
                        title=binding.description,
                        keys=keys,
                        ids=(binding.id,),
                    )
                )
    return tuple(out)


def shown(keys: str) -> str:
    """Textual's key names as the screen names them; empty for "none"."""
    return " ".join(display(key) for key in keys.split(",") if key and key != NONE)


def _of_command(command: Command, own: Mapping[str, str]) -> HelpLine:
    chord = own.get(f"leader.{command.id}", command.leader)
    leader = shown(own.get(LEADER, "ctrl+x")).partition(" ")[0]
    return HelpLine(
        key=command.id,
        group=GROUP,
        title=command.title,
        keys=shown(own.get(command.id, command.keys)),
        chord=f"{leader} {chord}" if chord and chord != NONE and leader else "",
        typed=command.usage,
        sentence=command.help,
        ids=(*((command.id,) if command.keys else ()), f"leader.{command.id}"),
        command=command.id,
    )


def rows_of(lines: Sequence[HelpLine], words: Sequence[str]) -> tuple[Row, ...]:
    """The lines that hold all the words, in groups."""
    out: list[Row] = []
    group = ""
    for line in lines:
        text = " ".join((line.title, line.keys, line.chord, line.typed, line.sentence, line.group, *line.ids))
        if not held_by(text, words):
            continue
        if line.group != group:
            out += [*([Row()] if out else []), Row(head=line.group)]
            group = line.group
        out.append(Row(line.key))
    return tuple(out)


def head_row(name: str, width: int, glyphs: Glyphs, *, first: bool) -> Spans:
    """A heading; the first one names the columns."""
    found = (
        [Cell((("muted", text),), size, rank, right) for text, size, rank, right in _HEAD] if first else []
    )
    return columns((("muted", name),), found, width=width, least=_LEAST, glyphs=glyphs)


def help_row(line: HelpLine, words: Sequence[str], width: int, glyphs: Glyphs, *, chosen: bool) -> Spans:
    """One line."""
    title = marked(line.title, words, "strong" if chosen else "text")
    values: list[Spans] = [
        marked(line.keys, words, "key"),
        (("key", line.chord),),
        marked(line.typed, words, "muted"),
    ]
    found = [
        Cell(spans, size, rank, right) for spans, (_, size, rank, right) in zip(values, _HEAD, strict=True)
    ]
    return columns(title, found, width=width, least=_LEAST, glyphs=glyphs)


def detail_rows(line: HelpLine, width: int, glyphs: Glyphs) -> tuple[Spans, ...]:
    """Its sentence, every way to ask for it, its names in the settings."""
    ways = [way for way in (line.keys, line.chord, line.typed) if way]
    rows: tuple[Spans, ...] = (
        (("strong", line.sentence or f"{line.title}, {line.group}"),),
        (("muted", "ask for it with  "), ("key", "   ".join(ways) or "no key")),
        (("muted", "in the settings' [keymap]  "), ("text", "  ".join(line.ids))),
    )
    return tuple(clipped(row, width, glyphs) for row in rows)

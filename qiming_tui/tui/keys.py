"""Every key binding has an id, so the user's `[keymap]` overrides it; the leader's table; keys in words.

`[keymap]` maps a binding's id to Textual's key names ("ctrl+t,f5"), `leader.COMMAND` to the key after the
leader, and any of them to "none".
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.keys import Keys, _character_to_key, key_to_character

from qiming_tui.model.errors import ConfigError
from qiming_tui.tui.commands import BY_ID, COMMANDS, Command

LEADER: Final = "leader"
HELP: Final = BY_ID["help"]
NONE: Final = "none"
"""What a keymap says for "no key": no terminal sends it."""
_CHORD: Final = "leader."


def bind(
    binding_id: str,
    keys: str,
    action: str,
    title: str,
    *,
    show: bool = False,
    priority: bool = False,
    label: str | None = None,
) -> Binding:
    """A binding with an id. `show` makes it a candidate for the footer, where `label` stands for its key."""
    return Binding(keys, action, title, show=show, priority=priority, key_display=label, id=binding_id)


APP: Final[list[BindingType]] = [
    bind("stop", "escape", "app.escape", "close, then stop"),
    bind("interrupt", "ctrl+c,super+c", "app.interrupt", "copy, stop, clear, quit"),
    # With priority, and switched off (check_action) while no question is open: ^Y is redo otherwise.
    bind("permission.yes", "ctrl+y", "app.answer('once')", "allow once", priority=True),
    bind("permission.no", "ctrl+n", "app.answer('no')", "do not allow", priority=True),
    *(
        bind(command.id, command.keys, command.action, command.title.lower())
        for command in COMMANDS
        if command.keys and command.id not in ("timeline", "palette", "help", "quit")
    ),
    # While a demo plays and nothing is typed (check_action).
    bind("demo.pause", "space", "app.demo('pause')", "pause", show=True, priority=True),
    bind("demo.step", "full_stop", "app.demo('step')", "step", show=True, priority=True),
    # With priority, so that what is typed right after it goes where it leads; off below a dialog.
    bind("timeline", "ctrl+t", "app.command('timeline')", "timeline", show=True, priority=True),
    bind("palette", "ctrl+p", "app.command('palette')", "palette", show=True, priority=True),
    bind("help", "f1", "app.command('help')", "help", show=True),
    bind(LEADER, "ctrl+x", "app.leader", "leader", show=True, priority=True),
    bind("quit", "ctrl+q", "app.command('quit')", "quit", priority=True),
    bind("focus.next", "tab", "app.focus_next", "next pane"),
    bind("focus.previous", "shift+tab", "app.focus_previous", "previous pane"),
]
"""The application's own bindings."""

PROMPT: Final[list[BindingType]] = [
    bind("prompt.send", "enter", "send", "send", show=True),
    bind("prompt.newline", "ctrl+j,shift+enter,alt+enter,ctrl+enter", "newline", "newline", show=True),
    bind("prompt.close", "escape", "close", "stop", show=True, label="esc esc"),
    bind("prompt.steer", "ctrl+s", "steer", "steer"),
    bind("prompt.interrupt", "ctrl+c,super+c", "interrupt", "copy, stop, clear, quit"),
    bind("prompt.eof", "ctrl+d", "eof", "delete, or quit when empty"),
    bind("prompt.search", "ctrl+r", "search", "history"),
    bind("prompt.editor", "ctrl+g", "editor", "editor", show=True),
    bind("prompt.expand", "ctrl+o", "expand", "expand"),
    bind("prompt.complete", "tab", "complete", "complete"),
    bind("prompt.help", "question_mark", "help", "help"),
    bind("prompt.up", "up", "up", "up, older"),
    bind("prompt.down", "down", "down", "down, newer"),
    bind("prompt.left", "left", "cursor_left", "left"),
    bind("prompt.right", "right", "cursor_right", "right"),
    bind("prompt.word_left", "ctrl+left,alt+left,alt+b", "cursor_word_left", "word left"),
    bind("prompt.word_right", "ctrl+right,alt+right,alt+f", "cursor_word_right", "word right"),
    bind("prompt.line_start", "home,ctrl+a", "cursor_line_start", "line start"),
    bind("prompt.line_end", "end,ctrl+e", "cursor_line_end", "line end"),
    bind("prompt.select_left", "shift+left", "cursor_left(True)", "select left"),
    bind("prompt.select_right", "shift+right", "cursor_right(True)", "select right"),
    bind("prompt.select_up", "shift+up", "cursor_up(True)", "select up"),
    bind("prompt.select_down", "shift+down", "cursor_down(True)", "select down"),
    bind("prompt.select_word_left", "ctrl+shift+left", "cursor_word_left(True)", "select word left"),
    bind("prompt.select_word_right", "ctrl+shift+right", "cursor_word_right(True)", "select word right"),
    bind("prompt.select_start", "shift+home", "cursor_line_start(True)", "select to line start"),
    bind("prompt.select_end", "shift+end", "cursor_line_end(True)", "select to line end"),
    bind("prompt.select_line", "f6", "select_line", "select line"),
    bind("prompt.select_all", "f7", "select_all", "select all"),
    bind("prompt.backspace", "backspace", "delete_left", "delete left"),
    bind("prompt.delete", "delete", "delete_right", "delete right"),
    bind("prompt.delete_word", "ctrl+w,ctrl+backspace,alt+backspace", "delete_word_left", "delete word"),
    bind("prompt.delete_word_right", "alt+delete,alt+d", "delete_word_right", "delete word right"),
    bind("prompt.delete_to_start", "ctrl+u,super+backspace", "delete_to_start_of_line", "delete to start"),
    bind("prompt.delete_to_end", "ctrl+k", "delete_to_end_of_line_or_delete_line", "delete to end"),
    bind("prompt.delete_line", "ctrl+shift+k", "delete_line", "delete line"),
    bind("prompt.cut", "super+x", "cut", "cut"),
    bind("prompt.paste", "ctrl+v", "paste", "paste"),
    bind("prompt.undo", "ctrl+z,super+z", "undo", "undo"),
    bind("prompt.redo", "ctrl+y,super+y", "redo", "redo"),
]
"""Every key of the prompt: the stock text area's own are not inherited, so that all of them have ids."""

PERMISSION: Final[list[BindingType]] = [
    bind("permission.once", "y,1", "reply('once')", "once", show=True),
    bind("permission.session", "s,2", "reply('session')", "session"),
    bind("permission.always", "a,3", "reply('always')", "always"),
    bind("permission.refuse", "n,4,escape", "reply('no')", "no", show=True),
    bind("permission.reason", "tab", "reason", "no, because"),
    bind("permission.full", "f", "full", "full", show=True),
    bind("permission.confirm", "enter", "confirm", "confirm"),
    bind("permission.up", "up", "scroll(-1)", "up"),
    bind("permission.down", "down", "scroll(1)", "down"),
]
"""Keys of an open question, while it has the focus."""


class Chord(msgspec.Struct, frozen=True):
    """A key after the leader, and what it does."""

    key: str
    """As typed: "c", "?"."""
    command: Command


def leader_table(keymap: Mapping[str, str] | None = None) -> tuple[Chord, ...]:
    """The chords, the user's own keys for them included; a chord that is "none" is not there."""
    own = keymap or {}
    chords = [Chord(own.get(_CHORD + command.id, command.leader), command) for command in COMMANDS]
    return tuple(chord for chord in chords if chord.key and chord.key != NONE)


def leader_key(keymap: Mapping[str, str]) -> str:
    """The leader's key, for words: the first of the user's own."""
    return keymap.get(LEADER, "ctrl+x").partition(",")[0]


_PLACES: Final = {
    item.id: place
    for place, item in enumerate([*PROMPT, *PERMISSION, *APP])
    if isinstance(item, Binding) and item.id is not None
}


def place_of(binding: Binding) -> int:
    """Where a binding stands in our tables, whatever keys the user gave it; others stand in front."""
    return _PLACES.get(binding.id or "", -1)


def own_nodes() -> tuple[type[DOMNode], ...]:
    """Our widgets and screens that are imported."""
    found: list[type[DOMNode]] = []
    left = [DOMNode]
    while left:
        subclasses = left.pop().__subclasses__()
        left += subclasses
        found += [one for one in subclasses if one.__module__.startswith("qiming_tui.")]
    return tuple(found)


def known_ids(nodes: Iterable[type[DOMNode]] = ()) -> frozenset[str]:
    """Ids that a keymap may name: ours, those of other classes' bindings, and the chords."""
    lists = [APP, PROMPT, PERMISSION, *(node.__dict__.get("BINDINGS", []) for node in nodes)]
    ids = {item.id for items in lists for item in items if isinstance(item, Binding) and item.id}
    return frozenset(ids | {_CHORD + command.id for command in COMMANDS if command.leader})


def keymap(table: Mapping[str, str], known: Iterable[str] | None = None) -> dict[str, str]:
    """The settings' `[keymap]`, checked, for `App.set_keymap`.

    Raises ConfigError for an id that no binding has, and for two chords on one key.
    """
    ids = known_ids() if known is None else frozenset(known)
    for name, keys in table.items():
        if name not in ids:
            near = sorted(one for one in ids if one.split(".")[-1] == name.split(".")[-1])
            hint = f"did you mean {' or '.join(near)}?" if near else "qiming's help (F1) lists the ids"
            raise ConfigError(f"keymap.{name}: no key has this id", hint)
        if not all(key.strip() for key in keys.split(",")):
            raise ConfigError(f'keymap.{name}: an empty key; "none" takes a key away')
    seen: dict[str, str] = {}
    for chord in leader_table(table):
        if chord.key in seen:
            raise ConfigError(
                f"keymap.leader.{chord.command.id}: {chord.key!r} is leader.{seen[chord.key]} already"
            )
        seen[chord.key] = chord.command.id
    return {name: ",".join(key.strip() for key in keys.split(",")) for name, keys in table.items()}


_NAMES: Final = {
    "escape": "esc",
    "space": "space",
    "question_mark": "?",
    "shift+tab": "shift+tab",
    "up": "up",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "circumflex_accent": "^",
}


def display(key: str) -> str:
    """A key as the screen names it: `^X`, `esc`, `F1`, `?`, `alt+enter`."""
    if key in _NAMES:
        return _NAMES[key]
    *modifiers, last = key.split("+")
    if last.startswith("f") and last[1:].isdigit():
        last = last.upper()
    elif len(last) > 1 and not modifiers:
        last = key_to_character(last) or last
    if modifiers == ["ctrl"] and len(last) == 1:
        return f"^{last.upper()}"
    return "+".join([*modifiers, last])


def chord_key(key: str) -> str:
    """A chord's key under the name that a key event has: "?" is question_mark."""
    return _character_to_key(key) if len(key) == 1 else key


def teach_terminal() -> None:
    """Make Alt+Enter a new line also where a terminal sends it as ESC CR, which would send (cases C-123)."""
    assert isinstance(ANSI_SEQUENCES_KEYS, dict)
    ANSI_SEQUENCES_KEYS["\x1b\r"] = (Keys.ControlJ,)

"""The picker of sessions: search titles and contents, open, rename, delete with a way back."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

import msgspec
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer

from qiming_tui.context.bar_words import Spans
from qiming_tui.context.figures import plural
from qiming_tui.model.changes import SessionLine
from qiming_tui.model.sanitize import one_line
from qiming_tui.tui.glyphs import FULL, Glyphs
from qiming_tui.tui.keys import bind
from qiming_tui.tui.picking import Row
from qiming_tui.tui.screens.picker import Picker, picking
from qiming_tui.tui.session_rows import detail_rows, head_row, rows_of, session_row, title_of

AGAIN_S: Final = 2.0
"""Seconds in which the second press deletes."""
SEARCH_S: Final = 0.2
"""Contents are searched when nothing was typed for so long."""


class SessionChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done now that the picker is closed."""

    open: str | None = None
    """The session to open; None: stay."""
    new: bool = False
    deleted: tuple[str, ...] = ()
    """Sessions to delete: up to now each could be brought back."""


class SessionsScreen(Picker[SessionChoice]):
    """`lines` newest first; `here` is this folder, `live` the session that is open."""

    heading = "Sessions"
    hint = "title and content"

    BINDINGS: ClassVar[list[BindingType]] = picking(
        bind("sessions.new", "ctrl+n", "new", "new", show=True, priority=True),
        bind("sessions.rename", "ctrl+r", "rename", "rename", show=True, priority=True),
        bind("sessions.delete", "ctrl+d", "delete", "delete", show=True, priority=True, label="^D ^D"),
        bind("sessions.undelete", "ctrl+z", "undelete", "bring back", priority=True),
        take="open",
    )

    class Searched(Message):
        """Contents are to be searched; answer with `show_found`."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    class Renamed(Message):
        """A session is to get another title."""

        def __init__(self, session_id: str, title: str) -> None:
            super().__init__()
            self.session_id = session_id
            self.title = title

    def __init__(
        self,
        lines: Sequence[SessionLine],
        *,
        here: str,
        here_name: str,
        live: str | None,
        clock: Callable[[], int],
        glyphs: Glyphs = FULL,
        words: str = "",
        again_s: float = AGAIN_S,
    ) -> None:
        """`here_name` is the folder as people write it; `clock` gives milliseconds since the epoch."""
        super().__init__(glyphs=glyphs, words=words)
        self._lines = {line.id: line for line in lines}
        self._here, self._here_name, self._live = here, here_name, live
        self._clock = clock
        self._again_s = again_s
        self._found: dict[str, str] = {}
        self._deleted: list[str] = []
        self._armed = ""
        self._renaming = ""
        self._kept_words = ""
        self._timer: Timer | None = None
        self._search: Timer | None = None

    def show_found(self, words: str, found: Mapping[str, str]) -> None:
        """Sessions whose contents hold the words, each with one line round the match; late answers to other
        words are left aside."""
        if words == self.filter.value.strip() and not self._renaming:
            self._found = dict(found)
            self.show()

    # -- rows ----------------------------------------------------------------------------------------------

    def _kept(self) -> list[SessionLine]:
        return [line for line in self._lines.values() if line.id not in self._deleted]

    def rows(self, words: Sequence[str]) -> tuple[Row, ...]:
        """This folder's sessions first."""
        held = frozenset(self._found) if words else frozenset[str]()
        return rows_of(self._kept(), words, held, here=self._here, here_name=self._here_name)

    def paint(self, row: Row, width: int, chosen: bool) -> Spans:
        """A heading or a session."""
        if row.head:
            first = bool(self.list.items) and self.list.items[0] is row
            return head_row(row.head, width, self.glyphs, first=first)
        line, words = self._lines[row.key], () if self._renaming else self.words
        live = row.key == self._live
        return session_row(line, words, width, self.glyphs, now=self._clock(), live=live, chosen=chosen)

    def about(self, key: str, width: int) -> tuple[Spans, ...]:
        """Title and state, what it holds, where it matches or lies."""
        line, words = self._lines[key], () if self._renaming else self.words
        match = self._found.get(key) if words else None
        return detail_rows(line, words, match, width, self.glyphs, now=self._clock())

    def summary(self) -> str:
        """How many there are."""
        kept = self._kept()
        own = sum(line.directory == self._here for line in kept)
        return f"{own:,} here, {len(kept) - own:,} elsewhere"

    # -- what can be done ----------------------------------------------------------------------------------

    def take(self, key: str) -> None:
        """Open it; while a title is typed, that is what Enter ends."""
        if self._renaming:
            self._rename_done()
            return
        self.dismiss(SessionChoice(open=None if key == self._live else key, deleted=tuple(self._deleted)))

    def action_take(self) -> None:
        """Enter."""
        if self._renaming:
            self._rename_done()
        else:
            super().action_take()

    def action_close(self) -> None:
        """Esc leaves the title as it was, then the picker."""
        if self._renaming:
            self._rename_over()
        elif self._deleted:
            self.dismiss(SessionChoice(deleted=tuple(self._deleted)))
        else:
            self.dismiss(None)

    def action_new(self) -> None:
        """A new session in this folder."""
        self.dismiss(SessionChoice(new=True, deleted=tuple(self._deleted)))

    def typed(self) -> None:
        """Filter at once, search contents when nothing is typed for a moment."""
        if self._renaming:
            return
        self._found = {}
        self._disarm()
        self.show()
        if self._search is not None:
            self._search.stop()
        if self.words:
            self._search = self.set_timer(SEARCH_S, self._ask)

    def _ask(self) -> None:
        if self.words and not self._renaming:
            self.post_message(self.Searched(self.filter.value.strip()))

    def action_rename(self) -> None:
        """The line takes the chosen session's title."""
        key = self.list.key
        if not key or self._renaming:
            return
        self._renaming, self._kept_words = key, self.filter.value
        self.filter.value = one_line(self._lines[key].title)
        self.filter.cursor_position = len(self.filter.value)
        self.note.update("new title: enter keeps it, esc leaves it")
        self._disarm()

    def _rename_done(self) -> None:
        key, title = self._renaming, one_line(self.filter.value)
        if title and title != self._lines[key].title:
            self._lines[key] = msgspec.structs.replace(self._lines[key], title=title)
            self.post_message(self.Renamed(key, title))
        self._rename_over()

    def _rename_over(self) -> None:
        key, self._renaming = self._renaming, ""
        self.filter.value = self._kept_words
        self.note.update(self.hint)
        self.show(key)

    def action_delete(self) -> None:
        """The first press asks for the second."""
        key = self.list.key
        if not key or self._renaming:
            return
        if key == self._live:
            self.say((("warn", "the open session cannot be deleted"),))
            return
        if self._armed != key:
            self._armed = key
            words = f"^D again within {self._again_s:.0f} s deletes "
            self.say((("warn", words), ("strong", title_of(self._lines[key]))))
            self._timer = self.set_timer(self._again_s, self._expire)
            return
        self._disarm()
        self._deleted.append(key)
        self.list.move(1 if self.list.index + 1 < len(self.list.items) else -1)
        self.show()
        gone = plural(len(self._deleted), "session")
        self.say((("warn", f"{gone} gone when this closes"), ("key", "  ^Z"), ("muted", " brings it back")))

    def action_undelete(self) -> None:
        """Bring back the one that was deleted last."""
        if self._deleted and not self._renaming:
            key = self._deleted.pop()
            self.say(None)
            self.show(key)

    def _expire(self) -> None:
        if self._armed:
            self._disarm()
            self.say(None)

    def _disarm(self) -> None:
        self._armed = ""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

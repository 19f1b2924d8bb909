"""The one registry of commands: id, key, leader chord, slash command, palette entry and help of each.

A terminal may keep any key for itself, so nothing has one route only (`ux.md` 3.1). Every route ends in the
same action, `app.command(ID)`; the application maps ids to what is done.
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from qiming_tui.tui.commands_edit import EDITS


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What a person can ask for, and every way to ask for it."""

    id: str
    """Also the id of its key binding in the settings' `[keymap]`; `leader.ID` is that of its chord."""
    title: str
    """A few words, as the palette shows them."""
    help: str
    """One sentence."""
    slash: str
    """The word after the slash."""
    argument: str = ""
    """What may follow the slash command, for people: "[focus]"; empty: nothing."""
    aliases: tuple[str, ...] = ()
    """Other words after the slash."""
    keys: str = ""
    """Textual's key names, separated by commas; empty: only the chord."""
    leader: str = ""
    """The key after the leader."""

    @property
    def action(self) -> str:
        """The Textual action of every route."""
        return f"app.command('{self.id}')"

    @property
    def usage(self) -> str:
        """How it is typed."""
        return f"/{self.slash} {self.argument}".rstrip()


COMMANDS: Final[tuple[Command, ...]] = (
    Command(
        id="compact",
        title="Compact now",
        help="Summarise the history now; words after it say what the summary must keep.",
        slash="compact",
        argument="[focus]",
        leader="c",
    ),
    Command(
        id="context",
        title="What fills the window",
        help="The window class by class, and the arithmetic of the limit.",
        slash="context",
        leader="k",
    ),
    Command(
        id="prune",
        title="Clear old results",
        help="Clear old tool results from the next request by the rules; the originals are kept.",
        slash="prune",
        leader="p",
    ),
    Command(
        id="auto",
        title="Automatic compaction on or off",
        help="Switch automatic compaction of this session off, or on again.",
        slash="auto",
        argument="[on|off]",
        leader="a",
    ),
    Command(
        id="defer",
        title="Put the next compaction off",
        help="Let the next automatic compaction wait, once, until the turn that needs it has ended.",
        slash="defer",
        leader="d",
    ),
    Command(
        id="undo",
        title="Undo the last edit of the window",
        help="Take back the newest prune or compaction.",
        slash="undo",
        leader="u",
    ),
    Command(
        id="redo",
        title="Redo",
        help="Bring back what was undone.",
        slash="redo",
        leader="U",
    ),
    *(
        Command(
            id=each["id"],
            title=each["title"],
            help=each["help"],
            slash=each["slash"],
            argument=each.get("argument", ""),
            leader=each["leader"],
        )
        for each in EDITS
    ),
    Command(
        id="new",
        title="New session",
        help="Begin a new session in this folder; the old one is kept.",
        slash="new",
        aliases=("clear",),
        leader="n",
    ),
    Command(
        id="sessions",
        title="Sessions",
        help="Pick another session: search, rename, delete.",
        slash="sessions",
        argument="[words]",
        aliases=("resume",),
        leader="l",
    ),
    Command(
        id="take",
        title="Take the session over",
        help="Write a session from here that another program writes; that one becomes read-only.",
        slash="take",
        leader="v",
    ),
    Command(
        id="models",
        title="Models",
        help="Pick a model: limits, price, and whether this session fits.",
        slash="models",
        argument="[words]",
        aliases=("model",),
        leader="m",
    ),
    Command(
        id="send",
        title="Send what is held",
        help="Send the messages that were queued and held by a stop.",
        slash="send",
        leader="g",
    ),
    Command(
        id="find",
        title="Find in the conversation",
        help="Search the conversation, cleared and archived parts included.",
        slash="find",
        argument="[text]",
        keys="ctrl+f",
        leader="f",
    ),
    Command(
        id="expand",
        title="Open or fold all results",
        help="Open every tool result of the conversation, or fold them again.",
        slash="expand",
        keys="ctrl+o",
        leader="o",
    ),
    Command(
        id="timeline",
        title="Timeline",
        help="Go to the timeline of the window, step by step.",
        slash="timeline",
        keys="ctrl+t",
        leader="t",
    ),
    Command(
        id="chart",
        title="Timeline in full",
        help="Every request as a column over the whole screen: window, cost, cache, time; found by words.",
        slash="chart",
        argument="[step or text]",
        leader="s",
    ),
    Command(
        id="steps",
        title="Timeline as a table",
        help="Every request as a row: size, growth, cache, cost, time and verdict.",
        slash="steps",
        argument="[step or text]",
        leader="T",
    ),
    Command(
        id="inspect",
        title="Inspector",
        help="A request as it was sent, what changed, why, what if, and the cache; of any step.",
        slash="inspect",
        argument="[step] [tab]",
        leader="i",
    ),
    Command(
        id="why",
        title="Why",
        help="Why a step compacted, pruned or did neither: the ledger in words and whole numbers.",
        slash="why",
        argument="[step]",
        leader="w",
    ),
    Command(
        id="pause",
        title="Demo: pause, go on",
        help="Let a demo stand still, or go on.",
        slash="pause",
        leader=",",
    ),
    Command(
        id="step",
        title="Demo: one step",
        help="Let a demo go on until its next request, and stand still there.",
        slash="step",
        leader=".",
    ),
    Command(
        id="copy",
        title="Copy the last answer",
        help="Put the source text of the last answer on the clipboard.",
        slash="copy",
        leader="y",
    ),
    Command(
        id="export",
        title="Export",
        help="Write the session, or a picture of the screen, to a file.",
        slash="export",
        argument="[path]",
        leader="x",
    ),
    Command(
        id="theme",
        title="Theme",
        help="Change between dark and light, or take the one that is named.",
        slash="theme",
        argument="[dark|light]",
        leader="h",
    ),
    Command(
        id="palette",
        title="All commands",
        help="Search every command by its name.",
        slash="commands",
        keys="ctrl+p",
        leader="P",
    ),
    Command(
        id="help",
        title="Help and keys",
        help="Every key and command, with your own key settings.",
        slash="help",
        aliases=("keys",),
        keys="f1",
        leader="?",
    ),
    Command(
        id="quit",
        title="Quit",
        help="Leave; the session is kept, and the command that resumes it is printed.",
        slash="quit",
        aliases=("exit",),
        keys="ctrl+q",
        leader="q",
    ),
)
"""In the order of the help and of the palette."""

BY_ID: Final = {command.id: command for command in COMMANDS}
_BY_WORD: Final = {word: command for command in COMMANDS for word in (command.slash, *command.aliases)}
_SLASH: Final = re.compile(r"/([A-Za-z][\w-]*)(?:[ \t]+(.*))?\s*", re.DOTALL)


class Invocation(msgspec.Struct, frozen=True):
    """A slash command as typed. `command` is None when there is no such command."""

    word: str
    command: Command | None
    argument: str = ""


def parse_slash(text: str) -> Invocation | None:
    """The command that a draft is, or None for a message.

    A path is a message (`/usr/bin/env fails`), and so is a command after a space or with another line.
    """
    match = _SLASH.fullmatch(text)
    if match is None or "\n" in text.rstrip("\n"):
        return None
    return Invocation(match[1], _BY_WORD.get(match[1].lower()), (match[2] or "").strip())


def matching(prefix: str, commands: Iterable[Command] = COMMANDS) -> tuple[Command, ...]:
    """Commands for what was typed after the slash: those that begin so, then those whose title does or that
    hold it (from two letters on)."""
    low = prefix.lower()

    def rank(command: Command) -> int:
        words = (command.slash, *command.aliases)
        if low in words:
            return -1
        if any(word.startswith(low) for word in words):
            return 0
        title = any(word.startswith(low) for word in command.title.lower().split())
        return 1 if len(low) > 1 and (title or low in command.slash) else 2

    ranked = sorted((rank(command), place) for place, command in enumerate(commands))
    listed = tuple(commands)
    return tuple(listed[place] for order, place in ranked if order < 2)

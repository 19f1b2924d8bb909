"""`qiming --plain`: a conversation in labelled lines, for any terminal, pipe or screen reader."""

import asyncio
import io
import math
import signal
import sys
import time
from pathlib import Path
from typing import Any, Final, TextIO

import click
import msgspec

from qiming_tui.cli.labels import Labels
from qiming_tui.cli.options import flags, preset_option, store_option
from qiming_tui.cli.output import many
from qiming_tui.cli.plain_commands import COMMANDS, Conversation
from qiming_tui.cli.plain_input import DROP, Draft, Lines
from qiming_tui.cli.plain_questions import CHOICE_LINE, CHOICES, NOBODY, asking, late
from qiming_tui.cli.plain_watch import Choice, watch
from qiming_tui.cli.start import (
    Start,
    decide_trust,
    find_session,
    open_runtime,
    open_worker,
    waits_for_trust,
)
from qiming_tui.model import events as e
from qiming_tui.model.errors import QimingError, SessionBusy
from qiming_tui.model.sanitize import clean
from qiming_tui.runtime import Runtime
from qiming_tui.session.worker import Worker

QUIET_S: Final = 10.0
"""Silence after which a line says that work is still going on."""

TWICE_S: Final = 2.0
"""Seconds in which the second Ctrl-C must follow the first."""


@click.command()
@click.argument("prompt", required=False)
@click.option("--model", metavar="M", help="provider/model; else the session's, else your setting's.")
@click.option("--session", metavar="ID", help="Go on with this session (the beginning of its id will do).")
@click.option("--continue", "resume", is_flag=True, help="Go on with the newest session of this folder.")
@click.option("--trust", is_flag=True, help="Trust this folder: read its AGENTS.md and settings.")
@click.option("--allow", multiple=True, metavar="RULE", help='Allow without asking, e.g. "bash:git *".')
@store_option
@preset_option
def plain(prompt: str | None, store: str | None, preset: str | None, **options: Any) -> None:  # noqa: ANN401
    """Talk to a model, line by line."""
    start = Start(directory=Path.cwd(), store=store, flags=flags(preset=preset), **options)
    asyncio.run(converse(start, prompt, sys.stdin or io.StringIO(), sys.stdout))


async def converse(start: Start, prompt: str | None, source: TextIO, out: TextIO) -> None:
    """Run a conversation until it is left; raises what the command line turns into an exit code."""
    runtime = await open_runtime(start)
    talk = PlainTalk(runtime, start, Lines(source), out)
    try:
        await talk.run(prompt)
    finally:
        try:
            await runtime.close()
        finally:
            talk.farewell()


class PlainTalk:
    """The plain front end: one worker, one input, one output."""

    def __init__(self, runtime: Runtime, start: Start, lines: Lines, out: TextIO) -> None:
        self._runtime = runtime
        self._start = start
        self._lines = lines
        self._out = out
        self._labels = Labels(out)
        self._asked: e.PermissionAsked | None = None
        self._reason_wanted = False
        self._answered_at = -math.inf
        self._question = asyncio.Event()
        self._ended = False
        self._shown: str | None = None
        self._draft = Draft()
        self._last_event = time.monotonic()
        self._last_interrupt = 0.0
        self._leave = asyncio.Event()
        self._conversation: Conversation | None = None

    async def run(self, prompt: str | None) -> None:
        """Talk until the input ends or the user leaves. A session that another program writes is watched."""
        await self._ask_trust()
        worker = await self._open()
        if worker is None:
            return
        self._adopt(worker)
        self._catch_interrupts()
        ticker = asyncio.create_task(self._tick())
        try:
            await self._greet()
            if prompt:
                await self._worker.submit(prompt)
            await self._read_lines()
            while self._worker.lost and await self._reopen():
                await self._read_lines()
        finally:
            ticker.cancel()

    async def _open(self) -> Worker | None:
        """The worker of the session, after another program has left it, or was made to; None: left."""
        take = False
        while True:
            try:
                return await open_worker(self._runtime, self._start, take=take)
            except SessionBusy:
                session_id = await find_session(self._runtime, self._start)
                assert session_id is not None
                follower = self._runtime.follow(session_id)
                choice = await watch(follower, self._lines.queue, self._leave, self._out)
                if choice is Choice.LEAVE:
                    return None
                take = choice is Choice.TAKE

    async def _reopen(self) -> bool:
        """Another program has taken the session: watch it there; whether it came back."""
        lost = self._worker
        self._start = msgspec.structs.replace(self._start, session=lost.ctx.session_id, resume=False)
        await self._runtime.leave(lost)
        worker = await self._open()
        if worker is None:
            return False
        self._adopt(worker)
        await self._greet()
        return True

    @property
    def _worker(self) -> Worker:
        assert self._conversation is not None
        return self._conversation.worker

    def _adopt(self, worker: Worker) -> None:
        """Listen to a worker's events; what it recovered at the start is told first."""
        self._conversation = Conversation(
            runtime=self._runtime, worker=worker, say=self._labels.line, start=self._start, adopt=self._adopt
        )
        for event in worker.recovered:
            self._event(event)
        worker.ctx.bus.listen(self._event)

    async def _ask_trust(self) -> None:
        """At the first start in a folder that has something to trust, ask once (`design.md` 8)."""
        directory = self._start.directory
        files = waits_for_trust(directory)
        if not files or await self._runtime.store.trust(str(directory)) is not None:
            return
        names = " and ".join(files)
        if not self._lines.tty:
            self._labels.line("trust", f"{names} in this folder is not read; --trust trusts the folder")
            return
        self._labels.line("trust", f"{names}: read it and follow it in this folder?\n1 yes  2 no")
        while (text := await self._lines.queue.get()) is not None:
            if text.strip() in ("1", "2"):
                await decide_trust(self._runtime, self._start, text.strip() == "1")
                return
            self._labels.line("trust", "answer 1 (yes) or 2 (no)")

    async def _greet(self) -> None:
        info = self._worker.ctx.profile.info
        self._labels.line("session", f"{self._worker.ctx.session_id} with {info.ref}")
        await self._worker.show()
        await self._worker.idle()
        if self._worker.ctx.live.queue:
            count = many(len(self._worker.ctx.live.queue), "message")
            self._labels.line("queue", f"{count} waiting from before; /send sends what waits")
        self._prompt()

    def _prompt(self) -> None:
        if self._lines.tty and not self._leave.is_set() and not self._worker.lost:
            self._labels.prompt()

    async def _read_lines(self) -> None:
        leave = asyncio.create_task(self._leave.wait())
        gone = asyncio.create_task(self._worker.gone.wait())
        try:
            while not self._leave.is_set():
                read = asyncio.create_task(self._lines.queue.get())
                await asyncio.wait({read, leave, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not read.done():
                    read.cancel()
                    return
                text = read.result()
                if text is None:
                    self._end_of_input()
                    await self._worker.idle()
                    return
                if self._lines.tty:
                    self._labels.entered()
                await self._take(text)
        finally:
            leave.cancel()
            gone.cancel()

    async def _take(self, text: str) -> None:
        """A text of the input: an answer, a command, or a prompt. What was pasted is never an answer or a
        command, and is sent only by the next Enter."""
        if self._asked is not None:
            self._answer(text)
            await self._settle()
            return
        if "\n" in text:
            self._paste(text)
            return
        text, pasted = self._draft.take(text)
        text = clean(text)[0].strip()
        if late(text, time.monotonic() - self._answered_at):
            self._labels.line("note", f"no question is open any more; {text} is not sent as a message")
            text = ""
        if not text:
            self._prompt()
            return
        try:
            if text.startswith("/") and not pasted:
                await self._command(text)
            else:
                await self._submit(text)
                await self._settle()
        except QimingError as error:
            self._labels.line("error", f"{error}\n{error.hint}".rstrip())
            self._prompt()

    async def _submit(self, text: str) -> None:
        """Send a prompt. It stands on the screen already if it was typed there just now."""
        typed = self._lines.tty and "\n" not in text and not self._worker.busy
        self._shown = text if typed else None
        await self._worker.submit(text)

    async def _settle(self) -> None:
        """A pipe is not read ahead: its next line waits until nothing runs, or answers a question."""
        if self._lines.tty:
            return
        waits = {asyncio.create_task(self._worker.idle()), asyncio.create_task(self._question.wait())}
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    def _end_of_input(self) -> None:
        """From now on nobody answers."""
        self._ended = True
        if self._asked is not None:
            self._reply(self._asked, "no", NOBODY)

    def _paste(self, text: str) -> None:
        count = self._draft.add(text)
        self._labels.line(
            "note", f"{count:,} lines pasted; Enter sends them as one message, {DROP} forgets them"
        )

    async def _command(self, text: str) -> None:
        name, _, rest = text[1:].partition(" ")
        name = name.lower()
        command = COMMANDS.get(name)
        assert self._conversation is not None
        if name in ("quit", "exit", "q"):
            self._leave.set()
        elif command is None:
            self._labels.line("error", f"there is no command /{name}; /help lists them")
            self._prompt()
        else:
            await command.run(self._conversation, rest.strip())
            await self._worker.idle()
            self._prompt()

    def _answer(self, text: str) -> None:
        asked = self._asked
        assert asked is not None
        text = clean(text)[0].strip()
        if self._reason_wanted:
            self._reply(asked, "no", text or "no")
            return
        number, _, reason = text.partition(" ")
        if number not in CHOICES:
            self._labels.line("permission", f"answer with a number: {CHOICE_LINE}")
        elif number == "5" and not reason:
            self._reason_wanted = True
            self._labels.line("permission", "why not? The model will read it:")
        else:
            self._reply(asked, CHOICES[number], reason if number == "5" else "")

    def _reply(self, asked: e.PermissionAsked, reply: str, reason: str) -> None:
        self._close_question()
        self._worker.answer(asked.request_id, reply, reason)

    def _close_question(self) -> None:
        self._asked, self._reason_wanted = None, False
        self._answered_at = time.monotonic()
        self._question.clear()

    def _event(self, event: e.Event) -> None:
        self._last_event = time.monotonic()
        match event:
            case e.PermissionAsked():
                self._ask(event)
            case e.PermissionAnswered():
                self._close_question()
            case e.TurnStarted():
                if event.text != self._shown:
                    self._labels.line("you", event.text)
                self._shown = None
            case e.Idle():
                if self._worker.ctx.live.queue:
                    count = many(len(self._worker.ctx.live.queue), "message")
                    self._labels.line("queue", f"{count} held back; /send sends what waits")
                self._prompt()
            case e.EditChanged():
                pass  # the command that made it says so, by name
            case e.QueueChanged() if event.items and self._worker.busy:
                self._labels.line("queue", f"{len(event.items)} waiting; sent when this turn ends")
            case _:
                self._labels.write(event)

    def _ask(self, event: e.PermissionAsked) -> None:
        """Ask, with what "this session" and "always" would allow; a question is refused where nobody is."""
        self._asked = event
        self._question.set()
        ask = self._worker.gate.open_requests.get(event.request_id)
        self._labels.line("permission", asking(event, ask.always if ask is not None else ()))
        if self._ended:
            self._reply(event, "no", NOBODY)

    async def _tick(self) -> None:
        """Say that long work is going on."""
        while True:
            await asyncio.sleep(1.0)
            if not self._worker.busy:
                self._last_event = time.monotonic()
            silent = time.monotonic() - self._last_event
            if self._worker.busy and self._asked is None and silent >= QUIET_S:
                self._labels.line("note", "still working; Ctrl-C twice stops the turn")
                self._last_event = time.monotonic()

    def _catch_interrupts(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGINT, self._interrupt)
        except NotImplementedError:  # Windows: asyncio has no signal handlers there
            signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(self._interrupt))

    def _interrupt(self) -> None:
        now = time.monotonic()
        twice = now - self._last_interrupt <= TWICE_S
        self._last_interrupt = 0.0 if twice else now
        if self._worker.busy:
            if twice:
                self._worker.abort()
            else:
                self._labels.line("note", "Ctrl-C again stops the turn")
        elif twice:
            self._leave.set()
        else:
            self._labels.line("note", "Ctrl-C again leaves the program")
            self._prompt()

    def farewell(self) -> None:
        """Say how to go on; nothing where nothing was said: that session is not kept."""
        if self._conversation is None or self._worker.ctx.live.blank:
            return
        session_id = self._worker.ctx.session_id
        self._labels.line("session", f"go on with: qiming --plain --session {session_id}")

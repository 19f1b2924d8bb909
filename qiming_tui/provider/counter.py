"""The one counter of tokens of every front: our side of the counting process (`data.md` 5, cases C-084).

Counts are remembered by the digest of the text, so a text crosses the pipe once. A process that dies is
started again and asked again. Where an encoding cannot be had the script-aware estimate is given instead,
and `problem` says so: such counts are to be shown with `~`.
"""

import asyncio
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import count as counting
from pathlib import Path
from typing import Final

from qiming_tui.context.tokens import digest_of, script_estimate
from qiming_tui.provider.frames import Cancel, Count, Counted, Error, Frame
from qiming_tui.provider.packages import package_dir
from qiming_tui.provider.process import ChildProcess, ChildSpec, Stage

MODULE: Final = "qiming_tui.provider.counter_child"
CACHE_ENV: Final = "TIKTOKEN_CACHE_DIR"
BATCH_CHARS: Final = 4_000_000
"""About as much text as one frame carries; a longer text has a frame of its own."""
MEMO_ENTRIES: Final = 200_000
DEATHS: Final = 2
"""A batch that was on its way at so many deaths of the process is estimated: it may be what kills it."""
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", CACHE_ENV)


class _Batch:
    """Texts that are with the process, and who waits for them."""

    def __init__(self, frame: Count) -> None:
        self.frame = frame
        self.done: asyncio.Future[list[int] | None] = asyncio.get_running_loop().create_future()
        self.deaths = 0


class TokenCounter:
    """Implements `model.stream.Counter`. Every method is called in one event loop."""

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        log_path: Path,
        python: str = sys.executable,
        memo_entries: int = MEMO_ENTRIES,
    ) -> None:
        spec = ChildSpec(module=MODULE, env=counter_env(env), log_path=log_path, python=python)
        self._child = ChildProcess(spec, on_frame=self._received, on_death=self._died)
        self._batches: dict[str, _Batch] = {}
        self._ids = counting(1)
        self._memo: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._memo_entries = memo_entries
        self.problem: str | None = None
        """Why the last counts were estimated; None while they are exact."""

    @property
    def pid(self) -> int | None:
        """Process id of the running counter."""
        return self._child.pid

    def start(self) -> None:
        """Begin to start the process; returns at once. Counts asked for before it is ready wait for it."""
        self._child.start()

    async def count(self, encoding: str, texts: Sequence[str]) -> list[int]:
        """Tokens of each text under `encoding`, special tokens as text; see `problem` for their exactness."""
        keys = [(encoding, digest_of(text)) for text in texts]
        found = {key: self._memo[key] for key in keys if key in self._memo}
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        for batch in _batches(unknown):
            counts = await self._ask(encoding, list(batch.values()))
            if counts is None:
                guesses = (script_estimate(text, encoding=encoding) for text in batch.values())
                found.update(zip(batch, guesses, strict=True))
            else:
                self.problem = None
                found.update(zip(batch, counts, strict=True))
                self._remember(zip(batch, counts, strict=True))
        return [found[key] for key in keys]

    async def close(self) -> None:
        """End the process. Counts still waited for are estimated."""
        await self._child.close()
        self._abandon("the counter was closed")

    async def _ask(self, encoding: str, texts: list[str]) -> list[int] | None:
        if self._child.stage is Stage.CLOSED:
            self.problem = "the counter was closed; counts are estimated"
            return None
        batch = _Batch(Count(f"c{next(self._ids)}", encoding, [_sendable(text) for text in texts]))
        self._batches[batch.frame.id] = batch
        try:
            self._child.start()
            self._child.send(batch.frame)
            return await batch.done
        except asyncio.CancelledError:
            if self._child.stage is Stage.READY:
                self._child.send(Cancel(batch.frame.id))
            raise
        finally:
            self._batches.pop(batch.frame.id, None)

    def _received(self, frame: Frame, size: int) -> None:
        batch = self._batches.get(frame.id) if isinstance(frame, (Counted, Error)) else None
        if batch is None or batch.done.done():
            return
        if isinstance(frame, Counted) and len(frame.counts) == len(batch.frame.texts):
            batch.done.set_result(frame.counts)
        else:
            words = frame.fault.message if isinstance(frame, Error) else "an answer of the wrong length"
            self._estimate(batch, words)

    def _died(self, words: str) -> None:
        """The process ended: ask the new one again for all that was on its way."""
        if self._child.stage is not Stage.STARTING:
            self._abandon(words)
            return
        for batch in list(self._batches.values()):
            if batch.done.done():
                continue
            batch.deaths += 1
            if batch.deaths >= DEATHS:
                self._estimate(batch, words)
            else:
                self._child.send(batch.frame)

    def _abandon(self, words: str) -> None:
        for batch in list(self._batches.values()):
            if not batch.done.done():
                self._estimate(batch, words)

    def _estimate(self, batch: _Batch, words: str) -> None:
        self.problem = f"token counts are estimated: {words}"
        batch.done.set_result(None)

    def _remember(self, counts: "zip[tuple[tuple[str, str], int]]") -> None:
        self._memo.update(counts)
        while len(self._memo) > self._memo_entries:
            self._memo.popitem(last=False)


def counter_env(env: Mapping[str, str]) -> dict[str, str]:
    """The counting process's environment: no keys, and the encodings that litellm ships.

    A TIKTOKEN_CACHE_DIR of the user's own is kept.
    """
    out = {name: env[name] for name in _PASSED_ON if name in env}
    folder = package_dir("litellm")
    if folder is not None:
        out.setdefault(CACHE_ENV, str(folder / "litellm_core_utils" / "tokenizers"))
    return out


def _sendable(text: str) -> str:
    """The text with lone surrogates replaced, as the encoder itself would."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _batches(texts: dict[tuple[str, str], str]) -> list[dict[tuple[str, str], str]]:
    out: list[dict[tuple[str, str], str]] = []
    room = 0
    for key, text in texts.items():
        if not out or len(text) > room:
            out.append({})
            room = BATCH_CHARS
        out[-1][key] = text
        room -= len(text)
    return out

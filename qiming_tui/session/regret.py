"""Prune regret: the model asks again for a result that was cleared a few steps ago (cases C-024).

Much of it says that pruning is too eager. It is counted by a mark on the part that repeats the call.
"""

from typing import Final

import msgspec

from qiming_tui.model.messages import AssistantMessage
from qiming_tui.model.parts import Completed, Ms, ToolPart
from qiming_tui.session.live import Live

WITHIN: Final = 10
"""Steps after a clearing in which the same call again is regretted."""


def mark(live: Live, call: ToolPart) -> tuple[ToolPart, str]:
    """(the call with a mark, a sentence on it) if its result was cleared lately; else (the call, "")."""
    parts = [part for entry in live.entries for part in entry.parts if isinstance(part, ToolPart)]
    old = next((part for part in reversed(parts) if part.id != call.id and _same(part, call)), None)
    if old is None or not isinstance(old.state, Completed) or old.state.time.compacted is None:
        return call, ""
    ago = _steps_since(live, old.state.time.compacted)
    if ago > WITHIN:
        return call, ""
    count = 1 + sum(1 for part in parts if _ours(part).get("regret"))
    steps = "1 step" if ago == 1 else f"{ago} steps"
    words = f"prune regret: {call.tool} again, {steps} after its result was cleared; {count} so far"
    metadata = {**(call.metadata or {}), "qiming": {**_ours(call), "regret": old.id}}
    return msgspec.structs.replace(call, metadata=metadata), words


def _same(part: ToolPart, call: ToolPart) -> bool:
    return (
        part.tool == call.tool and isinstance(part.state, Completed) and part.state.input == call.state.input
    )


def _ours(part: ToolPart) -> dict[str, object]:
    ours = (part.metadata or {}).get("qiming")
    return ours if isinstance(ours, dict) else {}


def _steps_since(live: Live, moment: Ms) -> int:
    infos = [entry.info for entry in live.entries]
    later = [info for info in infos if isinstance(info, AssistantMessage) and not info.summary]
    return sum(1 for info in later if info.time.created > moment)

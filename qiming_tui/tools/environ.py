"""What sub-processes of tools may know of our environment: never a provider's key (`design.md` 8)."""

import re
from collections.abc import Collection, Mapping
from typing import Final

_SECRET: Final = re.compile(
    r"(.*_)?(API_?KEY|APIKEY|TOKEN|SECRET|SECRET_KEY|ACCESS_KEY(_ID)?|PASSWORD|PASSWD|CREDENTIALS?|AUTH)(_.*)?",
    re.IGNORECASE,
)
_QUIET: Final = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
"""So that no command waits for a person that cannot see it."""


def tool_environment(
    env: Mapping[str, str], *, allow: Collection[str] = (), hidden: Collection[str] = ()
) -> dict[str, str]:
    """`env` without names that look like secrets and without `hidden`, but with those in `allow`."""
    kept = {
        name: value
        for name, value in env.items()
        if name in allow or not (name in hidden or _SECRET.fullmatch(name) or name.startswith("QIMING_"))
    }
    return {**kept, **_QUIET}

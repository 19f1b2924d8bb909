"""Permission rules: what goes on unasked, what asks, what is refused (conformance 5, cases C-132 to C-134).

Rules are flat and ordered; the last one that matches decides, within what its maker may do:

- defaults < the user's file < flags: the person's own words, a later rule overrides an earlier one;
- a project's file may only narrow: allow to ask, ask to deny, never the other way (cases C-139);
- answers ("this session", "always") turn an ask into an allow. They never lift a deny.

A call has several needs (each command of a line, each path outside the project); the strictest one decides.
These rules are about honest commands and slips; they are no sandbox.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from qiming_tui.config import Action, Rule, RuleOrigin
from qiming_tui.model.errors import InputError
from qiming_tui.tools.base import OUTSIDE, Need

_STRICTNESS: Final = {Action.ALLOW: 0, Action.ASK: 1, Action.DENY: 2}
_OWN: Final = (RuleOrigin.DEFAULT, RuleOrigin.USER, RuleOrigin.FLAG)
_COVERS: Final = {"edit": frozenset({"edit", "write"})}
"""A rule for `edit` is also one for `write`: to replace a file is to edit it."""


def _default(permission: str, pattern: str, action: Action) -> Rule:
    return Rule(permission, pattern, action, RuleOrigin.DEFAULT)


DEFAULT_RULES: Final[tuple[Rule, ...]] = (
    _default("*", "*", Action.ASK),
    *(_default(tool, "*", Action.ALLOW) for tool in ("read", "list", "glob", "grep")),
    *(_default("read", pattern, Action.ASK) for pattern in ("*.env", ".env*", "*/.env*")),
    *(_default("read", pattern, Action.ALLOW) for pattern in (".env.example", "*/.env.example")),
)
"""What holds when nobody says anything: look inside the project, ask for all else, and for `.env*`."""


class Judgement(msgspec.Struct, frozen=True):
    """The answer of the rules to an ask: the strictest of its needs, and the rule that said so."""

    action: Action
    need: Need
    rule: Rule | None


def escape(text: str) -> str:
    """The pattern that matches exactly `text`."""
    return re.sub(r"([*?])", r"\\\1", text)


@lru_cache(maxsize=1024)
def _regex(pattern: str) -> re.Pattern[str]:
    out, index = [], 0
    while index < len(pattern):
        char, pair = pattern[index], pattern[index : index + 2]
        if pair in ("\\*", "\\?"):
            out.append(re.escape(pair[1]))
            index += 1
        elif char == "*":
            if not out or out[-1] != ".*":
                out.append(".*")
        else:
            out.append("." if char == "?" else re.escape(char))
        index += 1
    body = "".join(out)
    if body.endswith(r"\ .*"):  # "git *" is also a rule for "git" alone
        body = body[: -len(r"\ .*")] + r"(?:\ .*)?"
    return re.compile(body, re.DOTALL)


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text fits: `*` is any text, `?` one character, both literal after a backslash."""
    return _regex(pattern).fullmatch(text) is not None


def _about(rule: Rule, need: Need) -> bool:
    covered = _COVERS.get(rule.permission)
    named = need.permission in covered if covered else matches(rule.permission, need.permission)
    if not named:
        return False
    if need.opaque and rule.action is Action.ALLOW:
        return rule.pattern in ("*", escape(need.pattern))
    return matches(rule.pattern, need.pattern)


def _last(rules: Sequence[Rule], need: Need, origins: tuple[RuleOrigin, ...]) -> Rule | None:
    return next((rule for rule in reversed(rules) if rule.origin in origins and _about(rule, need)), None)


def _judge(rules: Sequence[Rule], need: Need) -> Judgement:
    found = _last(rules, need, _OWN)
    action = found.action if found else Action.ASK
    project = _last(rules, need, (RuleOrigin.PROJECT,))
    if project and _STRICTNESS[project.action] > _STRICTNESS[action]:
        found, action = project, project.action
    answer = _last(rules, need, (RuleOrigin.ALWAYS, RuleOrigin.SESSION))
    if answer and (action is Action.ASK or _STRICTNESS[answer.action] > _STRICTNESS[action]):
        found, action = answer, answer.action
    return Judgement(action, need, found)


def judge(rules: Sequence[Rule], needs: Sequence[Need]) -> Judgement:
    """What the rules say to the needs of a call; where no rule matches, the person is asked.

    No need at all means that nothing was understood: only a rule for everything allows that (cases C-133).
    """
    judged = [_judge(rules, need) for need in needs or (Need("*", "", opaque=True),)]
    return max(judged, key=lambda judgement: _STRICTNESS[judgement.action])


def decide(rules: Sequence[Rule], needs: Sequence[Need]) -> Action:
    """The strictest answer of the rules to the needs of a call."""
    return judge(rules, needs).action


def parse_rule(text: str, action: Action = Action.ALLOW, origin: RuleOrigin = RuleOrigin.SESSION) -> Rule:
    """`bash:git *`, `edit` (all of it) or `*`. Raises InputError when there is no permission's name."""
    permission, colon, pattern = text.partition(":")
    permission = permission.strip()
    if not re.fullmatch(r"[\w*?-]+", permission):
        raise InputError(
            f"not a rule: {text!r}", 'write TOOL or TOOL:PATTERN, for instance "edit" or "bash:git *"'
        )
    return Rule(permission, (pattern.strip() if colon else "") or "*", action, origin)


def check_names(rules: Iterable[Rule], known: Iterable[str]) -> None:
    """Refuse a rule that can never match: its permission is no tool's name. Raises InputError."""
    names = sorted({*known, OUTSIDE})
    for rule in rules:
        if not any(_regex(rule.permission).fullmatch(name) for name in names):
            raise InputError(
                f"{rule.permission!r} in a permission rule ({rule.origin}) is no tool",
                f"there are {', '.join(names)}, and * for all",
            )


def refusal(judgement: Judgement) -> str:
    """Why an ask is a no where nobody can be asked, and what would allow it."""
    need = judgement.need
    what = f"{need.permission}: {need.pattern}" if need.pattern else need.permission
    if judgement.action is Action.DENY:
        return f"a rule denies {what}"
    pattern = "*" if need.opaque or need.permission == OUTSIDE else need.pattern
    return f'{what} needs permission and nobody can be asked; --allow "{need.permission}:{pattern}" allows it'


def why_asked(judgement: Judgement) -> str:
    """Why the person is asked, in a few words."""
    need, rule = judgement.need, judgement.rule
    what = f"{need.permission}: {need.pattern}" if need.pattern else need.permission
    if rule is not None and rule.origin is not RuleOrigin.DEFAULT:
        place = "the project's file" if rule.origin is RuleOrigin.PROJECT else "your rule"
        return f"{place} asks for {rule.permission}:{rule.pattern}"
    if need.permission == OUTSIDE:
        return f"it reaches outside the project ({need.pattern}); no rule matches"
    if need.opaque:
        return "it cannot be judged in full; no rule matches"
    if rule is not None and rule.pattern != "*":
        return f"{what} may hold secrets"
    return f"no rule matches {need.pattern if need.permission == 'bash' else what}"

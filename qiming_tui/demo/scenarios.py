"""The scenarios by name; each is built when it is asked for."""

from collections.abc import Callable
from typing import Final

from qiming_tui.demo import chinese, filling, steering, trouble
from qiming_tui.model.errors import InputError
from qiming_tui.provider.scenario import Scenario

BUILDERS: Final[dict[str, Callable[[], Scenario]]] = {
    "grow": filling.grow,
    "prune": filling.prune,
    "overflow": trouble.overflow,
    "input-limit": filling.input_limit,
    "huge-result": trouble.huge_result,
    "failed-summary": trouble.failed_summary,
    "storm": trouble.storm,
    "undo": steering.undo,
    "pins": steering.pins,
    "bad-estimate": steering.bad_estimate,
    "model-switch": steering.model_switch,
    "zh": chinese.zh,
}
"""In the order of `qiming demo --list`."""


def scenario(name: str) -> Scenario:
    """The scenario of that name; raises InputError that lists the names."""
    builder = BUILDERS.get(name)
    if builder is None:
        raise InputError(f"no scenario is called {name!r}", f"choose one of: {', '.join(BUILDERS)}")
    return builder()


def listing() -> tuple[tuple[str, str], ...]:
    """Name and sentence of every scenario."""
    return tuple((name, builder().sentence) for name, builder in BUILDERS.items())

"""`qiming inspect`: the engine's answers about figures, a file or a session; nothing is ever written."""

import click

from qiming_tui.cli.lazy import Entry, LazyGroup

TABLE = {
    "budget": Entry("inspect_budget:budget", "Whether a count of tokens overflows a window, and why."),
    "window": Entry("inspect_window:window", "Which messages the next request holds."),
    "prune": Entry("inspect_prune:prune", "Which tool results a prune would clear, and why not the others."),
    "why": Entry("inspect_why:why_", "What decided at a step, and why nothing happened."),
    "request": Entry("inspect_request:request", "The next request, or a stored one, as it is sent."),
}


class Questions(LazyGroup):
    """The five questions."""

    table = TABLE


@click.group(cls=Questions)
def inspect() -> None:
    """Ask what would be counted, sent, cleared or archived. Nothing is written."""

"""`qiming inspect request`: the messages and items of a request, its hash, and the verdict on the window.

A stored request is rebuilt from the ledger and checked against its hash; a request of a file, or of a session
without a ledger, is reconstructed: it has no hash, and what the format does not record is not in it.
"""

import click

from qiming_tui.cli.inspect_budget import answer
from qiming_tui.cli.output import number, print_json, print_lines, table
from qiming_tui.cli.subject import Asked, Subject, asks, settled
from qiming_tui.context.assemble import assemble
from qiming_tui.context.past_request import verified
from qiming_tui.context.view import build
from qiming_tui.model.codec import JSON
from qiming_tui.model.window import ContextView, Item

FIELDS = ("key", "blob", "message_id", "part_id", "klass", "state", "pinned", "tokens", "basis", "source")


@click.command()
@asks
async def request(asked: Asked, subject: Subject) -> None:
    """The request as OpenAI chat messages, with its items and their tokens.

    Of a file: the next one, reconstructed. Of a session: the newest one, or that of --step, rebuilt from the
    ledger and verified.
    """
    if subject.stored is not None:
        items, messages, found = rebuilt(subject)
        verdict = subject.stored.verdict
        head = f"step {subject.stored.step}, {subject.stored.kind}, {subject.stored.outcome}"
        lines = [head, f"{verdict.state}: {verdict.arithmetic}"]
    else:
        view: ContextView = await settled(subject, lambda t: build(subject.state, subject.settings, t))
        items, found, verdict = view.items, None, view.verdict
        messages = assemble(view.params, view.items)["messages"]
        lines = [f"~ reconstructed; {verdict.arithmetic}"]
    tokens = sum(item.tokens for item in items)
    if asked.as_json:
        rows = [item_fields(item) for item in items]
        found_out = {"tokens": tokens, "hash": found, "verdict": answer(verdict)}
        print_json({"messages": messages, "items": rows, **found_out})
        return
    print_lines([*lines, f"{number(tokens)} tokens in {len(items)} items, hash {found or 'unknown'}"])
    cells = [(i.klass, i.key, i.state, number(i.tokens), i.source) for i in items]
    print_lines(table(cells, right=frozenset({3})))


def rebuilt(subject: Subject) -> tuple[tuple[Item, ...], JSON, str]:
    """Items, messages and hash of the stored request; raises QimingError where it is not what was sent."""
    assert subject.stored is not None
    items, body, found = verified(subject.stored, subject.blobs)
    return items, body["messages"], found


def item_fields(item: Item) -> dict[str, JSON]:
    """An item's line; its value stands in the messages."""
    return {"role": item.value["role"], **{field: getattr(item, field) for field in FIELDS}}

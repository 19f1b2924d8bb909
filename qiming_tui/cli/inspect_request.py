"""`qiming inspect request`: the messages and items of a request, and its hash.

A stored request is rebuilt from the ledger and checked against its hash; a request of a file, or of a session
without a ledger, is reconstructed: it has no hash, and what the format does not record is not in it.
"""

import click

from qiming_tui.cli.output import number, print_json, print_lines, table
from qiming_tui.cli.subject import Asked, Subject, asks, settled
from qiming_tui.context.assemble import assemble, items_from, view_hash
from qiming_tui.context.view import build
from qiming_tui.model.codec import JSON
from qiming_tui.model.errors import QimingError
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
        head = f"step {subject.stored.step}, {subject.stored.kind}, {subject.stored.outcome}"
    else:
        view: ContextView = await settled(subject, lambda t: build(subject.state, subject.settings, t))
        items, found = view.items, None
        messages = assemble(view.params, view.items)["messages"]
        head = f"~ reconstructed; {view.verdict.arithmetic}"
    tokens = sum(item.tokens for item in items)
    if asked.as_json:
        rows = [_item(item) for item in items]
        print_json({"messages": messages, "items": rows, "tokens": tokens, "hash": found})
        return
    print_lines([head, f"{number(tokens)} tokens in {len(items)} items, hash {found or 'unknown'}"])
    cells = [(i.klass, i.key, i.state, number(i.tokens), i.source) for i in items]
    print_lines(table(cells, right=frozenset({3})))


def rebuilt(subject: Subject) -> tuple[tuple[Item, ...], JSON, str]:
    """Items, messages and hash of the stored request; raises QimingError where it is not what was sent."""
    row = subject.stored
    assert row is not None
    try:
        items = items_from(row.manifest, subject.blobs)
    except KeyError as error:
        raise QimingError(
            f"step {row.step} cannot be rebuilt: blob {error.args[0]} is not in the store"
        ) from error
    body = assemble(row.params, items)
    found = view_hash(body)
    if found != row.view_hash:
        raise QimingError(
            f"step {row.step}: the rebuilt request has hash {found}, the one that was sent {row.view_hash}"
        )
    return items, body["messages"], found


def _item(item: Item) -> dict[str, JSON]:
    """An item's line; its value stands in the messages."""
    return {"role": item.value["role"], **{field: getattr(item, field) for field in FIELDS}}

"""`qiming inspect window`: the live messages in the order of the request, and what lies before them."""

from typing import Any

import click

from qiming_tui.cli.output import print_json, print_lines
from qiming_tui.cli.subject import Asked, Subject, asks, window_of_subject
from qiming_tui.model.codec import JSON
from qiming_tui.model.messages import AssistantMessage
from qiming_tui.model.window import Klass


@click.command()
@asks
async def window(asked: Asked, subject: Subject) -> None:
    """Which messages the next request holds; with --step, which ones a stored request held."""
    answer = held_by_step(subject) if asked.step else held_now(subject)
    if asked.as_json:
        print_json(answer)
    else:
        print_lines(words(answer, subject))


def held_now(subject: Subject) -> dict[str, JSON]:
    """The window of the next request."""
    window = window_of_subject(subject)
    live = [entry.id for entry in window.live]
    held = window.boundary
    boundary = None
    if held is not None:
        boundary = _boundary(held.message_id, held.summary_id, held.tail_start_id)
    return {"live": live, "archived": list(window.archived), "boundary": boundary}


def held_by_step(subject: Subject) -> dict[str, JSON]:
    """The window of a stored request, read off its manifest."""
    assert subject.stored is not None
    rows = subject.stored.manifest
    live = list(dict.fromkeys(row.message_id for row in rows if row.message_id is not None))
    entries = {entry.id: entry for entry in subject.record.entries}
    summary = next((row.message_id for row in rows if row.klass is Klass.SUMMARY), None)
    if summary is None or summary not in entries:
        return {"live": live, "archived": [], "boundary": None}
    info = entries[summary].info
    asked = entries.get(info.parent_id) if isinstance(info, AssistantMessage) else None
    if asked is None:
        return {"live": live, "archived": [], "boundary": None}
    tail = asked.compaction.tail_start_id if asked.compaction else None
    archived = [entry.id for entry in entries.values() if entry.seq < asked.seq and entry.id not in live]
    return {"live": live, "archived": archived, "boundary": _boundary(asked.id, summary, tail)}


def _boundary(message: str, summary: str, tail_start: str | None) -> dict[str, JSON]:
    return {"message": message, "summary": summary, "tail_start": tail_start}


def words(answer: dict[str, Any], subject: Subject) -> list[str]:
    """The window for people: one message a line."""
    by_id = {entry.id: entry for entry in subject.record.entries}
    lines = [f"{len(answer['live'])} live, {len(answer['archived'])} archived"]
    held = answer["boundary"]
    if held:
        tail = f", verbatim from {held['tail_start']}" if held["tail_start"] else ""
        lines.append(f"boundary {held['message']}, summary {held['summary']}{tail}")
    for id in answer["live"]:
        entry = by_id.get(id)
        if entry is not None:
            role = "user" if entry.user else "summary" if _is_summary(entry.info) else "assistant"
            lines.append(f"{id}  {role:9}  {' '.join(entry.text.split())[:60]}".rstrip())
    return lines


def _is_summary(info: object) -> bool:
    return isinstance(info, AssistantMessage) and info.summary

"""From items to the request body and back from a stored manifest (`data.md` 1 and 2).

`assemble` is pure over the values of the items: it only puts them in their places. What it does is the
renderer version of `RequestParams`; a change of its output needs a new version beside the old one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from qiming_tui.model.codec import JSON, canonical, decode, digest
from qiming_tui.model.ledger import ManifestRow
from qiming_tui.model.window import Item, RequestParams

JOIN: Final = "\n\n"
"""Between texts that share one string: system blocks and memory files, several texts of one answer."""

FIXED_ROLES: Final = ("tool-schema", "system")
"""Roles of the items that stand before the conversation."""

CACHE_MARK: Final[dict[str, JSON]] = {"type": "ephemeral"}


def runs(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The items of each provider message in turn: all tool schemas, then all of the system message (its
    blocks and the memory files), then neighbours with one group and one role; a result is a message of its
    own. Items that are fixed stand first, as `repair` leaves them."""
    start = 0
    for item in items:
        if item.value["role"] not in FIXED_ROLES:
            break
        start += 1
    for fixed in FIXED_ROLES if start else ():
        if run := [item for item in items[:start] if item.value["role"] == fixed]:
            yield run
    run, group, role = [], "", ""
    for item in items[start:]:
        kind = item.value["role"]
        if item.group != group or kind != role or kind == "tool":
            if run:
                yield run
            run, group, role = [], item.group, kind
        run.append(item)
    if run:
        yield run


def assemble(params: RequestParams, items: Sequence[Item]) -> dict[str, JSON]:
    """The request body in OpenAI's chat shape: model, messages, and where they apply tools, tool_choice,
    max_tokens, temperature and reasoning_effort. Raises `ValueError` for a renderer it does not know."""
    marks = marks_of(params)
    tools: list[JSON] = []
    messages: list[JSON] = []
    for run in runs(items):
        if run[0].value["role"] == "tool-schema":
            tools.extend(tool_of(item, marks) for item in run)
        else:
            messages.append(message_of(run, marks))
    return body_of(params, messages, tools)


def body_of(params: RequestParams, messages: Sequence[JSON], tools: Sequence[JSON]) -> dict[str, JSON]:
    """The body around its messages and tools."""
    if params.renderer != 1:
        raise ValueError(f"renderer {params.renderer} is newer than this program")
    body: dict[str, JSON] = {"model": str(params.model), "messages": messages}
    if tools:
        body["tools"] = tools
        if params.tool_choice is not None:
            body["tool_choice"] = params.tool_choice
    for name in ("max_tokens", "temperature", "reasoning_effort"):
        value = getattr(params, name)
        if value is not None:
            body[name] = value
    return body


def marks_of(params: RequestParams) -> frozenset[str]:
    """Keys of the items that carry a cache breakpoint; none where the dialect has no such thing."""
    return frozenset(params.breakpoints) if params.dialect == "anthropic" else frozenset()


def tool_of(item: Item, marks: frozenset[str]) -> dict[str, JSON]:
    """A tool schema as the body holds it."""
    function = {key: value for key, value in item.value.items() if key != "role"}
    tool: dict[str, JSON] = {"type": "function", "function": function}
    if item.key in marks:
        tool["cache_control"] = CACHE_MARK
    return tool


def message_of(run: Sequence[Item], marks: frozenset[str]) -> dict[str, JSON]:
    """One provider message from the items of its group."""
    role = run[0].value["role"]
    marked = bool(marks) and any(item.key in marks for item in run)
    if role == "user":
        return {"role": "user", "content": _user_content(run, marks)}
    if role == "tool":
        value = run[0].value
        return {"role": "tool", "tool_call_id": value["id"], "content": _result_content(value, marked)}
    texts = [item.value["text"] for item in run if item.value.get("type", "text") == "text"]
    text = JOIN.join(texts) if texts else None
    content: JSON = [_marked_text(text)] if marked and text is not None else text
    message: dict[str, JSON] = {"role": role, "content": content}
    if role == "assistant":
        _add_thinking(message, run)
        calls = [_call(item.value) for item in run if item.value["type"] == "call"]
        if calls:
            message["tool_calls"] = calls
    return message


def _marked_text(text: str) -> dict[str, JSON]:
    return {"type": "text", "text": text, "cache_control": CACHE_MARK}


def _user_content(run: Sequence[Item], marks: frozenset[str]) -> JSON:
    """A plain string for one text; a list where there are several, a file or a breakpoint."""
    if len(run) == 1 and run[0].value["type"] == "text" and run[0].key not in marks:
        return run[0].value["text"]
    content = []
    for item in run:
        block = content_block(item.value)
        content.append({**block, "cache_control": CACHE_MARK} if item.key in marks else block)
    return content


def content_block(value: Mapping[str, JSON]) -> dict[str, JSON]:
    """A text, image or document as a content block."""
    if value["type"] == "text":
        return {"type": "text", "text": value["text"]}
    if value["type"] == "image":
        return {"type": "image_url", "image_url": {"url": value["url"]}}
    return {"type": "file", "file": {"filename": value["filename"], "file_data": value["url"]}}


def _result_content(value: Mapping[str, JSON], marked: bool) -> JSON:
    attachments = value.get("attachments")
    if not attachments and not marked:
        return value["content"]
    text = {"type": "text", "text": value["content"]}
    blocks: list[dict[str, JSON]] = [text, *(content_block(file) for file in attachments or ())]
    if marked:
        blocks[-1] = {**blocks[-1], "cache_control": CACHE_MARK}
    return blocks


def _add_thinking(message: dict[str, JSON], run: Sequence[Item]) -> None:
    """Thinking goes back verbatim, in the fields that the provider's own answer had."""
    blocks, texts, details = [], [], []
    for item in run:
        value = item.value
        if value["type"] == "thinking":
            blocks.append(_thinking_block(value))
        elif value["type"] == "reasoning":
            texts.extend([value["text"]] if value["text"] else [])
            details.extend(value.get("details", ()))
    if blocks:
        message["thinking_blocks"] = blocks
    if texts:
        message["reasoning_content"] = JOIN.join(texts)
    if details:
        message["reasoning_details"] = details


def _thinking_block(value: Mapping[str, JSON]) -> dict[str, JSON]:
    if "redacted" in value:
        return {"type": "redacted_thinking", "data": value["redacted"]}
    return {"type": "thinking", "thinking": value["text"], "signature": value["signature"]}


def _call(value: Mapping[str, JSON]) -> dict[str, JSON]:
    function = {"name": value["name"], "arguments": value["arguments"]}
    return {"id": value["id"], "type": "function", "function": function}


def view_hash(body: Mapping[str, JSON]) -> str:
    """SHA-256 over the canonical request: the hash that a rebuild must reproduce."""
    return digest(canonical(body))


def manifest(items: Sequence[Item]) -> tuple[ManifestRow, ...]:
    """The rows that the ledger keeps of the items; their values lie in the blob table."""
    return tuple(
        ManifestRow(
            i.blob,
            i.key,
            i.group,
            i.message_id,
            i.part_id,
            i.klass,
            i.state,
            i.pinned,
            i.tokens,
            i.basis,
            i.source,
        )
        for i in items
    )


def items_from(rows: Sequence[ManifestRow], blobs: Mapping[str, bytes]) -> tuple[Item, ...]:
    """The items of a stored request; raises `KeyError` with the hash of a blob that is missing."""
    return tuple(
        Item(
            key=row.key,
            group=row.group,
            value=decode(blobs[row.blob]),
            blob=row.blob,
            message_id=row.message_id,
            part_id=row.part_id,
            klass=row.klass,
            state=row.state,
            pinned=row.pinned,
            tokens=row.tokens,
            basis=row.basis,
            source=row.source,
        )
        for row in rows
    )


def first_change(old: Sequence[ManifestRow], new: Sequence[ManifestRow]) -> str | None:
    """Key of the first item of the old request that the new one sends differently or not at all: where a
    prompt cache breaks. None when the new request only goes on from the old one."""
    for index, row in enumerate(old):
        if index >= len(new):
            return row.key
        other = new[index]
        if row.blob != other.blob or row.group != other.group:
            return other.key
    return None

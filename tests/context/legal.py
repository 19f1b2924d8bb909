"""What OpenAI and Anthropic refuse, checked on a finished body. Written apart from `repair`, on purpose."""

import json
from typing import Any


def legal(body: dict[str, Any], dialect: str = "openai") -> list[str]:
    """Every rule that the body breaks, in words; empty if it is legal."""
    wrong: list[str] = []
    messages = body["messages"]
    spoken = [m for m in messages if m["role"] != "system"]
    if any(m["role"] == "system" for m in messages[1:]):
        wrong.append("a system message that is not the first")
    if spoken and spoken[0]["role"] != "user":
        wrong.append("the conversation does not begin with a user message")
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    if len(names) != len(set(names)):
        wrong.append("a tool is declared twice")
    seen: set[str] = set()
    place = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        wrong += _content(message, dialect)
        if message["role"] == "tool":
            wrong.append(f"an orphan result {message['tool_call_id']}")
        if message["role"] != "assistant":
            continue
        wrong += _assistant(message, dialect)
        wanted = [call["id"] for call in message.get("tool_calls", [])]
        for call_id in wanted:
            if call_id in seen or not call_id:
                wrong.append(f"the call id {call_id!r} is used twice or empty")
            seen.add(call_id)
        given = []
        while place < len(messages) and messages[place]["role"] == "tool" and len(given) < len(wanted):
            given.append(messages[place]["tool_call_id"])
            wrong += _content(messages[place], dialect)
            place += 1
        if sorted(given) != sorted(wanted):
            wrong.append(f"calls {wanted} have the results {given}")
    return wrong


def _content(message: dict[str, Any], dialect: str) -> list[str]:
    role, content = message["role"], message.get("content")
    if content is None:
        return [] if role == "assistant" else [f"a {role} message without content"]
    if isinstance(content, str):
        return [] if content.strip() else [f"a blank {role} message"]
    wrong = [] if content else [f"an empty {role} list"]
    for block in content:
        if block["type"] == "text" and not block["text"].strip():
            wrong.append(f"a blank block in a {role} message")
        if "cache_control" in block and dialect != "anthropic":
            wrong.append("a cache breakpoint where none may be")
        if block["type"] != "text" and role == "tool" and dialect != "anthropic":
            wrong.append("media in a result")
    return wrong


def _assistant(message: dict[str, Any], dialect: str) -> list[str]:
    wrong = []
    if message.get("content") is None and not message.get("tool_calls"):
        wrong.append("an assistant message that says and calls nothing")
    for call in message.get("tool_calls", []):
        try:
            arguments = json.loads(call["function"]["arguments"])
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            wrong.append("arguments that are no JSON object")
    if "thinking_blocks" in message and dialect != "anthropic":
        wrong.append("thinking blocks where none may be")
    if "reasoning_content" in message and dialect == "anthropic":
        wrong.append("reasoning content where thinking blocks belong")
    for block in message.get("thinking_blocks", []):
        if not (block.get("signature") or block.get("data")):
            wrong.append("a thinking block without signature")
    return wrong

"""A provider's usage in our terms: input without cache, output without reasoning (cases C-072, C-080, C-090).

Each function takes what a provider (or the library) reported and returns None when it reported nothing:
usage is never invented. `total` is the provider's own, or None where the format has none; when it contradicts
the parts, both are kept and `Usage.broken` says so.
"""

from qiming_tui.model.codec import JSON
from qiming_tui.model.usage import Usage


def tokens(value: JSON) -> int:
    """A token count from JSON; anything that is not a whole number above 0 is 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return max(0, int(value))


def _inside(raw: dict[str, JSON], name: str) -> dict[str, JSON]:
    value = raw.get(name)
    return value if isinstance(value, dict) else {}


def openai(raw: JSON) -> Usage | None:
    """Usage of an OpenAI-compatible server; prompt_tokens include what was read from and written to a cache.

    A server whose total proves that it counts cache or reasoning beside them is read as it means it (C-090).
    """
    if not isinstance(raw, dict):
        return None
    prompt, completion = tokens(raw.get("prompt_tokens")), tokens(raw.get("completion_tokens"))
    details = _inside(raw, "prompt_tokens_details")
    read = tokens(details.get("cached_tokens")) or tokens(raw.get("prompt_cache_hit_tokens"))
    write = tokens(details.get("cache_creation_tokens")) or tokens(details.get("cache_write_tokens"))
    reasoning = tokens(_inside(raw, "completion_tokens_details").get("reasoning_tokens"))
    return _split(prompt, completion, read, write, reasoning, total=tokens(raw.get("total_tokens")) or None)


def _split(
    prompt: int, completion: int, read: int, write: int, reasoning: int, *, total: int | None
) -> Usage:
    """Take cache out of the prompt and reasoning out of the completion, unless they are not in there."""
    beside_prompt = read + write > prompt
    beside_output = reasoning > completion
    if total is not None and total != prompt + completion:
        beside_prompt = beside_prompt or total - prompt - completion in (
            read + write,
            read + write + reasoning,
        )
        beside_output = beside_output or total - prompt - completion in (reasoning, read + write + reasoning)
    return Usage(
        input=prompt if beside_prompt else prompt - read - write,
        output=completion if beside_output else completion - reasoning,
        reasoning=reasoning,
        cache_read=read,
        cache_write=write,
        total=total,
    )


def anthropic(raw: JSON) -> Usage | None:
    """Usage of an Anthropic server: input_tokens exclude the cache, output_tokens include thinking."""
    if not isinstance(raw, dict) or not ("input_tokens" in raw or "output_tokens" in raw):
        return None
    output = tokens(raw.get("output_tokens"))
    thinking = min(tokens(_inside(raw, "output_tokens_details").get("thinking_tokens")), output)
    return Usage(
        input=tokens(raw.get("input_tokens")),
        output=output - thinking,
        reasoning=thinking,
        cache_read=tokens(raw.get("cache_read_input_tokens")),
        cache_write=tokens(raw.get("cache_creation_input_tokens")),
    )


def gemini(raw: JSON) -> Usage | None:
    """Usage of a Gemini server: the prompt includes the cache; thoughts are beside the candidates unless the
    total proves that they are in them."""
    if not isinstance(raw, dict) or "promptTokenCount" not in raw:
        return None
    prompt = tokens(raw.get("promptTokenCount")) + tokens(raw.get("toolUsePromptTokenCount"))
    candidates, thoughts = tokens(raw.get("candidatesTokenCount")), tokens(raw.get("thoughtsTokenCount"))
    read = min(tokens(raw.get("cachedContentTokenCount")), prompt)
    total = tokens(raw.get("totalTokenCount")) or None
    inclusive = thoughts <= candidates and total == prompt + candidates
    return Usage(
        input=prompt - read,
        output=candidates - thoughts if inclusive else candidates,
        reasoning=thoughts,
        cache_read=read,
        total=total,
    )


def litellm(raw: JSON, *, guesses_reasoning: bool) -> Usage | None:
    """Usage as litellm reports it: prompt_tokens include cache read and write, for every provider (C-072).

    `guesses_reasoning`: for Anthropic's models the reasoning count is the library's own guess from the text
    and the total its own sum; neither is the provider's, so neither is taken.
    """
    if not isinstance(raw, dict):
        return None
    prompt, completion = tokens(raw.get("prompt_tokens")), tokens(raw.get("completion_tokens"))
    details = _inside(raw, "prompt_tokens_details")
    read = tokens(details.get("cached_tokens")) or tokens(raw.get("cache_read_input_tokens"))
    read = read or tokens(raw.get("prompt_cache_hit_tokens"))
    write = tokens(details.get("cache_creation_tokens")) or tokens(raw.get("cache_creation_input_tokens"))
    write = write or tokens(details.get("cache_write_tokens"))
    if guesses_reasoning:
        return _split(prompt, completion, read, write, 0, total=None)
    reasoning = tokens(_inside(raw, "completion_tokens_details").get("reasoning_tokens"))
    return _split(prompt, completion, read, write, reasoning, total=tokens(raw.get("total_tokens")) or None)

"""What others publish about models: models.dev's api.json and litellm's price map, read as plain JSON.

Both are untrusted input: an entry that is not of the expected shape counts as not there.
"""

import gzip
from pathlib import Path
from typing import Any, Final

import msgspec

from qiming_tui.model.limits import UNKNOWN_LIMITS, Limits, ModelInfo, ModelRef, Origin, Price, PriceTier

LITELLM_NAME: Final = {
    "google": "gemini",
    "google-vertex": "vertex_ai",
    "google-vertex-anthropic": "vertex_ai",
    "amazon-bedrock": "bedrock",
    "togetherai": "together_ai",
    "fireworks-ai": "fireworks_ai",
    "moonshotai": "moonshot",
    "alibaba": "dashscope",
    "github-copilot": "github_copilot",
    "azure-cognitive-services": "azure_ai",
    "vercel": "vercel_ai_gateway",
}
"""models.dev's name of a provider -> litellm's, where they differ."""

MODELS_DEV_NAME: Final = {theirs: ours for ours, theirs in reversed(LITELLM_NAME.items())}


class _Limit(msgspec.Struct):
    context: int | None = None
    input: int | None = None
    output: int | None = None


class _Tier(msgspec.Struct):
    size: int
    type: str = "context"


class _TierCost(msgspec.Struct):
    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    tier: _Tier | None = None


class _Cost(msgspec.Struct):
    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    tiers: list[_TierCost] = []
    context_over_200k: _TierCost | None = None


class _Model(msgspec.Struct):
    name: str = ""
    limit: _Limit = msgspec.field(default_factory=_Limit)
    cost: _Cost | None = None
    reasoning: bool = False
    tool_call: bool = False
    attachment: bool = False


class Provider(msgspec.Struct):
    """A provider as models.dev describes it; models stay undecoded until one is asked for."""

    models: dict[str, msgspec.Raw] = {}
    env: list[str] = []
    npm: str = ""
    api: str | None = None


_PROVIDERS: Final = msgspec.json.Decoder(dict[str, Provider])
_MODEL: Final = msgspec.json.Decoder(_Model)


def read_models_dev(path: Path) -> dict[str, Provider]:
    """Decode an api.json (or a gzipped one). Raises OSError or msgspec.DecodeError (ValidationError too)."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except EOFError as fault:
            raise OSError(f"{path.name} is cut off") from fault
    return _PROVIDERS.decode(data)


def _price(cost: _Cost | None) -> Price | None:
    if cost is None:
        return None
    tiers = [(t.tier.size, t) for t in cost.tiers if t.tier is not None and t.tier.type == "context"]
    if not tiers and cost.context_over_200k is not None:
        tiers = [(200_000, cost.context_over_200k)]
    return Price(
        cost.input,
        cost.output,
        cost.cache_read,
        cost.cache_write,
        tuple(PriceTier(size, t.input, t.output, t.cache_read, t.cache_write) for size, t in sorted(tiers)),
    )


def models_dev_info(ref: ModelRef, raw: msgspec.Raw, origin: Origin) -> ModelInfo | None:
    """One entry of api.json as our value; None if it is not readable. A context of 0 counts as unknown."""
    try:
        model = _MODEL.decode(raw)
    except msgspec.DecodeError:
        return None
    limit = model.limit
    limits = UNKNOWN_LIMITS
    if (limit.context or 0) > 0:
        limits = Limits(limit.context or 0, _positive(limit.input) or None, _positive(limit.output), origin)
    return ModelInfo(
        ref=ref,
        name=model.name,
        limits=limits,
        price=_price(model.cost),
        reasoning=model.reasoning,
        tools=model.tool_call,
        attachments=model.attachment,
    )


def read_litellm_map(path: Path) -> dict[str, dict[str, Any]]:
    """litellm's bundled map. Raises OSError or msgspec.DecodeError."""
    raw = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    return {key: value for key, value in raw.items() if isinstance(value, dict) and key != "sample_spec"}


def litellm_ref(key: str, entry: dict[str, Any]) -> ModelRef | None:
    """The `provider/model` of a chat entry of litellm's map; None for images, embeddings and the like."""
    provider = entry.get("litellm_provider")
    if not isinstance(provider, str) or entry.get("mode") not in ("chat", "completion", "responses"):
        return None
    return ModelRef(provider, key.removeprefix(f"{provider}/"))


def litellm_info(ref: ModelRef, entry: dict[str, Any]) -> ModelInfo:
    """An entry of litellm's map as our value: `max_input_tokens` is taken as the whole context, the careful
    reading; `max_tokens` is never used, its meaning differs by provider (cases C-087)."""
    context = _positive(entry.get("max_input_tokens"))
    limits = UNKNOWN_LIMITS
    if context:
        limits = Limits(context, None, _positive(entry.get("max_output_tokens")), Origin.LITELLM)
    return ModelInfo(
        ref=ref,
        name=ref.model,
        limits=limits,
        price=_litellm_price(entry),
        reasoning=entry.get("supports_reasoning") is True,
        tools=entry.get("supports_function_calling") is not False,
        attachments=entry.get("supports_vision") is True,
    )


def _litellm_price(entry: dict[str, Any]) -> Price | None:
    if not isinstance(entry.get("input_cost_per_token"), (int, float)):
        return None
    above = "_above_200k_tokens"
    tiers: tuple[PriceTier, ...] = ()
    if isinstance(entry.get(f"input_cost_per_token{above}"), (int, float)):
        tiers = (PriceTier(200_000, *_rates(entry, above)),)
    return Price(*_rates(entry, ""), tiers)


def _rates(entry: dict[str, Any], suffix: str) -> tuple[float, float, float, float]:
    keys = (
        "input_cost_per_token",
        "output_cost_per_token",
        "cache_read_input_token_cost",
        "cache_creation_input_token_cost",
    )
    found = [entry.get(key + suffix, entry.get(key)) for key in keys]
    rates = [round(rate * 1e6, 9) if isinstance(rate, (int, float)) else 0.0 for rate in found]
    return rates[0], rates[1], rates[2], rates[3]


def _positive(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) and value > 0 else 0

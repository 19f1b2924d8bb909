"""A model's limits and prices, and where they come from (`design.md` 5.1)."""

from enum import StrEnum

import msgspec

from qiming_tui.model.errors import InputError


class Origin(StrEnum):
    """Who said so, in falling authority."""

    USER = "config"
    MODELS_DEV = "models.dev"
    MODELS_DEV_BUNDLED = "models.dev (bundled)"
    SERVER = "server"
    """The model server itself reported its real window (a local model's /props)."""
    LITELLM = "litellm"
    ARGUMENT = "argument"
    UNKNOWN = "unknown"


class Limits(msgspec.Struct, frozen=True):
    """Token limits, always in this order. `context` 0 means unknown, `output` 0 means unknown."""

    context: int
    input: int | None
    output: int
    origin: Origin = Origin.UNKNOWN

    @property
    def known(self) -> bool:
        """Whether there is a window to measure against."""
        return self.context > 0 or bool(self.input)

    @property
    def window(self) -> int:
        """The input limit if there is one, else the context (`data.md` 4); 0 when unknown."""
        return self.input or self.context


UNKNOWN_LIMITS = Limits(0, None, 0)


class PriceTier(msgspec.Struct, frozen=True):
    """Prices that hold when a request's input side is larger than `above` tokens."""

    above: int
    input: float
    output: float
    cache_read: float = 0.0
    cache_write: float = 0.0


class Price(msgspec.Struct, frozen=True):
    """US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    tiers: tuple[PriceTier, ...] = ()


class ModelRef(msgspec.Struct, frozen=True, order=True):
    """`provider/model`, the way a user names a model."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"

    @classmethod
    def parse(cls, text: str) -> "ModelRef":
        """Split at the first slash. Raises InputError for a name that lacks a half: none is guessed."""
        provider, _, model = text.partition("/")
        if not provider.strip() or not model.strip():
            raise InputError(
                f"{text!r} does not say provider and model",
                'write PROVIDER/MODEL, as in openai/gpt-5; "qiming models WORDS" searches them',
            )
        return cls(provider, model)


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What the catalogue knows of one model."""

    ref: ModelRef
    name: str = ""
    limits: Limits = UNKNOWN_LIMITS
    price: Price | None = None
    """None: the price is not known (shown as such, never as 0)."""
    reasoning: bool = False
    tools: bool = True
    attachments: bool = False
    overrides: tuple[str, ...] = ()
    """Names of the limits that the user's config set over the catalogue's."""

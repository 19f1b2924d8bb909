"""What a session needs from outside, handed in by `runtime.py`: no concrete class is known here."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import msgspec

from qiming_tui.config import Rule, ToolSettings
from qiming_tui.context.state import Block
from qiming_tui.model.codec import JSON
from qiming_tui.model.ids import Clock, Ids
from qiming_tui.model.limits import ModelInfo, ModelRef
from qiming_tui.model.stream import Counter, Endpoint, Gateway
from qiming_tui.model.window import Settings
from qiming_tui.store.store import Store
from qiming_tui.tools.base import Tool


class ModelProfile(msgspec.Struct, frozen=True, kw_only=True):
    """A model made ready: what it is, how it is reached, and how its tokens are counted."""

    info: ModelInfo
    gateway: Gateway
    endpoint: Endpoint = Endpoint()
    counter: Counter
    encoding: str
    dialect: str = "openai"
    tools: bool = True
    short_prompt: bool = False
    """A small model gets a system prompt of two sentences and no environment."""
    count_chat: Callable[[list[dict[str, JSON]]], Awaitable[int]] | None = None
    """Exact tokens of a request by the model's own server, where it offers that."""
    titles: bool = True
    """Whether a title is asked of the model; otherwise the first line of the prompt is the title."""


class Resolve(Protocol):
    """Finds a model by name. Raises InputError for an unknown one, GatewayError if it cannot be started."""

    async def __call__(self, ref: ModelRef) -> ModelProfile: ...


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a worker is given. Time, ids and randomness come from here and from nowhere else."""

    store: Store
    resolve: Resolve
    tools: tuple[Tool, ...]
    settings: Settings
    rules: tuple[Rule, ...]
    """Permission rules of the defaults, the configuration and the command line, in order."""
    clock: Clock
    ids: Ids
    random: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    environment: Callable[[Path], Block]
    """The system block that describes the machine, the folder and the date."""
    instructions: Callable[[Path, bool], tuple[Block, ...]]
    """AGENTS.md files: the global one, and the project's when the folder is trusted."""
    tool_env: Callable[[], dict[str, str]]
    """Environment for what tools start; holds no provider keys."""
    hidden_env: frozenset[str]
    """Names of variables that no tool may see: the providers' keys."""
    tool_limits: ToolSettings
    keep_output: Callable[[str, str], Awaitable[Path]]
    """Keeps a tool's whole output (part id, text) where the read tool may reach it; returns the file."""
    compaction_model: ModelRef | None = None
    """The model that writes summaries; None: the working model."""
    interactive: bool = True
    """Somebody can answer questions; otherwise an ask is a no with a reason."""
    owner: str = ""
    """Names this process in a session's lease."""

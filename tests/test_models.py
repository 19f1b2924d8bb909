"""Models made ready: what cannot be is told before anything is sent."""

import msgspec
import pytest

from qiming_tui.config import Config, ProviderTable
from qiming_tui.model.errors import InputError
from qiming_tui.model.limits import ModelRef
from qiming_tui.models import Models
from qiming_tui.provider.catalogue import Catalogue
from tests.session.harness import Model, QuarterCounter, session


def models(folder, config=Config(), **env):  # noqa: B008
    return Models(
        config=config,
        catalogue=Catalogue(env=env, cache_dir=folder),
        counter=QuarterCounter(),
        env=env,
        log_dir=folder,
        new_key=lambda: "key",
        clock=lambda: 0,
    )


async def test_an_unknown_provider_is_named(tmp_path):
    with pytest.raises(InputError, match="no provider is called 'nosuch'"):
        await models(tmp_path).resolve(ModelRef("nosuch", "x"))


async def test_a_missing_key_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no key") as told:
        await models(tmp_path).resolve(ModelRef("anthropic", "claude-sonnet-4-5"))
    assert "ANTHROPIC_API_KEY" in told.value.hint


def test_providers_of_all_three_sources_are_known(tmp_path):
    known = Catalogue(env={}, cache_dir=tmp_path)
    assert all(known.knows(name) for name in ("anthropic", "bedrock", "openrouter"))
    own = Config(providers={"home": ProviderTable(base_url="http://127.0.0.1:1/v1", key_env="")})
    assert own.endpoint(ModelRef("home", "x")) is not None


async def test_a_model_that_cannot_be_used_leaves_no_session_behind(tmp_path):
    async with session(tmp_path, Model()) as rig:
        before = len(await rig.runtime.store.sessions())

        async def refuse(ref):
            raise InputError("no key")

        rig.runtime.wiring = msgspec.structs.replace(rig.runtime.wiring, resolve=refuse)
        with pytest.raises(InputError, match="no key"):
            await rig.runtime.new_session(tmp_path, ModelRef("anthropic", "x"))
        assert len(await rig.runtime.store.sessions()) == before

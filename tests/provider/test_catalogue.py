"""Limits, prices and their origins."""

import gzip
import json
from collections import Counter
from types import SimpleNamespace

import pytest

from qiming_tui.model.errors import ConfigError
from qiming_tui.model.limits import Limits, ModelRef, Origin, Price, PriceTier
from qiming_tui.provider import sources
from qiming_tui.provider.catalogue import Catalogue

NOTHING = {"context": None, "input": None, "output": None}


def override(**given):
    return SimpleNamespace(**{**NOTHING, **given})


def model(**more):
    return {
        "name": "M",
        "tool_call": True,
        "reasoning": False,
        "attachment": False,
        "limit": {"context": 1000, "output": 100},
        **more,
    }


@pytest.fixture
def catalogue(tmp_path):
    return Catalogue(env={}, cache_dir=tmp_path)


@pytest.fixture
def own(tmp_path):
    def make(data, **env):
        path = tmp_path / "api.json"
        path.write_text(json.dumps(data))
        return Catalogue(env={"QIMING_MODELS_PATH": str(path), **env}, cache_dir=tmp_path)

    return make


def test_models_dev_knows_the_true_window_of_a_split_model(catalogue):
    info = catalogue.lookup(ModelRef.parse("openai/gpt-5"))
    assert info.limits == Limits(400_000, 272_000, 128_000, Origin.MODELS_DEV_BUNDLED)
    assert info.price == Price(1.25, 10, 0.125, 0.0)
    assert info.reasoning


def test_c_087_litellms_max_input_is_the_window_and_max_tokens_is_never_used(tmp_path, own):
    catalogue = own({})
    assert catalogue.lookup(ModelRef("openai", "gpt-5")).limits == Limits(
        272_000, None, 128_000, Origin.LITELLM
    )
    assert catalogue.lookup(ModelRef("openai", "gpt-4.1")).limits == Limits(
        1_047_576, None, 32_768, Origin.LITELLM
    )
    found = catalogue.lookup(ModelRef("anthropic", "claude-sonnet-4-5"))
    assert found.limits == Limits(200_000, None, 64_000, Origin.LITELLM)
    assert found.price == Price(3.0, 15.0, 0.3, 3.75)
    info = sources.litellm_info(ModelRef("x", "y"), {"max_tokens": 4096})
    assert info.limits == Limits(0, None, 0, Origin.UNKNOWN)


@pytest.mark.parametrize("name", ["ollama/qwen3", "openai/my-local", "nobody/nothing"])
def test_c_016_an_unknown_model_has_no_limits_and_no_price(catalogue, name):
    info = catalogue.lookup(ModelRef.parse(name))
    assert not info.limits.known
    assert info.limits.origin is Origin.UNKNOWN
    assert info.price is None


def test_another_providers_entry_in_litellms_map_is_not_taken(own):
    assert not own({}).lookup(ModelRef("groq", "gpt-5")).limits.known


def test_both_names_of_a_provider_find_the_same_model(catalogue):
    one = catalogue.lookup(ModelRef.parse("google/gemini-2.5-pro"))
    two = catalogue.lookup(ModelRef.parse("gemini/gemini-2.5-pro"))
    assert one.limits == two.limits
    assert one.price == two.price == Price(1.25, 10, 0.125, 0, (PriceTier(200_000, 2.5, 15, 0.25, 0),))


def test_c_004_the_users_limits_win_and_the_origin_says_so(catalogue):
    ref = ModelRef.parse("openai/gpt-4.1")
    info = catalogue.lookup(ref, override(context=200_000))
    assert info.limits == Limits(200_000, None, 32_768, Origin.USER)
    assert info.overrides == ("context",)
    partly = catalogue.lookup(ref, override(output=8_192))
    assert partly.limits == Limits(1_047_576, None, 8_192, Origin.MODELS_DEV_BUNDLED)
    assert partly.overrides == ("output",)
    assert catalogue.lookup(ref, override()) == catalogue.lookup(ref)


def test_the_user_can_set_and_remove_an_input_limit(catalogue):
    split = ModelRef.parse("openai/gpt-5")
    assert catalogue.lookup(split, override(input=0)).limits == Limits(
        400_000, None, 128_000, Origin.MODELS_DEV_BUNDLED
    )
    unknown = ModelRef.parse("openai/my-local")
    assert catalogue.lookup(unknown, override(context=9, input=5, output=2)).limits == Limits(
        9, 5, 2, Origin.USER
    )


def test_a_fetched_file_beats_the_bundled_one_and_a_damaged_one_is_passed_over(tmp_path, catalogue):
    ref = ModelRef("openai", "gpt-5")
    catalogue.cache_file.write_bytes(
        gzip.compress(json.dumps({"openai": {"models": {"gpt-5": model()}}}).encode())
    )
    assert catalogue.lookup(ref).limits == Limits(1000, None, 100, Origin.MODELS_DEV)
    catalogue.cache_file.write_bytes(b'{"openai": ')
    catalogue.forget()
    assert catalogue.lookup(ref).limits.origin is Origin.MODELS_DEV_BUNDLED
    assert len(catalogue.problems) == 1
    assert "fetched" in catalogue.problems[0]


def test_a_file_named_by_the_user_that_cannot_be_used_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "gone.json"
    catalogue = Catalogue(env={"QIMING_MODELS_PATH": str(path)}, cache_dir=tmp_path)
    with pytest.raises(ConfigError, match=r"QIMING_MODELS_PATH: .*gone\.json"):
        catalogue.lookup(ModelRef("a", "b"))


def test_an_unreadable_entry_counts_as_not_there(own):
    catalogue = own({"p": {"models": {"bad": {"limit": "much"}, "good": model()}}})
    assert not catalogue.lookup(ModelRef("p", "bad")).limits.known
    assert catalogue.lookup(ModelRef("p", "good")).limits.context == 1000


def test_a_context_of_zero_is_unknown_and_limits_and_price_come_from_whoever_knows(own):
    catalogue = own(
        {"openai": {"models": {"gpt-5": model(limit={"context": 0, "output": 0}, cost={"input": 7})}}}
    )
    info = catalogue.lookup(ModelRef("openai", "gpt-5"))
    assert info.limits.origin is Origin.LITELLM
    assert info.price == Price(7.0)


def test_the_old_form_of_the_long_context_price_is_read(own):
    cost = {"input": 1, "output": 2, "context_over_200k": {"input": 3, "output": 4}}
    catalogue = own({"p": {"models": {"m": model(cost=cost)}}})
    assert catalogue.lookup(ModelRef("p", "m")).price == Price(1, 2, 0, 0, (PriceTier(200_000, 3, 4),))


def test_all_lists_every_model_once_with_its_origin(catalogue):
    found = catalogue.all()
    names = [str(info.ref) for info in found]
    assert len(names) == len(set(names)) > 4000
    origins = Counter(info.limits.origin for info in found)
    assert origins[Origin.MODELS_DEV_BUNDLED] > 3000
    assert origins[Origin.LITELLM] > 500
    assert "gemini/gemini-2.5-pro" not in names


@pytest.mark.parametrize(
    ("name", "wire", "base_url", "key_env", "litellm_model"),
    [
        ("openai/gpt-5", "openai", None, "OPENAI_API_KEY", "openai/gpt-5"),
        ("anthropic/claude-x", "anthropic", None, "ANTHROPIC_API_KEY", "anthropic/claude-x"),
        ("google/gemini-2.5-pro", "gemini", None, "GEMINI_API_KEY", "gemini/gemini-2.5-pro"),
        (
            "deepseek/deepseek-chat",
            "openai",
            "https://api.deepseek.com",
            "DEEPSEEK_API_KEY",
            "openai/deepseek-chat",
        ),
        ("groq/x", "other", None, "GROQ_API_KEY", "groq/x"),
        ("amazon-bedrock/x", "other", None, None, "bedrock/x"),
        ("nobody/x", "other", None, None, "nobody/x"),
    ],
)
def test_endpoints(tmp_path, name, wire, base_url, key_env, litellm_model):
    catalogue = Catalogue(env={"GEMINI_API_KEY": "k"}, cache_dir=tmp_path)
    found = catalogue.endpoint(ModelRef.parse(name))
    assert (found.wire, found.base_url, found.key_env, found.litellm_model) == (
        wire,
        base_url,
        key_env,
        litellm_model,
    )


def test_a_key_never_goes_to_an_address_that_is_not_its_providers(own):
    def one(api, **env):
        entry = {"npm": "@ai-sdk/openai-compatible", "env": ["P_API_KEY"], "api": api}
        return own({"p": entry}, **env).endpoint(ModelRef("p", "m"))

    assert one("https://p.example/${ACCOUNT}/v1", ACCOUNT="a7").base_url == "https://p.example/a7/v1"
    assert one("http://127.0.0.1:1234/v1").wire == "openai"
    for api in (None, "https://p.example/${ACCOUNT}/v1", "http://p.example/v1", "ftp://p.example"):
        found = one(api)
        assert (found.wire, found.base_url, found.litellm_model) == ("other", None, "p/m")


def test_models_devs_file_is_stale_after_a_day(catalogue, own):
    assert catalogue.stale(now_ms=0)
    catalogue.cache_file.write_text("{}")
    written = int(catalogue.cache_file.stat().st_mtime * 1000)
    assert not catalogue.stale(now_ms=written + 86_000_000)
    assert catalogue.stale(now_ms=written + 87_000_000)
    assert not own({}).stale(now_ms=written + 87_000_000)

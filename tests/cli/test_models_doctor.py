"""`models` and `doctor`: what is known, who says so, what does not work; keys are never shown."""

import json
from pathlib import Path

import pytest

from tests.cli.runner import call

API = {
    "acme": {
        "models": {
            "big": {"name": "Acme Big", "limit": {"context": 200_000, "output": 8_192}},
            "split": {"limit": {"context": 400_000, "input": 180_000, "output": 8_192}},
            "silent": {"name": "Acme Silent"},
        }
    }
}


@pytest.fixture(autouse=True)
def _catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "api.json"
    path.write_text(json.dumps(API))
    monkeypatch.setenv("QIMING_MODELS_PATH", str(path))


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def write(text: str) -> None:
        path = tmp_path / "config.toml"
        path.write_text(text)
        monkeypatch.setenv("QIMING_CONFIG", str(path))

    return write


def models(*args: str) -> dict[str, dict[str, object]]:
    return {row["model"]: row for row in call("models", *args, "--json").json}


@pytest.mark.parametrize(
    ("preset", "big", "split"),
    [("guarded", 191_808, 171_808), ("opencode", 191_808, 171_808), ("qiming", 191_808, 391_808)],
)
def test_limits_origin_and_what_may_be_used(preset: str, big: int, split: int) -> None:
    found = models("acme", "--preset", preset)
    assert found["acme/big"] == {
        "model": "acme/big",
        "name": "Acme Big",
        "context": 200_000,
        "input": None,
        "output": 8_192,
        "origin": "models.dev",
        "preset": preset,
        "usable": big,
        "price": None,
    }
    assert found["acme/split"]["usable"] == split
    assert (found["acme/silent"]["context"], found["acme/silent"]["usable"]) == (None, None)


def test_the_users_word_is_above_all_and_his_own_models_are_listed(settings) -> None:
    settings(
        '[providers.acme.models.big.limits]\ncontext = 100000\n[providers.home.models."my/gguf".limits]\n'
        "context = 4096\noutput = 512\n"
    )
    found = models()
    assert (found["acme/big"]["context"], found["acme/big"]["origin"]) == (100_000, "config")
    assert found["home/my/gguf"]["usable"] == 3_584
    assert list(found)[:2] == ["acme/big", "home/my/gguf"]


def test_the_filter_wants_every_word() -> None:
    assert set(models("ACME", "silent")) == {"acme/silent"}
    assert models("acme", "nothing") == {}
    nothing = call("models", "acme", "nothing")
    assert (nothing.code, nothing.out) == (2, "")
    lines = call("models", "acme", "big").out.splitlines()
    assert lines[0].split() == ["model", "context", "input", "output", "usable", "origin"]
    assert lines[1].split() == ["acme/big", "200,000", "8,192", "191,808", "models.dev"]


def doctor(*args: str, code: int = 0) -> dict[str, dict[str, str]]:
    result = call("doctor", "--json", *args)
    assert result.code == code, result.err
    return {row["what"]: row for row in json.loads(result.out)}


def test_a_healthy_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    found = doctor()
    states = {what: row["state"] for what, row in found.items()}
    assert "fail" not in states.values()
    assert states["token counts"] == "ok"
    assert "exact" in found["token counts"]["words"]
    assert "OPENAI_API_KEY" in found["keys"]["words"]
    assert "very-secret" not in call("doctor").out


def test_settings_that_cannot_be_read_are_named(settings) -> None:
    settings("[context]\npresets = 1\n")
    found = doctor(code=1)
    assert found["settings"]["state"] == "fail"
    assert "context.presets" in found["settings"]["words"]


def test_a_damaged_store_is_found(tmp_path: Path) -> None:
    path = tmp_path / "bad.db"
    path.write_bytes(b"this is no database" * 100)
    found = doctor("--store", str(path), code=1)
    assert found["store"]["state"] == "fail"
    assert path.read_bytes().startswith(b"this is no")

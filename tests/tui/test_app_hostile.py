"""Text from outside, everywhere it is shown: no control sequence in any cell, and brackets are brackets.

Cases C-131: model, tools, titles, file names, errors, questions, links, toasts, tooltips, pickers.
"""

import pytest
from textual.widgets._toast import Toast

from qiming_tui.model.sanitize import one_line
from qiming_tui.model.stream import FaultKind
from qiming_tui.tui.app import QimingApp
from qiming_tui.tui.complete import FileIndex
from qiming_tui.tui.widgets.conversation import Conversation
from tests.session.harness import Model, call, fail, say, session, used
from tests.tui.test_app import Given, text_of, until

BRACKETS = "[stage] x [/ [b]y[/b]"
SEQUENCES = "a\x1b]52;c;aGk=\x07b\x9b31mc\x1b[2Jd\x1b]unterminated"
FOUL = frozenset(map(chr, [*range(0x20), *range(0x7F, 0xA0)])) - {"\n"}


class Screen(QimingApp):
    """Shows its toasts, and can tell what the last one says."""

    def toast(self):
        """All toasts as they are painted."""
        return "\n".join(str(toast.render()) for toast in self.screen.query(Toast))


async def questioned(app, pilot, shown, look):
    await until(pilot, lambda: "Allow bash?" in text_of(app))
    await until(pilot, lambda: app.focused is app.main.question)
    look()
    assert f"echo '{shown}'" in text_of(app)
    await pilot.press("f")
    await until(pilot, lambda: app.main.question.detail.display)
    look()
    await pilot.press("y")


@pytest.mark.parametrize("text", [BRACKETS, SEQUENCES], ids=["brackets", "sequences"])
async def test_c_131_nothing_from_outside_is_obeyed_and_brackets_are_literal(tmp_path, text):
    shown = one_line(text)
    (tmp_path / "project").mkdir()
    name = "notes [b]x" if text is BRACKETS else "plain"
    (tmp_path / "project" / name).write_text("x")
    model = Model(
        call("bash", {"command": f"echo '{text}'"}, used(2_000, 20)),
        call(text, {"path": text}, used(2_050, 20), "call_2"),
        say(f"I say {text}", used(2_100, 20)),
        say(f"Title {text}"),
        fail(FaultKind.AUTH, f"wrong {text}"),
    )
    async with session(tmp_path, model, allow=()) as rig:
        app = Screen(Given(rig), files=FileIndex(tmp_path / "project"))
        async with app.run_test(size=(120, 40), notifications=True) as pilot:

            def look():
                assert not FOUL & set(text_of(app)), sorted(FOUL & set(text_of(app)))

            await until(pilot, lambda: app.session is not None)
            await rig.worker.submit(f"Do {text}")
            await questioned(app, pilot, shown, look)
            await until(pilot, lambda: f"I say {shown}" in text_of(app))
            await until(pilot, lambda: f"Title {shown}" in text_of(app).splitlines()[0])
            assert f"Do {shown}" in text_of(app)
            assert f"there is no tool named {one_line(repr(shown))[:9]}" in text_of(app)
            look()
            await app.session.idle()
            await rig.worker.submit("again")
            await until(pilot, lambda: f"wrong {shown}" in app.toast())
            look()
            app.clear_notifications()
            app.post_message(Conversation.LinkWanted(f"https://x/{text}"))
            await until(pilot, lambda: f"https://x/{shown}" in app.toast())
            app.main.conversation.open_block(app.main.conversation.shelf.items[1].block.id, opened=True)
            app.main.prompt_bar.write(f"/find {shown}")
            await pilot.press("enter")
            await until(pilot, lambda: "found" in app.main.prompt_bar.note.hint)
            look()
            await pilot.hover(app.main.strip, offset=(12, 1))
            await pilot.hover(app.main.bar, offset=(3, 1))
            assert not FOUL & set(str(app.main.bar.tooltip))
            app.main.prompt_bar.write(f"@{name[:4]}")
            await until(pilot, lambda: name in text_of(app))
            await app.action_command("sessions")
            await until(pilot, lambda: app.screen is not app.main)
            await until(pilot, lambda: text_of(app).count(f"Title {shown}") > 1)
            look()

"""A text over the page in every size: read, scrolled, copied, literal."""

from qiming_tui.tui.screens.text import TextScreen
from tests.tui.frames import Bench, Frame, Look, each_look

LINES = ["context  [b]not bold[/b] [/ [stage] x", *(f"row {n}" for n in range(80))]


class Reading(Bench):
    """Shows the text at once and hears what is copied."""

    def __init__(self) -> None:
        super().__init__(styles=("base", "context", "prompt", "dialogs"))

    async def on_mount(self) -> None:
        """Open it."""
        await self.push_screen(TextScreen("What fills the window", LINES))

    def on_text_copied(self, message: TextScreen.Copied) -> None:
        """Remember."""
        self.heard.append(message.text)


async def _readable(held: Frame, look: Look) -> None:
    text = held.text()
    assert "What fills the window" in text
    assert "[b]not bold[/b] [/ [stage] x" in text
    assert "y copy" in text


async def test_it_is_read_in_every_size_and_look_and_copied_whole() -> None:
    async def check(held: Frame, look: Look) -> None:
        await _readable(held, look)
        if look.size != (40, 12):
            return
        assert isinstance(held.app, Reading)
        held.app.heard.clear()
        await held.pilot.press("y")
        await held.settle()
        assert held.app.heard == ["\n".join(LINES)]
        await held.pilot.press("pagedown", "j")
        await held.settle()
        assert "context  [b]" not in held.text()
        await held.pilot.press("pageup", "k")
        await held.settle()

    await each_look(Reading, check, [Look(size=size) for size in ((120, 40), (80, 24), (40, 12))])

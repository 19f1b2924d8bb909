"""The approach of the limit in the whole screen: it is told once, offered and chosen by key."""

from qiming_tui.model import events as e
from qiming_tui.tui.app import QimingApp
from tests.session.harness import session
from tests.session.play import M, Play, real, words
from tests.tui.test_app import Given, text_of, until


class Listening(QimingApp):
    """Remembers its toasts."""

    def __init__(self, source):
        super().__init__(source)
        self.toasts: list[str] = []

    def notify(self, message, **more):
        self.toasts.append(f"{more.get('title', '')}: {message}")
        super().notify(message, **more)


async def test_the_limit_comes_near_and_is_announced_and_acted_on(tmp_path):
    model = Play(*(real(words(200, "reply")) for _ in range(3)))
    async with session(tmp_path, model, window=M(10_000), tools=False) as rig:
        app = Listening(Given(rig))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.session is not None)
            await rig.ask(words(5_000))
            await until(pilot, lambda: "measured at step 1" in text_of(app))
            assert app.toasts == []
            await pilot.press(*"/context", "enter")
            await until(pilot, lambda: "What fills the window" in text_of(app))
            assert "5,414 measured at step 1; our own sum ~5," in text_of(app)
            await pilot.press("escape")
            await rig.ask(words(1_500))
            await until(pilot, lambda: " near " in text_of(app).splitlines()[1])
            await rig.ask(words(1_200))
            await until(pilot, lambda: "^X c compact now  /compact with focus" in text_of(app))
            stages = [toast.split(":")[1][:24] for toast in app.toasts]
            assert stages == [" The window is near its ", " One more turn like the "]
            app.main.bar.focus()
            await until(pilot, lambda: "d defer once  a auto off" in text_of(app))
            await pilot.press("d")
            await until(pilot, lambda: app.session.turn.deferred and "defer once" not in text_of(app))
            await pilot.press("a")
            await until(pilot, lambda: "auto off" in text_of(app).splitlines()[1])
            await pilot.press("f")
            await until(pilot, lambda: app.main.prompt_bar.prompt.text == "/compact ")
            await pilot.press(*"keep it", "enter")
            await until(pilot, lambda: any(i.phase == "finished" for i in rig.of(e.CompactionEnded)))
            await until(pilot, lambda: "tokens before, ~" in app.toasts[-1])
            assert "1 compaction" in text_of(app)
            assert "auto off" not in text_of(app).splitlines()[1]

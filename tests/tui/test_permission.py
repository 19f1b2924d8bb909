"""The open question: what answers, what does not, what it says (`ux.md` 3.3)."""

import msgspec
import pytest

from qiming_tui.tui.asking import choices, price
from qiming_tui.tui.prompt_note import PromptStatus
from tests.tui.desk import QUESTION, Desk
from tests.tui.frames import Frame, Look, each_look


async def _open(app: Desk, pilot, *, question=QUESTION) -> None:
    """Ask, and let the question have its focus after the time it is deaf."""
    app.panel.ask(question)
    app.now_s += 10
    app.panel.wake()
    await pilot.pause()
    assert app.panel.has_focus


@pytest.mark.parametrize(
    ("keys", "reply"),
    [
        (["y"], "once"),
        (["1"], "once"),
        (["s"], "session"),
        (["2"], "session"),
        (["a", "enter"], "always"),
        (["3", "enter"], "always"),
        (["n"], "no"),
        (["4"], "no"),
        (["escape"], "no"),
        (["ctrl+y"], "once"),
        (["ctrl+n"], "no"),
    ],
)
async def test_keys_answer(keys: list[str], reply: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await _open(app, pilot)
        await pilot.press(*keys)
        await pilot.pause()
        assert app.told == [("answer", "per_1", reply, "")]
        assert not app.panel.display
        assert app.prompt.has_focus
        assert app.prompt.text == ""


async def test_always_needs_enter_and_esc_goes_back() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await _open(app, pilot)
        await pilot.press("a")
        await pilot.pause()
        assert not app.told
        await pilot.press("escape")
        await pilot.pause()
        assert not app.told
        assert app.panel.display
        await pilot.press("enter")
        await pilot.pause()
        assert not app.told


async def test_tab_refuses_with_a_reason_and_esc_goes_back() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await _open(app, pilot)
        await pilot.press("tab", *"yes", "escape")
        await pilot.pause()
        assert not app.told
        assert app.panel.has_focus
        await pilot.press("tab", *"use uv run", "enter")
        await pilot.pause()
        assert app.told == [("answer", "per_1", "no", "use uv run")]


async def test_f_opens_the_whole_of_it_and_nothing_in_it_is_markup() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await _open(app, pilot)
        assert "-old [b]line" not in Frame(app, pilot).text()
        await pilot.press("f")
        await pilot.pause()
        assert "-old [b]line" in Frame(app, pilot).text()
        assert "+new line" in Frame(app, pilot).text()
        await pilot.press("f")
        await pilot.pause()
        assert "-old [b]line" not in Frame(app, pilot).text()


async def test_a_long_detail_scrolls_and_the_keys_stay_visible() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        detail = "\n".join(f"+line {number}" for number in range(100))
        await _open(app, pilot, question=msgspec.structs.replace(QUESTION, detail=detail))
        await pilot.press("f", "down", "down", "down")
        await pilot.pause()
        text = Frame(app, pilot).text()
        assert "+line 3 " in text
        assert "+line 2 " not in text
        assert " once" in text
        assert app.panel.detail.scroll_offset.y == 3


async def test_for_400_ms_letters_go_on_into_the_draft() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press(*"ma")
        app.now_s = 100.0
        app.panel.ask(QUESTION)
        app.now_s += 0.39
        app.panel.wake()
        await pilot.press("y", "ctrl+y", "ctrl+n")
        await pilot.pause()
        assert not app.told
        assert app.prompt.text == "may"


async def test_while_the_draft_is_typed_only_the_chords_answer() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.panel.ask(QUESTION)
        app.now_s = 5.0
        await pilot.press("n")
        app.now_s += 0.9
        app.panel.wake()
        await pilot.press("y")
        await pilot.pause()
        assert not app.told
        assert app.prompt.text == "ny"
        assert "^Y" in Frame(app, pilot).text()
        await pilot.press("ctrl+y")
        await pilot.pause()
        assert app.told == [("answer", "per_1", "once", "")]
        assert app.prompt.text == "ny"


async def test_a_second_after_the_last_letter_the_keys_wake() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.panel.ask(QUESTION)
        app.now_s = 5.0
        await pilot.press("x")
        await pilot.pause()
        app.now_s += 1.1
        app.panel.wake()
        await pilot.press("y")
        await pilot.pause()
        assert app.told == [("answer", "per_1", "once", "")]
        assert app.prompt.text == "x"


async def test_a_letter_that_is_no_answer_belongs_to_the_draft() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await _open(app, pilot)
        await pilot.press(*"why not")
        await pilot.pause()
        assert not app.told
        assert app.prompt.text == "why not"
        assert app.prompt.has_focus
        assert app.panel.display


async def test_enter_alone_answers_nothing_and_sends_nothing() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.write("draft")
        await _open(app, pilot)
        await pilot.press("enter", "enter")
        await pilot.pause()
        assert not app.told
        assert app.prompt.text == "draft"


async def test_ctrl_y_is_redo_when_nothing_is_asked() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+z")
        assert app.prompt.text == ""
        await pilot.press("ctrl+y")
        await pilot.pause()
        assert app.prompt.text == "a"


async def test_questions_wait_in_line_and_each_has_its_deaf_time() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await _open(app, pilot)
        app.panel.ask(msgspec.structs.replace(QUESTION, request_id="per_2", command="git push"))
        await pilot.pause()
        assert "1 of 2" in Frame(app, pilot).text()
        await pilot.press("y", "y")
        await pilot.pause()
        assert app.told == [("answer", "per_1", "once", "")]
        assert "git push" in Frame(app, pilot).text()
        app.now_s += 10
        app.panel.wake()
        await pilot.press("y")
        await pilot.pause()
        assert app.told[1:] == [("answer", "per_2", "once", "")]


async def test_a_question_that_was_answered_elsewhere_goes() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await _open(app, pilot)
        app.panel.ask(msgspec.structs.replace(QUESTION, request_id="per_2"))
        app.panel.withdraw("per_2")
        app.panel.withdraw("per_1")
        await pilot.pause()
        assert not app.panel.display
        assert app.prompt.has_focus
        await pilot.press("y")
        await pilot.pause()
        assert app.prompt.text == "y"
        assert not app.told


async def test_without_a_rule_to_make_only_once_and_no_are_offered() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await _open(app, pilot, question=msgspec.structs.replace(QUESTION, always=""))
        await pilot.press("s", "a", "enter")
        await pilot.pause()
        assert not app.told
        assert "session" not in Frame(app, pilot).text()


async def test_the_question_takes_no_focus_under_a_dialog() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+x")
        await pilot.pause()
        app.panel.ask(QUESTION)
        app.now_s = 10.0
        app.panel.wake()
        await pilot.press("escape")
        await pilot.pause()
        assert not app.told
        assert app.panel.display


@pytest.mark.parametrize(("cap", "told"), [("once", "once"), ("this session", "session"), (" no", "no")])
async def test_every_cap_is_a_button(cap: str, told: str) -> None:
    app = Desk()
    async with app.run_test(size=(120, 40)) as pilot:
        await _open(app, pilot)
        row = app.panel.key_row
        text = Frame(app, pilot).lines()[row.region.y][row.region.x :]
        await pilot.click(row, offset=(text.index(cap) + 1, 0))
        await pilot.pause()
        assert app.told == [("answer", "per_1", told, "")]


async def test_always_by_mouse_asks_once_more() -> None:
    app = Desk()
    async with app.run_test(size=(120, 40)) as pilot:
        await _open(app, pilot)
        row = app.panel.key_row
        for word in ("always", "yes"):
            text = Frame(app, pilot).lines()[row.region.y][row.region.x :]
            assert not app.told
            await pilot.click(row, offset=(text.index(word), 0))
            await pilot.pause()
        assert app.told == [("answer", "per_1", "always", "")]


def test_the_price_line() -> None:
    def words(**changes: object) -> str:
        question = msgspec.structs.replace(QUESTION, **changes)
        return "".join(text for text, _ in price(question, arrow="->"))

    assert words() == "price ~2.1k tok, median of 9 runs -> 80%"
    assert words(samples=1) == "price ~2.1k tok, median of 1 run -> 80%"
    assert words(samples=0, lands_percent=None) == "price ~2.1k tok"
    assert words(price_tokens=None) == ""


def test_each_choice_has_its_key_and_its_words() -> None:
    assert [(one.key, one.reply) for one in choices(QUESTION, typing=False)] == [
        ("y", "once"),
        ("s", "session"),
        ("a", "always"),
        ("n", "no"),
        ("tab", "reason"),
    ]
    assert [one.key for one in choices(QUESTION, typing=True)] == ["^Y", "^N"]


async def _says_what_matters(held: Frame, look: Look) -> None:
    app = held.app
    assert isinstance(app, Desk)
    zh = {"command": "rm -rf 临时文件/缓存 && pytest", "folder": "~/项目/重试"} if look.zh else {}
    app.bar.show(PromptStatus(busy=True, doing="waiting for permission", waiting=True, elapsed_s=4))
    await _open(app, held.pilot, question=msgspec.structs.replace(QUESTION, **zh))
    await held.settle()
    lines = [line.rstrip() for line in held.lines()]
    top = app.panel.region.y
    assert f"{look.glyph_set.edge} Allow bash?" in lines[top]
    assert "rm -rf" in lines[top]
    assert "~2.1k tok" in lines[top] + lines[top + 1]
    rows = app.panel.key_row.region
    keys_row = "".join(f"{line} " for line in lines[rows.y : rows.bottom])
    for word in (" y ", " n ", "once", "no"):
        assert word in keys_row
    if look.size[0] >= 80:
        assert "asks because  rm deletes files; no rule matches" in lines[top + 1]
    assert "waiting for permission" in held.text()
    assert all(len(line) <= look.size[0] for line in lines)


async def test_the_question_says_what_matters_in_every_look() -> None:
    await each_look(Desk, _says_what_matters)


async def test_the_line_under_the_prompt_counts_the_seconds_of_what_is_being_done() -> None:
    now = [100.0]
    app = Desk(clock_s=lambda: now[0])
    async with app.run_test(size=(80, 24)) as pilot:
        app.bar.show(PromptStatus(busy=True, doing="running bash"))
        now[0] += 4.9
        app.bar.note.refresh()
        await pilot.pause()
        assert "running bash 4 s" in Frame(app, pilot).text()
        app.bar.show(PromptStatus(busy=True, doing="waiting for the model"))
        await pilot.pause()
        assert "waiting for the model\n" in Frame(app, pilot).text()
        assert "model 4 s" not in Frame(app, pilot).text()

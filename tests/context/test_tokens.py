"""Estimates and the tally of exact counts: conformance 2.5, cases C-084."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.context.tokens import (
    CL100K,
    O200K,
    Tally,
    digest_of,
    encoding_for,
    estimate,
    estimate_units,
    script_estimate,
    utf16_units,
)
from qiming_tui.model.limits import ModelRef
from qiming_tui.model.parts import StoredOutput


@pytest.mark.parametrize(("text", "tokens"), [("x" * 4000, 1000), ("y" * 20000, 5000), ("", 0)])
def test_facts_47_48_49_estimate_is_a_quarter(text, tokens):
    assert estimate(text) == tokens


@pytest.mark.parametrize(("length", "tokens"), [(1, 0), (2, 1), (5, 1), (6, 2), (9, 2), (10, 3)])
def test_estimate_rounds_halves_up(length, tokens):
    assert estimate("a" * length) == tokens == estimate_units(length)


def test_c_084_astral_characters_count_two_units_each():
    assert utf16_units("😀🎉🚀") == 6
    assert estimate("😀🎉🚀") == 2


def test_units_of_a_lone_surrogate_and_of_chinese():
    assert utf16_units("a\ud800b") == 3
    assert utf16_units("你好") == 2


@given(st.text())
def test_units_are_what_utf16_holds(text):
    assert utf16_units(text) == sum(2 if ord(char) > 0xFFFF else 1 for char in text)


@pytest.mark.parametrize(
    ("text", "encoding", "exact"),
    [
        # Counted with tiktoken 0.14.
        ("你好世界" * 25, O200K, 50),
        ("你好世界" * 25, CL100K, 125),
        ("上下文窗口的压缩机制会在令牌数量超过可用上限时触发，然后生成摘要并继续对话。", CL100K, 45),
        ("오늘은 날씨가 매우 좋습니다. 프로그램은 자동으로 요약을 만들고 대화를 계속합니다.", O200K, 23),
        ("Сегодня очень хорошая погода, и мы вместе идём в парк.", O200K, 15),
        ("The program prunes old tool results first and then asks the model for a summary.", O200K, 17),
    ],
)
def test_c_084_the_guess_follows_the_script(text, encoding, exact):
    guess = script_estimate(text, encoding=encoding)
    assert exact / 1.6 <= guess <= exact * 1.6


def test_c_084_the_guess_is_nearer_than_a_quarter_for_chinese():
    text = "今天天气很好，我们一起去公园散步吧。" * 20
    exact = 260  # o200k_base: 13 a sentence
    assert abs(script_estimate(text) - exact) < abs(estimate(text) - exact)


def test_a_long_text_is_guessed_like_its_pieces():
    text = "今天天气很好, 我们一起去 the park 散步吧。"
    assert script_estimate(text * 1000) == pytest.approx(1000 * script_estimate(text), rel=0.1)


@given(st.text(), st.sampled_from([O200K, CL100K]))
def test_the_guess_is_zero_only_for_nothing(text, encoding):
    assert (script_estimate(text, encoding=encoding) == 0) == (text == "")


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("openai/gpt-4o-mini", O200K),
        ("openai/gpt-4.1", O200K),
        ("openai/gpt-4.5-preview", O200K),
        ("openai/gpt-5", O200K),
        ("openai/o3", O200K),
        ("scripted/scripted", O200K),
        ("openai/gpt-4-turbo", CL100K),
        ("openai/gpt-4", CL100K),
        ("openai/gpt-3.5-turbo", CL100K),
        ("openrouter/anthropic/claude-sonnet-4.5", CL100K),
        ("local/smollm2", CL100K),
    ],
)
def test_encoding_by_family(model, encoding):
    assert encoding_for(ModelRef.parse(model)) == encoding


def test_tally_asks_once_for_what_it_does_not_know():
    tally = Tally()
    guess = tally.tokens("some words here")
    assert tally.tokens("some words here") == guess > 0
    assert not tally.exact
    assert list(tally.missing.values()) == ["some words here"]

    tally.learn(["some words here"], [3])
    assert tally.exact
    assert tally.missing == {}
    assert tally.tokens("some words here") == tally.raw("some words here") == 3


def test_tally_counts_nothing_for_nothing():
    tally = Tally()
    assert tally.tokens("") == 0
    assert tally.exact


def test_tally_knows_a_text_that_was_learnt_before_it_was_asked_for():
    tally = Tally()
    tally.learn(["a b c"], [3])
    assert tally.raw("".join(["a b", " c"])) == 3
    assert tally.exact


@pytest.mark.parametrize(
    ("raw", "factor", "tokens"), [(10, 1.25, 13), (2, 1.25, 3), (10, 1.24, 12), (100, 0.985, 99), (7, 1.0, 7)]
)
def test_tally_calibrates_half_up(raw, factor, tokens):
    tally = Tally(calibration=factor)
    tally.learn(["t"], [raw])
    assert tally.tokens("t") == tokens
    assert tally.raw("t") == raw


def test_tally_follows_a_calibration_that_is_learnt_later():
    tally = Tally()
    tally.learn(["t"], [100])
    tally.calibration = 1.3
    assert tally.tokens("t") == 130


def test_tally_refuses_answers_that_do_not_match():
    with pytest.raises(ValueError, match="zip"):
        Tally().learn(["a", "b"], [1])


def test_tally_of_a_result_in_the_store_is_exact_once_it_was_counted():
    tally = Tally(calibration=2.0)
    words = "a result that was cleared"
    stored = StoredOutput(bytes=len(words), units=len(words), sha256=digest_of(words))
    assert tally.stored(stored) == 2 * estimate(words)
    assert tally.exact, "nothing that is sent depends on it"
    tally.learn([words], [5])
    assert tally.stored(stored) == 10

"""Rules: the last match wins, a project only narrows, an answer lifts no deny (cases C-132, C-133, C-139)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiming_tui.model.errors import InputError
from qiming_tui.tools.base import OUTSIDE, Need
from qiming_tui.tools.permissions import (
    DEFAULT_RULES,
    Action,
    Rule,
    RuleOrigin,
    decide,
    escape,
    judge,
    matches,
    parse_rule,
    refusal,
    why_asked,
)

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY


def rule(text, action=ALLOW, origin=RuleOrigin.USER):
    return parse_rule(text, action, origin)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("*", "", True),
        ("git *", "git diff", True),
        ("git *", "git", True),
        ("git *", "gitk", False),
        ("git diff *", "git diff -- a\nb", True),
        ("src/*.py", "src/a/b.py", True),
        ("a?c", "abc", True),
        ("a.c", "abc", False),
        (r"cat \*.txt", "cat *.txt", True),
        (r"cat \*.txt", "cat a.txt", False),
        ("[ab]", "a", False),
    ],
)
def test_patterns(pattern, text, fits):
    assert matches(pattern, text) is fits


@given(st.text(alphabet="ab*?\\ /.[]\n"))
def test_an_escaped_text_matches_itself(text):
    assert matches(escape(text), text)


@given(st.text(alphabet="ab*?\\", min_size=1), st.text(alphabet="ab*?\\"))
def test_an_escaped_text_matches_nothing_else(text, other):
    assert matches(escape(text), other) is (text == other)


def test_the_last_rule_that_matches_decides():
    rules = (rule("bash:*", ASK), rule("bash:git *"), rule("bash:git push *", DENY))
    assert decide(rules, [Need("bash", "git log")]) is ALLOW
    assert decide(rules, [Need("bash", "git push origin")]) is DENY
    assert decide(rules, [Need("bash", "ls")]) is ASK


def test_the_strictest_need_decides_and_no_rule_means_ask():
    rules = (rule("bash:git *"),)
    assert decide(rules, [Need("bash", "git log"), Need("bash", "rm -rf x")]) is ASK
    assert decide((), [Need("read", "a")]) is ASK
    rules += (rule("bash:rm *", DENY),)
    assert decide(rules, [Need("bash", "git log"), Need("bash", "rm -rf x")]) is DENY


def test_c_133_nothing_understood_is_not_allowed():
    assert decide((rule("bash:git *"),), []) is ASK
    assert decide((rule("bash:git *"),), [Need("bash", "git log $(x)", True)]) is ASK
    assert decide((rule("bash"),), [Need("bash", "git log $(x)", True)]) is ALLOW
    same = rule("bash:" + escape("ls *.py > out"))
    assert decide((same,), [Need("bash", "ls *.py > out", True)]) is ALLOW
    assert decide((same,), [Need("bash", "ls a.py > out", True)]) is ASK


@pytest.mark.parametrize(
    ("need", "action"),
    [
        (Need("read", "src/a.py"), ALLOW),
        (Need("list", "."), ALLOW),
        (Need("glob", "."), ALLOW),
        (Need("grep", "."), ALLOW),
        (Need("read", ".env"), ASK),
        (Need("read", "deep/.env.local"), ASK),
        (Need("read", "prod.env"), ASK),
        (Need("read", "deep/.env.example"), ALLOW),
        (Need("read", ".env.example"), ALLOW),
        (Need("edit", "a"), ASK),
        (Need("write", "a"), ASK),
        (Need("bash", "ls"), ASK),
        (Need(OUTSIDE, "/etc/passwd"), ASK),
        (Need("something_new", "x"), ASK),
    ],
)
def test_the_defaults(need, action):
    assert decide(DEFAULT_RULES, [need]) is action


def test_c_132_a_wide_rule_does_not_reach_outside():
    needs = [Need("bash", "cat /etc/passwd"), Need(OUTSIDE, "/etc/passwd")]
    assert decide((*DEFAULT_RULES, rule("bash")), needs) is ASK
    assert decide((*DEFAULT_RULES, rule("bash"), rule(f"{OUTSIDE}:/etc/*")), needs) is ALLOW


def test_a_rule_for_edit_is_one_for_write():
    assert decide((rule("edit"),), [Need("write", "a")]) is ALLOW
    assert decide((rule("edit:a", DENY),), [Need("write", "a")]) is DENY
    assert decide((rule("write"),), [Need("edit", "a")]) is ASK


def test_c_139_a_project_narrows_and_never_widens():
    project = RuleOrigin.PROJECT
    need = [Need("bash", "make")]
    assert decide((rule("bash", ASK), rule("*", ALLOW, project)), need) is ASK
    assert decide((rule("bash", DENY), rule("bash:make", ALLOW, project)), need) is DENY
    assert decide((rule("bash", ALLOW), rule("bash:make", ASK, project)), need) is ASK
    assert decide((rule("bash", ALLOW), rule("bash:make", DENY, project)), need) is DENY


@pytest.mark.parametrize("origin", [RuleOrigin.ALWAYS, RuleOrigin.SESSION])
def test_an_answer_turns_an_ask_into_an_allow_and_lifts_no_deny(origin):
    need = [Need("edit", "a")]
    answer = rule("edit", ALLOW, origin)
    assert decide((rule("edit", ASK), answer), need) is ALLOW
    assert decide((rule("edit", DENY), answer), need) is DENY
    assert decide((rule("edit"), rule("edit", DENY, RuleOrigin.PROJECT), answer), need) is DENY
    assert decide((rule("edit"), rule("edit", ASK, RuleOrigin.PROJECT), answer), need) is ALLOW
    assert decide((rule("edit"), rule("edit:a", DENY, origin)), need) is DENY


def test_a_flag_is_the_persons_own_word():
    need = [Need("bash", "git log")]
    assert decide((rule("bash", DENY), rule("bash:git *", ALLOW, RuleOrigin.FLAG)), need) is ALLOW


def test_a_rule_that_nobody_owns_is_the_weakest():
    made = parse_rule("bash")
    assert made.origin is RuleOrigin.SESSION
    assert Rule("bash", "*", ALLOW).origin is RuleOrigin.SESSION
    assert decide((rule("bash", DENY), made), [Need("bash", "ls")]) is DENY


@pytest.mark.parametrize(
    ("text", "permission", "pattern"),
    [
        ("bash:git *", "bash", "git *"),
        ("edit", "edit", "*"),
        ("*", "*", "*"),
        ("read:a:b", "read", "a:b"),
        ("bash:", "bash", "*"),
    ],
)
def test_parse_rule(text, permission, pattern):
    made = parse_rule(text)
    assert (made.permission, made.pattern) == (permission, pattern)


@pytest.mark.parametrize("text", ["", ":x", "git status", "  "])
def test_parse_rule_says_what_is_wrong(text):
    with pytest.raises(InputError, match="not a rule"):
        parse_rule(text)


def test_a_refusal_names_the_rule_that_would_help():
    judgement = judge(DEFAULT_RULES, [Need("bash", "git log")])
    assert refusal(judgement) == (
        'bash: git log needs permission and nobody can be asked; --allow "bash:git log" allows it'
    )
    denied = judge((rule("bash", DENY),), [Need("bash", "git log")])
    assert denied.rule == rule("bash", DENY)
    assert refusal(denied) == "a rule denies bash: git log"


@pytest.mark.parametrize(
    ("rules", "need", "words"),
    [
        ((), Need("bash", "rm -rf x"), "no rule matches rm -rf x"),
        ((), Need("edit", "src/a.py"), "no rule matches edit: src/a.py"),
        ((), Need("bash", "$(x)", opaque=True), "it cannot be judged in full; no rule matches"),
        ((), Need(OUTSIDE, "/etc/hosts"), "it reaches outside the project (/etc/hosts); no rule matches"),
        ((), Need("read", "a/.env"), "read: a/.env may hold secrets"),
        ((rule("bash:git *", ASK),), Need("bash", "git push"), "your rule asks for bash:git *"),
        (
            (rule("bash:git *"), rule("bash:git *", ASK, RuleOrigin.PROJECT)),
            Need("bash", "git push"),
            "the project's file asks for bash:git *",
        ),
    ],
)
def test_the_person_is_told_why_it_asks(rules, need, words):
    judged = judge((*DEFAULT_RULES, *rules), [need])
    assert judged.action is ASK
    assert why_asked(judged) == words

"""Keys are hidden: the environment's values, what looks like a key, and across pieces of a line."""

import os

from qiming_tui.provider.redact import RedactedLog, Redactor

ENV = {
    "OPENAI_API_KEY": "my-odd-value-1",
    "GH_TOKEN": "my-odd-value-12",
    "HOME": "/home/me",
    "X_KEY": "short",
}


def test_values_of_secret_variables_are_hidden_longest_first():
    redact = Redactor(ENV)
    assert redact("a my-odd-value-12 b my-odd-value-1 c /home/me short") == "a *** b *** c /home/me short"
    redact.add("another-value")
    assert redact("x another-value") == "x ***"


def test_what_looks_like_a_key_is_hidden():
    redact = Redactor({})
    assert redact("Authorization: Bearer abcdef.123456") == "Authorization: Bearer ***"
    assert redact("GET https://h/x?key=AIzaSyA0123456789012345678 no") == "GET https://h/x?key=*** no"
    assert redact("'x-api-key': 'abcdefgh'") == "'x-api-key': '***'"
    assert redact("provided: sk-proj-abcDEF_123.") == "provided: ***."
    assert redact("a monkey-based task") == "a monkey-based task"


def test_the_log_hides_a_secret_that_is_written_in_pieces(tmp_path):
    path = tmp_path / "log"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    log = RedactedLog(descriptor, Redactor(ENV))
    for piece in ("one my-odd-", "value-1 two\nthree", " four", "\n"):
        log.write(piece)
    os.close(descriptor)
    assert path.read_text() == "one *** two\nthree four\n"

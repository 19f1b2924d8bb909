"""Run a command line in this process: exit code, stdout, stderr."""

import contextlib
import io
import json
from typing import Any, NamedTuple

from qiming_tui.cli.main import run


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on stdout; the command must have succeeded."""
        assert self.code == 0, self.err
        return json.loads(self.out)


def call(*args: str) -> Result:
    """`qiming ARGS`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(args)
    return Result(code, out.getvalue(), err.getvalue())

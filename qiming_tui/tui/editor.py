"""The user's own editor for a draft: a private file, the program named by VISUAL or EDITOR."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from qiming_tui.model.errors import InputError
from qiming_tui.model.sanitize import clean

_USUAL: Final = ("nano", "vim", "vi")


def command(env: Mapping[str, str]) -> list[str]:
    """The editor's command line. Raises InputError when there is none."""
    given = env.get("VISUAL") or env.get("EDITOR")
    if given:
        return shlex.split(given)
    for name in _USUAL:
        if shutil.which(name, path=env.get("PATH")):
            return [name]
    raise InputError("no editor was found", "set EDITOR to the one you use")


def edit(text: str, env: Mapping[str, str]) -> str:
    """The text as the user left it; blocks until the editor ends. Raises InputError when it fails.

    The terminal must be the editor's meanwhile.
    """
    with tempfile.TemporaryDirectory(prefix="qiming-") as folder:
        path = Path(folder) / "draft.md"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        try:
            argv = [*command(env), str(path)]
            code = subprocess.run(argv, check=False, env=dict(env)).returncode
            if code != 0:
                raise InputError(f"the editor ended with {code}", "the draft is as it was")
            written = path.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError) as error:
            raise InputError(f"the editor could not be used: {error}", "the draft is as it was") from error
    return clean(written)[0].removesuffix("\n")

"""The process that searches: a regular expression from outside may take for ever, and this can be killed.

Run as `python -m`; argument 1 is a JSON object {root, top, pattern, include, limit}. Writes one JSON object a
line: {"path", "line", "text"} for a match, at last {"done": true, "more", "secrets", "files"} or {"error"}.
"""

import json
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from qiming_tui.tools.lines import is_binary, shown
from qiming_tui.tools.paths import is_secret
from qiming_tui.tools.walk import glob_spec, walk

MAX_FILE_BYTES: Final = 32 * 1024 * 1024


def _files(root: Path, top: Path, include: str | None) -> list[Path]:
    """The files to search, newest first."""
    if not root.is_dir():
        return [root]
    spec = glob_spec(include) if include else None
    found = []
    for name in walk(root, threading.Event(), top=top):
        if spec is None or spec.match_file(name):
            path = root / name
            try:
                found.append((-path.stat().st_mtime_ns, path))
            except OSError:
                continue
    return [path for _, path in sorted(found)]


def _matches(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return
        data = path.read_bytes()
    except OSError:
        return
    if is_binary(data[:4096]):
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        text = line.decode("utf-8", "replace").rstrip("\r")
        if pattern.search(text):
            yield number, shown(line)


def main() -> int:
    """Search; 0 also when nothing is found."""
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    root, limit = Path(wanted["root"]), int(wanted["limit"])
    warnings.simplefilter("ignore")
    try:
        pattern = re.compile(wanted["pattern"])
        listed = _files(root, Path(wanted["top"]), wanted["include"])
    except (re.error, ValueError, RecursionError, OverflowError) as error:
        print(json.dumps({"error": f"not a usable pattern: {error}"}), flush=True)
        return 0
    count = secrets = files = 0
    named = not root.is_dir()
    for path in listed:
        if is_secret(path) and not named:
            secrets += 1
            continue
        files += 1
        for number, text in _matches(path, pattern):
            count += 1
            if count > limit:
                break
            print(json.dumps({"path": str(path), "line": number, "text": text}), flush=True)
        if count > limit:
            break
    print(json.dumps({"done": True, "more": count > limit, "secrets": secrets, "files": files}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

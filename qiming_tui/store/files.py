"""The files around a database: private, on a disk that can share memory, marked when damage was seen."""

import os
import sys
from contextlib import suppress
from pathlib import Path

SUFFIXES = ("", "-wal", "-shm", "-journal")
_NETWORK = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "afs",
    "ceph",
    "gluster",
    "lustre",
    "drvfs",
    "vboxsf",
    "fuse.",
    "fakeowner",
)
_MOUNTS = Path("/proc/self/mountinfo")


def make_private(path: Path) -> None:
    """Create what is missing of the folder (0700) and the file (0600); close an existing file to others.

    SQLite gives its -wal and -shm files the mode of the database file (cases C-113).
    """
    missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    for suffix in SUFFIXES:
        _close_to_others(beside(path, suffix))


def _close_to_others(path: Path) -> None:
    if os.name != "posix" or not path.exists():
        return
    info = path.stat()
    if info.st_mode & 0o077 and info.st_uid == os.geteuid():
        path.chmod(0o600)


def beside(path: Path, suffix: str) -> Path:
    """The file of the same name with `suffix` after it."""
    return path.with_name(path.name + suffix)


def network_type(path: Path, mounts: str | None = None) -> str | None:
    """The type of the network file system that `path` lies on, None for a local disk or where it is unknown.

    Shared memory, and with it the write-ahead log, does not work there (cases C-104). `mounts` is the text
    of `/proc/self/mountinfo`.
    """
    if mounts is None:
        if not sys.platform.startswith("linux") or not _MOUNTS.exists():
            return None
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace")
    best, kind = "", ""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields, types = left.split(), right.split()
        if len(fields) < 5 or not types:
            continue
        point = fields[4].replace("\\040", " ")
        if path.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, types[0]
    return kind if kind.startswith(_NETWORK) else None


def suspect(path: Path) -> bool:
    """Whether an earlier run saw damage in the file."""
    return beside(path, ".suspect").exists()


def mark_suspect(path: Path, on: bool = True) -> None:
    """Leave or take away the mark that makes the next start check the file. Where that cannot be done (a
    full disk, a folder that is not ours) the damage itself is what the caller reports."""
    mark = beside(path, ".suspect")
    with suppress(OSError):
        if on:
            os.close(os.open(mark, os.O_CREAT | os.O_WRONLY, 0o600))
        else:
            mark.unlink(missing_ok=True)


def left_open(path: Path) -> bool:
    """Whether a write-ahead log lies beside the file: in use elsewhere, or not closed cleanly."""
    log = beside(path, "-wal")
    return log.exists() and log.stat().st_size > 0

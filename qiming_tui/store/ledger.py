"""Manifests as differences: the common prefix with an earlier request, then the rest (`data.md` 2).

A window of some hundred items that grows by a few is stored as those few. Tokens may change everywhere at
once when the calibration learns: where only they differ, the differences are stored, mostly small numbers.
Every so often the whole manifest is stored, so that reading one never follows more than `CHAIN` rows.
"""

import zlib
from collections.abc import Sequence

import msgspec

from qiming_tui.model.ledger import ManifestRow, RequestRow

CHAIN = 48
"""Longest chain of differences before the whole manifest is stored again."""

Manifest = tuple[ManifestRow, ...]

_ROWS = msgspec.json.Decoder(Manifest)
_SHIFT = msgspec.json.Decoder(list[int])
_DATA = msgspec.json.Decoder(RequestRow)


class Base(msgspec.Struct, frozen=True):
    """An earlier request of the session that a manifest may be compared with."""

    id: str
    depth: int
    manifest: Manifest


class Packed(msgspec.Struct, frozen=True):
    """What is stored of a manifest."""

    base: str | None
    depth: int
    prefix: int
    rows: bytes
    shift: bytes | None
    new: tuple[str, ...]
    """Hashes of the blobs of `rows`."""


def pack(manifest: Manifest, bases: Sequence[Base]) -> Packed:
    """The shortest form of `manifest`: a difference to one of `bases`, or all of it."""
    best: Base | None = None
    prefix = 0
    for base in bases:
        common = _common(base.manifest, manifest) if base.depth + 1 < CHAIN else 0
        if common > prefix:
            best, prefix = base, common
    rest = manifest[prefix:]
    return Packed(
        base=best.id if best else None,
        depth=best.depth + 1 if best else 0,
        prefix=prefix,
        rows=zlib.compress(msgspec.json.encode(rest)),
        shift=_shift(best.manifest, manifest, prefix) if best else None,
        new=tuple(dict.fromkeys(row.blob for row in rest)),
    )


def _common(old: Manifest, new: Manifest) -> int:
    count = 0
    for before, after in zip(old, new, strict=False):
        if before is not after and before != after and _with_tokens(before, after.tokens) != after:
            break
        count += 1
    return count


def _with_tokens(row: ManifestRow, tokens: int) -> ManifestRow:
    return msgspec.structs.replace(row, tokens=tokens)


def _shift(old: Manifest, new: Manifest, prefix: int) -> bytes | None:
    steps = [after.tokens - before.tokens for before, after in zip(old[:prefix], new[:prefix], strict=True)]
    return zlib.compress(msgspec.json.encode(steps)) if any(steps) else None


def unpack(base: Manifest, *, prefix: int, rows: bytes, shift: bytes | None) -> Manifest:
    """The manifest that was packed; `base` is the manifest of the request it refers to."""
    start = base[:prefix]
    if shift is not None:
        steps = _SHIFT.decode(zlib.decompress(shift))
        start = tuple(
            _with_tokens(row, row.tokens + step) if step else row
            for row, step in zip(start, steps, strict=True)
        )
    return start + _ROWS.decode(zlib.decompress(rows))


def request_data(row: RequestRow) -> bytes:
    """Everything of a ledger row but its manifest."""
    return zlib.compress(msgspec.json.encode(msgspec.structs.replace(row, manifest=())))


def request_of(data: bytes, manifest: Manifest) -> RequestRow:
    """The ledger row of its two stored halves."""
    return msgspec.structs.replace(_DATA.decode(zlib.decompress(data)), manifest=manifest)


def squeeze(value: bytes) -> tuple[str, bytes]:
    """A blob's codec and stored bytes."""
    packed = zlib.compress(value)
    return ("zlib", packed) if len(packed) < len(value) else ("raw", value)


def expand(codec: str, data: bytes) -> bytes:
    """The bytes that `squeeze` was given."""
    return zlib.decompress(data) if codec == "zlib" else bytes(data)

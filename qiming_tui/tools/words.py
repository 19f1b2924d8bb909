"""What a word of a shell command stands for, as far as that is certain without running it.

`None` is the answer for everything else: substitutions, unknown variables, brace lists, `$'...'`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tree_sitter import Node

_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")


@dataclass(frozen=True)
class Word:
    """A word with its quotes removed; `glob`: it holds unquoted wildcards."""

    text: str
    glob: bool = False


def source(node: Node) -> str:
    """The text of a node as it was written."""
    return (node.text or b"").decode("utf-8", "replace")


def resolve(node: Node, variables: Mapping[str, str]) -> Word | None:
    """The value of a word; `variables` are those whose values are certain."""
    match node.type:
        case "word" | "number" | "variable_name" | "test_operator":
            text = source(node)
            if _BRACES.search(text):
                return None
            bare = re.sub(r"\\(.)", "", text, flags=re.DOTALL)
            return Word(
                re.sub(r"\\(\n?)(.?)", _unescaped, text, flags=re.DOTALL), bool(re.search(r"[*?[]", bare))
            )
        case "raw_string":
            return Word(source(node)[1:-1])
        case "command_name" if node.child_count == 1:
            return resolve(node.children[0], variables)
        case "simple_expansion" | "expansion":
            value = _variable(node, variables)
            return Word(value) if value is not None and not re.search(r"[\s*?[]", value) else None
        case "string":
            return _string(node, variables)
        case "concatenation":
            return _concatenation(node, variables)
        case _:
            return None


def _unescaped(found: re.Match[str]) -> str:
    return found[2] if found[1] else found[0][1:]


def _variable(node: Node, variables: Mapping[str, str]) -> str | None:
    name = re.fullmatch(r"\$\{?([A-Za-z_]\w*)\}?", source(node))
    return variables.get(name[1]) if name else None


def _string(node: Node, variables: Mapping[str, str]) -> Word | None:
    """A double-quoted string. The parser leaves blanks between its children out: they are put back."""
    data, out, at = node.text or b"", "", 1
    for child in node.children[1:-1]:
        start, end = child.start_byte - node.start_byte, child.end_byte - node.start_byte
        out += data[at:start].decode("utf-8", "replace")
        at = end
        if child.type in ("simple_expansion", "expansion"):
            value = _variable(child, variables)
            if value is None:
                return None
            out += value
        elif child.type == "string_content":
            out += re.sub(r'\\([$`"\\])', r"\1", source(child)).replace("\\\n", "")
        else:
            return None
    return Word(out + data[at:-1].decode("utf-8", "replace"))


def _concatenation(node: Node, variables: Mapping[str, str]) -> Word | None:
    if _BRACES.search(source(node)):
        return None
    words = [resolve(child, variables) for child in node.children]
    known = [word for word in words if word is not None]
    if len(known) < len(words):
        return None
    return Word("".join(word.text for word in known), any(word.glob for word in known))

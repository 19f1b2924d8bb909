"""The package's source as the structural tests see it: modules, their imports, and where those stand."""

import ast
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "qiming_tui"


@dataclass(frozen=True)
class Import:
    """One import statement: the module it names (dotted, absolute) and where it is."""

    source: str
    target: str
    line: int
    function: str
    """Dotted name of the function it stands in; empty at the top of a module."""
    typing_only: bool
    """Under `if TYPE_CHECKING:`."""


def module_name(path: Path) -> str:
    """`qiming_tui.model.parts` of its file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def files() -> list[Path]:
    """Every Python file of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def tree(path: Path) -> ast.Module:
    """The parsed file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


class _Walker(ast.NodeVisitor):
    def __init__(self, source: str, package: str) -> None:
        self.source, self.package = source, package
        self.found: list[Import] = []
        self.scope: list[str] = []
        self.functions = 0
        self.typing = 0

    def _add(self, target: str, line: int) -> None:
        function = ".".join(self.scope) if self.functions else ""
        self.found.append(Import(self.source, target, line, function, self.typing > 0))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            parents = self.package.split(".")
            base = ".".join(parents[: len(parents) - node.level + 1] + ([base] if base else []))
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            is_module = (ROOT / Path(*inner.split("."))).with_suffix(".py").exists()
            is_package = (ROOT / Path(*inner.split(".")) / "__init__.py").exists()
            self._add(inner if is_module or is_package else base, node.lineno)

    def visit_If(self, node: ast.If) -> None:
        typing = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        self.typing += typing
        for child in node.body:
            self.visit(child)
        self.typing -= typing
        for child in node.orelse:
            self.visit(child)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.scope.append(node.name)
        self.functions += 1
        self.generic_visit(node)
        self.functions -= 1
        self.scope.pop()

    visit_AsyncFunctionDef = visit_FunctionDef


def imports_of(path: Path) -> list[Import]:
    """Every import of one file, in-function ones included."""
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    walker = _Walker(name, package)
    walker.visit(tree(path))
    return walker.found


def all_imports() -> list[Import]:
    """Every import of the package."""
    return [item for path in files() for item in imports_of(path)]

"""The shape of the repository: parts, links and the direction of imports."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = ["lsp", "infill", "engine", "grammars", "batch", "bench"]
# What each part may import of the others; cli.py, the composition root, imports all.
ALLOWED = {
    "grammars": set(),
    "infill": {"grammars"},
    "engine": {"infill"},
    "lsp": {"engine", "infill", "grammars"},
    "batch": {"engine", "infill", "grammars"},
    "bench": {"lsp", "engine", "infill", "grammars"},
}
HOMES = {
    "pygls": {"lsp"},
    "lsprotocol": {"lsp"},
    "torch": {"engine"},
    "transformers": {"engine"},
    "tree_sitter": {"infill"},
    "ast_grep_py": {"batch"},
}


def sources(part: str) -> Iterator[Path]:
    for path in sorted((ROOT / part).rglob("*.py")):
        if not {"recipes", "peers"} & set(path.relative_to(ROOT).parts):
            yield path


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module == "niello":
                yield from (f"niello.{alias.name}" for alias in node.names)
            else:
                yield node.module


def violations() -> Iterator[str]:
    for part in PARTS:
        for path in sources(part):
            name = path.relative_to(ROOT)
            for module in imported(path):
                top, _, rest = module.partition(".")
                if top in PARTS:
                    yield f"{name}: write niello.{module}"
                if top in HOMES and part not in HOMES[top]:
                    yield f"{name}: {top} belongs to {', '.join(HOMES[top])}/"
                if top == "niello":
                    other = rest.partition(".")[0]
                    if other != part and other in PARTS and other not in ALLOWED[part]:
                        yield f"{name}: {part} may not import {module}"


def test_imports_go_one_way() -> None:
    assert list(violations()) == []


def test_every_part_is_packaged_and_linked() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    packages = tool["setuptools"]["packages"]
    found = {
        "niello." + ".".join(path.parent.relative_to(ROOT).parts)
        for part in PARTS
        for path in (ROOT / part).rglob("__init__.py")
        if not {"recipes", "peers"} & set(path.relative_to(ROOT).parts)
    }
    assert set(packages) == found | {"niello"}
    for part in PARTS:
        link = ROOT / "src" / "niello" / part
        assert link.is_symlink()
        assert link.resolve() == ROOT / part

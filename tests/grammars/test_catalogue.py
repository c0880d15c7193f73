from pathlib import Path

import pytest

from niello.grammars.catalogue import (
    Language,
    all_languages,
    find_language,
    language_of,
    query_text,
)
from niello.infill.lexis import tokens
from niello.infill.parse import parse
from niello.infill.query import check_query

PURPOSES = ("spans", "context", "textobjects")


@pytest.mark.parametrize("language", all_languages(), ids=lambda each: each.name)
def test_each_language_has_queries_that_fit_its_grammar(language: Language) -> None:
    for purpose in PURPOSES:
        source = query_text(language, purpose)
        assert source.strip() or purpose == "context"
        check_query(language.name, source)
    check_query(language.name, query_text(language, "injections") or "(_) @a")
    assert parse("", language.name).tree is not None
    assert list(tokens("a\n", language))


def test_languages_are_found_by_any_of_their_names() -> None:
    assert language_of(Path("a/b.TSX")) == "tsx"
    found = [find_language(name) for name in ("shellscript", "C++", "c#", "py")]
    names = [language.name for language in found if language]
    assert names == ["bash", "cpp", "csharp", "python"]
    assert language_of(Path("a.zig")) == "zig"
    assert find_language("zig") is None


def test_a_users_folder_adds_and_overrides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "languages.toml").write_text(
        '[starlark]\ninherits = "python"\nextensions = ["bzl"]\n'
        '[python]\nindent = "  "\n'
    )
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "spans.scm").write_text("(module) @block\n")
    monkeypatch.setenv("NIELLO_GRAMMARS", str(tmp_path))
    python, starlark = find_language("python"), find_language("starlark")
    assert python and starlark
    assert language_of(Path("BUILD.bzl")) == "starlark"
    assert parse("x = 1\n", "starlark").tree is not None
    assert python.indent == starlark.indent == "  "
    assert query_text(python, "spans") == "(module) @block\n"

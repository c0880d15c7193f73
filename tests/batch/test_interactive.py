"""Asking about each target."""

import sys
from pathlib import Path

import pytest
from batch_desk import Bench, Texts

from niello.batch.desk import Manner

ASK = Manner(interactive=True)
QUERY = "(assignment left: (_) @name right: (_) @fill)"


def asked(answers: str, *texts: str) -> tuple[str, str]:
    Path("a.py").write_text("a = 1\nb = 2\nc = 3\n")
    Path("b.py").write_text("d = 4\n")
    bench = Bench("".join(f"{answer}\n" for answer in answers))
    bench.refactor(Texts(*(texts or ("10", "20", "30", "40"))), ASK, query=QUERY)
    return Path("a.py").read_text(), Path("b.py").read_text()


@pytest.mark.parametrize(
    ("answers", "after"),
    [
        ("yyyy", ("a = 10\nb = 20\nc = 30\n", "d = 40\n")),
        ("nyny", ("a = 1\nb = 20\nc = 3\n", "d = 40\n")),
        ("yan", ("a = 10\nb = 20\nc = 30\n", "d = 4\n")),
        ("ydy", ("a = 10\nb = 2\nc = 3\n", "d = 40\n")),
        ("yq", ("a = 10\nb = 2\nc = 3\n", "d = 4\n")),
        ("y", ("a = 10\nb = 2\nc = 3\n", "d = 4\n")),
        ("q", ("a = 1\nb = 2\nc = 3\n", "d = 4\n")),
        ("?yd?y", ("a = 10\nb = 2\nc = 3\n", "d = 40\n")),
    ],
)
def test_what_was_accepted_is_written(answers: str, after: tuple[str, str]) -> None:
    assert asked(answers) == after


def test_brackets_go_through_other_candidates() -> None:
    # The first target is filled alone; the next draws are for it as well.
    texts = ("10", "11", "12", "13", "14", "20", "30")
    assert asked("]]yq", *texts)[0] == "a = 12\nb = 2\nc = 3\n"


def test_a_text_can_be_edited(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    editor = project / "editor.txt"
    editor.write_text("import sys; open(sys.argv[1], 'a').write('0\\n')")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {editor}")
    assert asked("eq")[0] == "a = 100\nb = 2\nc = 3\n"

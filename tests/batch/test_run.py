"""Whole runs: plan, journal, preview, write, resume."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from batch_desk import Bench, Texts

from niello.batch import journal
from niello.batch.desk import Manner
from niello.batch.run import apply_run
from niello.infill.errors import SettingsError, SourceError

QUERY = "(assignment left: (_) @name right: (_) @fill)"
WRITE = Manner(write=True)


def read(name: str) -> str:
    return Path(name).read_bytes().decode()


def test_a_preview_writes_nothing_and_is_applied_as_it_was_shown() -> None:
    Path("a.py").write_text("a = 1\nb = 2\n")
    bench = Bench()
    assert bench.refactor(Texts("10", "20"), query=QUERY) == 1
    assert read("a.py") == "a = 1\nb = 2\n"
    assert "-a = 1\n-b = 2\n+a = 10\n+b = 20\n" in bench.out.getvalue()
    assert (
        apply_run(journal.find_journal(None), WRITE, bench.desk, verify_cmd=None) == 0
    )
    assert read("a.py") == "a = 10\nb = 20\n"


def test_the_diff_is_one_that_git_applies() -> None:
    Path("a.py").write_bytes(b"a = 1\r\nx = 3\r\nb = 2")
    bench = Bench()
    bench.refactor(Texts("10", "10", "20"), query=QUERY)
    Path("p.diff").write_bytes(bench.out.getvalue().encode())
    subprocess.run(["git", "apply", "p.diff"], check=True)
    assert Path("a.py").read_bytes() == b"a = 10\r\nx = 10\r\nb = 20"


def test_without_targets_the_model_is_not_loaded() -> None:
    Path("a.py").write_text("f()\n")
    bench = Bench()
    assert bench.refactor(Texts("1"), query=QUERY) == 0
    assert bench.loaded == 0


def test_a_refused_target_gives_status_3_and_the_others_are_written() -> None:
    Path("a.py").write_text("a = 1\nb = 2\n")
    bench = Bench()
    assert bench.refactor(Texts(")", "20", ")"), WRITE, query=QUERY) == 3
    assert read("a.py") == "a = 1\nb = 20\n"
    assert "1 accepted, 1 refused: empty" in bench.err.getvalue()


def test_a_refused_target_is_tried_again() -> None:
    Path("a.py").write_text("a = 1\n")
    assert Bench().refactor(Texts(")", ")", "5"), WRITE, query=QUERY) == 0
    assert read("a.py") == "a = 5\n"


def test_low_confidence_is_refused() -> None:
    Path("a.py").write_text("a = 1\n")
    bench = Bench()
    assert bench.refactor(Texts("5"), WRITE, query=QUERY, min_confidence=0.9) == 3
    assert "confidence" in bench.err.getvalue()


def test_what_a_filler_writes_keeps_the_files_bytes() -> None:
    Path("a.py").write_bytes(b"\xef\xbb\xbf# \xc3\xa9\r\nif x:\r\n\tf()\r\n")
    block = "(if_statement consequence: (block) @fill)"
    assert Bench().refactor(Texts("g()\n\th()"), WRITE, query=block) == 0
    assert Path("a.py").read_bytes() == (
        b"\xef\xbb\xbf# \xc3\xa9\r\nif x:\r\n\tg()\r\n\th()\r\n"
    )


def test_holes_are_filled_in_turn_and_holes_of_one_name_alike() -> None:
    Path("a.py").write_text("f(0)\n")
    filler = Texts("1", "2")
    rewrite = "f($X, ⟦one⟧, ⟦two⟧, ⟦one⟧)"
    assert Bench().refactor(filler, WRITE, pattern="f($X)", rewrite=rewrite) == 0
    assert read("a.py") == "f(0, 1, 2, 1)\n"
    second = filler.canvases[1]
    assert second.context.prefix + second.given == "f(0, 1, "
    assert second.context.suffix == ", 1)\n"


def test_a_hole_of_an_expression_ends_before_what_follows_it() -> None:
    Path("a.py").write_text("f(0)\nwhile f(1):\n    pass\n")
    filler = Texts("10, more=2", "9):\n    g()")
    options = {"pattern": "f($X)", "rewrite": "f($X, ⟦⟧)"}
    assert Bench().refactor(filler, WRITE, **options) == 0
    assert read("a.py") == "f(0, 10)\nwhile f(1, 9):\n    pass\n"


@pytest.mark.parametrize(
    ("name", "before", "written", "after"),
    [
        (
            "a.js",
            "function f() {\n  old();\n}\n",
            "if (a) {\n    b();\n  }\n  return c;",
            "function f() {\n  if (a) {\n    b();\n  }\n  return c;\n}\n",
        ),
        (
            "a.go",
            "package p\n\nfunc f() int {\n\treturn 1\n}\n",
            "a := 1\n\treturn a",
            "package p\n\nfunc f() int {\n\ta := 1\n\treturn a\n}\n",
        ),
        (
            "a.lua",
            "function f()\n  return 1\nend\n",
            "local a = 1\n  return a",
            "function f()\n  local a = 1\n  return a\nend\n",
        ),
    ],
)
def test_a_body_is_filled_with_all_its_statements(
    name: str, before: str, written: str, after: str
) -> None:
    Path(name).write_text(before)
    bench = Bench()
    asked = {"paths": [name], "select": "function.inner"}
    assert bench.refactor(Texts(written), Manner(write=True), **asked) == 0
    assert Path(name).read_text() == after


def test_a_comment_in_front_does_not_take_the_place_of_a_statement() -> None:
    Path("a.py").write_text("exit(1)\n")
    bench = Bench()
    asked = {"paths": ["a.py"], "pattern": "exit($A)"}
    bench.refactor(
        Texts("# Not the shell's.\nsys.exit(1)\nx"), Manner(write=True), **asked
    )
    assert Path("a.py").read_text() == "# Not the shell's.\nsys.exit(1)\n"


def test_a_comment_is_filled_with_one_line() -> None:
    Path("a.py").write_text("# old\nx = 1\n")
    bench = Bench()
    asked = {"paths": ["a.py"], "select": "comment.outer"}
    bench.refactor(Texts("# new\ny = 2"), Manner(write=True), **asked)
    assert Path("a.py").read_text() == "# new\nx = 1\n"


def test_a_text_that_its_room_cuts_off_is_refused() -> None:
    Path("a.py").write_text("def f():\n    return 1\n")
    filler = Texts("if a:\n        return 2\n    x = com", reason="room")
    bench = Bench()
    assert bench.refactor(filler, WRITE, select="function.inner") == 3
    assert read("a.py") == "def f():\n    return 1\n"
    assert "cut off where its room ended" in bench.err.getvalue() + bench.out.getvalue()


def test_a_hole_with_a_mark_to_end_at_is_full_there() -> None:
    Path("a.py").write_text("a = 1\n")
    Path("niello.refactor.toml").write_text(
        f"[[step]]\nlanguage = 'python'\nquery = '{QUERY}'\nrewrite = '\"⟦it⟧\"'\n"
        "[step.holes.it]\nuntil = '\\. '\n"
    )
    filler = Texts(" One. Two.")
    assert Bench().refactor(filler, WRITE) == 0
    assert read("a.py") == 'a = "One"\n'
    [canvas] = filler.canvases
    assert canvas.stop(canvas.given + " One. Two.") == len(canvas.given + " One")
    assert canvas.stop(canvas.given + " One.") is None


def test_a_marker_tells_the_model_what_to_do_and_goes() -> None:
    Path("a.py").write_text("def area(r):\n    # TODO: fill in the area\n")
    filler = Texts("return 3 * r * r")
    assert Bench().refactor(filler, WRITE, marker=True) == 0
    assert read("a.py") == "def area(r):\n    return 3 * r * r\n"
    [canvas] = filler.canvases
    prompt = canvas.context.prefix + canvas.given
    assert prompt == "def area(r):\n    # TODO: fill in the area\n    "


def test_several_steps_each_see_what_the_one_before_left() -> None:
    Path("a.py").write_text("a = 1\nb = 2\n")
    Path("niello.refactor.toml").write_text(
        "[[step]]\nlanguage = 'python'\n"
        f"query = '{QUERY}'\nrewrite = 'f(⟦⟧)'\nname = 'a'\n"
        "[[step]]\nlanguage = 'python'\npattern = 'f($X)'\nrewrite = 'g($X, ⟦⟧)'\n"
    )
    assert Bench().refactor(Texts("10", "20"), WRITE) == 0
    assert read("a.py") == "a = g(10, 20)\nb = 2\n"


def test_canvases_of_several_files_are_filled_together() -> None:
    for number in range(6):
        Path(f"m{number}.py").write_text(f"a = {number}\n")
    filler = Texts("10")
    Bench().refactor(filler, query=QUERY, jobs=4)
    assert filler.widths == [4, 2]


def test_a_limit_bounds_the_targets_of_all_files() -> None:
    for number in range(4):
        Path(f"m{number}.py").write_text(f"a = {number}\nb = {number}\n")
    filler = Texts("10")
    Bench().refactor(filler, query=QUERY, limit=3)
    assert len(filler.canvases) == 3


def test_a_resumed_run_fills_only_what_is_not_settled() -> None:
    Path("a.py").write_text("a = 1\nb = 2\nc = 3\n")

    class Broken(Texts):
        def fill(self, canvases, draws, stop):  # type: ignore[no-untyped-def]
            if self.canvases:
                raise KeyboardInterrupt
            return super().fill(canvases, draws, stop)

    bench = Bench()
    with pytest.raises(KeyboardInterrupt):
        bench.refactor(Broken("10"), query=QUERY, jobs=1, max_tries=1)
    assert "--resume" in bench.err.getvalue()


def test_a_run_cut_off_amid_its_journal_goes_on() -> None:
    Path("a.py").write_text("a = 1\nb = 2\nc = 3\n")
    Bench().refactor(Texts("10", "20", "30"), query=QUERY)
    path = journal.find_journal(None)
    lines = path.read_bytes().splitlines(keepends=True)
    targets = [line for line in lines if b'"target"' in line]
    path.write_bytes(b"".join([lines[0], *targets[:2]]) + targets[2][:40])
    filler = Texts("99")
    with pytest.raises(SettingsError, match="before anything is written"):
        Bench().resume(Texts("9"), WRITE, verify_cmd="false")
    path.write_bytes(b"".join([lines[0], *targets[:2]]) + targets[2][:40])
    assert Bench().resume(filler, WRITE, verify_cmd="true") == 0
    assert len(filler.canvases) == 1
    assert read("a.py") == "a = 10\nb = 20\nc = 99\n"
    with pytest.raises(SettingsError, match="broken off"):
        path.write_bytes(lines[0])
        apply_run(path, WRITE, Bench().desk, verify_cmd=None)


def test_a_file_changed_since_the_plan_is_left_alone() -> None:
    Path("a.py").write_text("a = 1\n")
    Path("b.py").write_text("a = 1\n")
    bench = Bench()
    bench.refactor(Texts("10"), query=QUERY)
    Path("a.py").write_text("a = 1  # mine\n")
    status = apply_run(journal.find_journal(None), WRITE, bench.desk, verify_cmd=None)
    assert status == 2
    assert "refused a.py: changed on disk" in bench.err.getvalue()
    assert read("a.py") == "a = 1  # mine\n"
    assert read("b.py") == "a = 10\n"


def test_a_tracked_file_with_changes_is_refused_unless_allowed() -> None:
    Path("a.py").write_text("a = 1\n")
    Path("b.py").write_text("a = 1\n")
    name = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q"], ["add", "a.py", "b.py"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *name, *words], check=True)
    Path("a.py").write_text("a = 3\n")
    bench, filler = Bench(), Texts("10")
    assert bench.refactor(filler, WRITE, query=QUERY) == 2
    assert (read("a.py"), read("b.py")) == ("a = 3\n", "a = 10\n")
    # The model has not worked for what could not be written.
    assert len(filler.canvases) == 1
    assert "refused a.py: has uncommitted changes" in bench.err.getvalue()
    # A preview disturbs nobody; writing it does.
    assert Bench().refactor(Texts("10"), paths=["a.py"], query=QUERY) == 1
    path = journal.find_journal(None)
    assert apply_run(path, WRITE, Bench().desk, verify_cmd=None) == 2
    assert read("a.py") == "a = 3\n"
    allowed = Manner(write=True, allow_dirty=True)
    assert Bench().refactor(Texts("11"), allowed, paths=["a.py"], query=QUERY) == 0
    assert read("a.py") == "a = 11\n"


def test_where_git_cannot_tell_of_changes_nothing_is_written() -> None:
    Path("a.py").write_text("a = 1\n")
    Path(".git").mkdir()
    with pytest.raises(SourceError, match="git cannot tell its state"):
        Bench().refactor(Texts("9"), WRITE, query=QUERY)
    assert read("a.py") == "a = 1\n"


def test_the_verify_command_rolls_back_only_the_file_it_fails_with() -> None:
    for number in range(5):
        Path(f"m{number}.py").write_text(f"a = {number}\n")
    check = "grep -q 'a = 3' m3.py"
    bench = Bench()
    assert bench.refactor(Texts("9"), WRITE, query=QUERY, verify_cmd=check) == 3
    assert [read(f"m{n}.py") for n in range(5)] == [
        "a = 9\n",
        "a = 9\n",
        "a = 9\n",
        "a = 3\n",
        "a = 9\n",
    ]
    assert "4 files written, 1 file rolled back" in bench.err.getvalue()


def test_a_verify_command_that_fails_beforehand_stops_the_run() -> None:
    Path("a.py").write_text("a = 1\n")
    with pytest.raises(SettingsError, match="before anything is written"):
        Bench().refactor(Texts("9"), WRITE, query=QUERY, verify_cmd="false")
    assert read("a.py") == "a = 1\n"


def test_json_is_one_event_a_line_and_does_not_keep_from_writing() -> None:
    Path("a.py").write_text("a = 1\n")
    bench = Bench()
    bench.refactor(Texts("9"), Manner(write=True, json=True), query=QUERY)
    events = [json.loads(line) for line in bench.out.getvalue().splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds == ["target", "file", "written", "summary"]
    assert events[0]["range"]["start"] == {"line": 0, "column": 4}
    assert read("a.py") == "a = 9\n"


def test_a_report_shows_diffs_and_escapes_them(tmp_path: Path) -> None:
    Path("a.py").write_text("a = 1 < 2\n")
    page = tmp_path / "out.html"
    Bench().refactor(Texts("'<b>'"), Manner(report=page), query=QUERY)
    text = page.read_text("utf-8")
    assert "&#x27;&lt;b&gt;&#x27;" in text
    assert "accepted" in text


def test_files_that_cannot_be_handled_are_named_and_the_others_done() -> None:
    Path("bad.py").write_bytes(b"a = '\xd6'\n")
    Path("bin.py").write_bytes(b"a = 1\0")
    Path("good.py").write_text("a = 1\n")
    Path("big.py").write_text("a = 1\n" * 100)
    Path("locked.py").write_text("a = 1\n")
    os.chmod("locked.py", 0o444)
    bench = Bench()
    assert bench.refactor(Texts("9"), WRITE, query=QUERY, max_bytes=100) == 2
    told = bench.err.getvalue()
    assert "skipped bad.py: not UTF-8 (byte 0xd6 in line 1)" in told
    assert "skipped bin.py: binary" in told
    assert "skipped big.py: too large" in told
    assert "refused locked.py: read-only" in told
    assert read("good.py") == "a = 9\n"


def test_a_file_is_refused_once_however_many_steps_there_are() -> None:
    Path("a.py").write_text("a = 1\n")
    os.chmod("a.py", 0o444)
    step = f"[[step]]\nlanguage = 'python'\nquery = '{QUERY}'\n"
    Path("niello.refactor.toml").write_text(step * 2)
    bench = Bench()
    assert bench.refactor(Texts("9"), WRITE) == 2
    assert bench.err.getvalue().count("refused a.py: read-only") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing says what to refactor"),
        ({"query": "(a", "paths": ["a.py"]}, "does not fit python"),
        ({"query": "((integer) @fill (#lua-match? @fill 'a'))"}, "#lua-match?"),
        ({"pattern": "f()", "marker": True}, "in one way"),
        ({"pattern": "f()", "lang": ["klingon"]}, "klingon"),
        ({"pattern": "f()", "min_confidence": 2.0}, "between 0 and 1"),
        ({"at": ["a.py:1"]}, "PATH:L:C-L:C"),
        ({"recipe": "add-timeouts", "name": "x"}, "does not go with a recipe"),
    ],
)
def test_a_wrong_option_says_what_to_do(
    options: dict[str, object], message: str
) -> None:
    Path("a.py").write_text("a = f()\n")
    with pytest.raises(SettingsError, match=message.replace("(", r"\(")):
        Bench().refactor(Texts("1"), **options)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"select": "function.iner"}, "no text object 'function.iner'"),
        ({"query": "(call)"}, "captures nothing as @fill"),
    ],
)
def test_what_can_find_nothing_is_an_error(asked: dict[str, str], told: str) -> None:
    Path("a.py").write_text("f()\n")
    with pytest.raises(SettingsError, match=told):
        Bench().refactor(Texts("1"), **asked)


def test_a_recipe_of_the_project_does_not_rewrite_itself() -> None:
    recipe = '[[step]]\nselect = "assignment.rhs"\n'
    Path("niello.refactor.toml").write_text(recipe)
    Path("a.toml").write_text("a = 1\n")
    assert Bench().refactor(Texts("2", "2"), WRITE) == 0
    assert read("a.toml") == "a = 2\n"
    assert read("niello.refactor.toml") == recipe

"""The in-place edits: which places they mask, and what they leave alone."""

from collections.abc import Sequence

import pytest

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag, never
from niello.infill.parse import Parsed, parse
from niello.infill.propose import Options
from niello.lsp.actions import KINDS
from niello.lsp.edits import MaskFilling


class Says:
    """A filler that writes one text a canvas, in their order."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.canvases: list[Canvas] = []

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        self.canvases += canvases
        return [[self._write(canvas)] for canvas in canvases]

    def _write(self, canvas: Canvas) -> Fill:
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        full = canvas.stop(canvas.given + text)
        if full is not None:
            text = (canvas.given + text)[len(canvas.given) : full]
        return Fill(text, -0.1, 1, "end")


def edited(kind: str, marked: str, filler: Says, language: str = "python") -> str:
    """Apply an edit at ``|`` (a cursor) or between two of them (a selection)."""
    start = marked.index("|")
    end = marked.rindex("|") - (marked.count("|") - 1)
    parsed = parse(marked.replace("|", ""), language)
    find = KINDS[kind].find
    assert find is not None
    filling = MaskFilling(parsed, find(parsed, start, end))
    while not filling.done:
        filling.step(filler, Options(), never)
    text = parsed.text
    for edit in reversed(filling.edits):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def offers(kind: str, marked: str, language: str = "python") -> bool:
    at = marked.index("|")
    parsed: Parsed = parse(marked.replace("|", ""), language)
    find = KINDS[kind].find
    return find is not None and bool(find(parsed, at, at))


def test_fill_here_puts_the_candidate_at_the_cursor() -> None:
    assert edited("fill", "x = |\n", Says("1")) == "x = 1\n"


def test_a_selection_is_replaced_and_its_surroundings_stay() -> None:
    before = "def a():\n    return 1\n\n\ndef b():\n    |pass|\n\n\nlast = 3\n"
    after = before.replace("|pass|", "return 2")
    assert edited("rewrite", before, Says("return 2")) == after


def test_an_empty_selection_means_the_statement_under_it() -> None:
    before = "a = count(12); |flag = False\n"
    assert (
        edited("rewrite", before, Says("flag = True")) == "a = count(12); flag = True\n"
    )


def test_a_block_is_gone_on_with_behind_its_last_statement() -> None:
    before = "def f(a):\n    b = a|\n\n\nlast = 3\n"
    after = "def f(a):\n    b = a\n    return b\n\n\nlast = 3\n"
    assert edited("block", before, Says("return b")) == after


def test_a_block_in_braces_is_gone_on_with_in_front_of_the_closing_one() -> None:
    before = "int f(int a) {\n\tint b = a;|\n}\n"
    after = "int f(int a) {\n\tint b = a;\n\treturn b;\n}\n"
    assert edited("block", before, Says("return b;"), "c") == after


def test_a_body_is_filled_from_signature_and_docstring() -> None:
    before = 'def f(a):\n    """Double it."""\n    |pass\n\n\nlast = 3\n'
    after = 'def f(a):\n    """Double it."""\n    return 2 * a\n\n\nlast = 3\n'
    filler = Says("return 2 * a")
    assert edited("body", before, filler) == after
    assert "pass" not in str(filler.canvases[0])


def test_a_body_in_braces_is_filled_between_them() -> None:
    before = "func f(a int) int {\n\t|panic(1)\n}\n\nvar last = 3\n"
    after = "func f(a int) int {\n\treturn 2 * a\n}\n\nvar last = 3\n"
    assert edited("body", before, Says("return 2 * a"), "go") == after


def test_a_docstring_goes_in_front_of_the_first_statement() -> None:
    before = "def f(a):\n    |return 2 * a\n"
    after = 'def f(a):\n    """Double it."""\n    return 2 * a\n'
    assert edited("docstring", before, Says("Double it.")) == after


def test_a_doc_comment_goes_above_the_function() -> None:
    before = "class A {\n  int f(int a) {\n    |return 2 * a;\n  }\n}\n"
    after = (
        "class A {\n  /**\n   * Doubles it.\n   */\n  int f(int a) {\n"
        "    return 2 * a;\n  }\n}\n"
    )
    assert edited("docstring", before, Says("Doubles it."), "java") == after


def test_a_go_function_is_described_in_line_comments() -> None:
    before = "func f() {\n\t|return\n}\n"
    after = "// f does nothing.\nfunc f() {\n\treturn\n}\n"
    assert edited("docstring", before, Says("f does nothing."), "go") == after


def test_a_described_function_gets_no_second_docstring() -> None:
    assert not offers("docstring", 'def f(a):\n    """Double."""\n    |return a\n')
    assert not offers("docstring", "// Doubles.\nfunc f() {\n\t|return\n}\n", "go")


def test_only_annotation_slots_are_masked() -> None:
    before = "def f(self, a, b: int, c=1):\n    |return a\n"
    after = "def f(self, a: str, b: int, c: int=1) -> str:\n    return a\n"
    assert edited("annotations", before, Says("str", "int", "str")) == after


def test_an_annotation_ends_where_the_next_parameter_begins() -> None:
    before = "def f(a, b):\n    |return a\n"
    after = "def f(a: dict[str, int], b: int) -> str:\n    return a\n"
    filler = Says("dict[str, int], b: int) -> str:", "int", "str:\n    pass")
    assert edited("annotations", before, filler) == after


def test_typescript_slots_are_annotated_in_its_own_way() -> None:
    before = "function f(a, b?) {\n  |return a\n}\n"
    after = "function f(a: string, b?: number): string {\n  return a\n}\n"
    filler = Says("string", "number", "string")
    assert edited("annotations", before, filler, "typescript") == after


def test_a_syntax_error_is_masked_and_the_rest_stays() -> None:
    before = "a = 1\nprint(a|\nb = 2\n"
    assert offers("syntax", before)
    assert not offers("syntax", "a = 1|\n")


@pytest.mark.parametrize(
    ("marked", "after"),
    [
        ("|x = ⟦⟧ + 1\n", "x = y + 1\n"),
        ("|def f():\n    # ...\n    z = 1\n", "def f():\n    y\n    z = 1\n"),
        (
            "|def f():\n    # TODO: fill the answer\n    z = 1\n",
            "def f():\n    y\n    z = 1\n",
        ),
    ],
)
def test_a_marker_is_replaced_by_its_fill(marked: str, after: str) -> None:
    assert edited("markers", marked, Says("y")) == after


def test_every_marker_is_filled_and_sees_the_fills_before_it() -> None:
    filler = Says("first", "second")
    assert edited("markers", "|a = ⟦⟧\nb = ⟦⟧\n", filler) == "a = first\nb = second\n"
    assert filler.canvases[1].context.prefix.startswith("a = first\n")


def test_a_hint_is_seen_by_the_model_and_enters_no_file() -> None:
    filler = Says("y")
    after = edited("markers", "|def f():\n    x = ⟦the answer⟧\n", filler)
    assert after == "def f():\n    x = y\n"
    assert filler.canvases[0].context.prefix.endswith("# the answer\n")


def test_a_place_without_a_good_fill_stays_as_it_is() -> None:
    assert edited("markers", "|a = ⟦⟧\n", Says("")) == "a = ⟦⟧\n"

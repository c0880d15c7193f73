import pytest

from niello.infill.parse import parse
from niello.infill.select import find_broken, find_selection


@pytest.mark.parametrize(
    ("marked", "covered"),
    [
        ("a = 1\n[b = f(]2)\n", "b = f(2)"),
        ("a = 1; f[]lag = False\n", "flag = False"),
        ("f(a, [b]c + 1)\n", "bc + 1"),
        ("[ a = 1\nb =] 2\nc = 3\n", "a = 1\nb = 2"),
    ],
)
def test_a_selection_grows_to_whole_nodes(marked: str, covered: str) -> None:
    start, end = marked.index("["), marked.index("]") - 1
    text = marked.replace("[", "", 1).replace("]", "", 1)
    span = find_selection(parse(text, "python"), start, end)
    assert text[span.start : span.end] == covered


def test_broken_nodes_have_spans_of_one_line() -> None:
    text = "def f(:\n    pass\n\n\ndef g():\n    return 1\n"
    spans = find_broken(parse(text, "python"))
    assert spans
    assert all("\n" not in text[span.start : span.end] for span in spans)

import pytest

from niello.infill.frame import find_frames
from niello.infill.parse import parse


@pytest.mark.parametrize(
    ("marked", "language", "frames"),
    [
        ("f(g(|))\n", "python", [(")", True), (")", True)]),
        ("f(g(|)\n", "python", [(")", True), (")", False)]),
        ("f(|\n", "python", [(")", False)]),
        ("x = [\n    1,\n    |\n]\n", "python", [("]", True)]),
        ("x = [\n    1,\n    |\ny = 2\n", "python", [("]", False)]),
        (
            "class A {\n  int f(int a|\n    return 1;\n  }\n}\n",
            "java",
            [("}", True), (")", False)],
        ),
        ("go(function() {\n  |\n});\n", "javascript", [(")", True), ("}", True)]),
        ("if (a) { b(|\nc();\n", "c", [("}", False), (")", False)]),
    ],
)
def test_brackets_around_a_place_are_the_fills_to_close_or_not(
    marked: str, language: str, frames: list[tuple[str, bool]]
) -> None:
    cursor = marked.index("|")
    parsed = parse(marked.replace("|", "", 1), language)
    found = find_frames(parsed, cursor, cursor)
    assert [(frame.closer, frame.given) for frame in found] == frames


def test_a_line_end_in_a_list_ends_nothing_and_in_a_block_it_may() -> None:
    parsed = parse("void f() {\n  g(\n  );\n}\n", "c")
    block, arguments = find_frames(parsed, 15, 15)
    assert (block.flows, arguments.flows) == (False, True)

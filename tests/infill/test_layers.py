import pytest
from filling import filled

from niello.infill.layers import layer_at
from niello.infill.parse import parse
from niello.infill.span import find_span


@pytest.mark.parametrize(
    ("marked", "language", "inner"),
    [
        ("<script>\nlet x = |\n</script>\n", "html", "javascript"),
        ('<script lang="ts">\nlet x = |\n</script>\n', "vue", "typescript"),
        ("<style>a { color: | }</style>\n", "html", "css"),
        ("# A\n\n```python\nx = |\n```\n", "markdown", "python"),
        ("# A\n\n```py\n|\n```\n", "markdown", "python"),
        ("# A |\n\n```python\nx = 1\n```\n", "markdown", "markdown"),
        ("const a = html`<p>|</p>`;\n", "javascript", "html"),
        ("const a = html`<p>${b(|)}</p>`;\n", "javascript", "javascript"),
        ("const a = `text |`;\n", "javascript", "javascript"),
    ],
)
def test_a_place_belongs_to_the_language_it_is_written_in(
    marked: str, language: str, inner: str
) -> None:
    parsed = parse(marked.replace("|", "", 1), language)
    assert layer_at(parsed, marked.index("|")).name == inner


def test_offsets_are_the_files() -> None:
    text = "<p>ä</p>\n<script>\nfunction f() {\n  \n}\n</script>\n"
    cursor = text.index("  \n") + 2
    span = find_span(parse(text, "html"), cursor)
    assert (span.start, span.end, span.kind) == (cursor - 2, cursor, "block")


def test_a_fill_stays_inside_its_layer() -> None:
    text = "# A\n\n```python\ndef f():\n    |\n```\n\nText (here.\n"
    want = text.replace("|", "return 1")
    assert filled(text, "markdown", "return 1\n```\n\nText (here.") == want


def test_a_fill_is_judged_by_the_inner_language() -> None:
    text = "<script>\nlet x = |;\n</script>\n"
    assert filled(text, "html", "1 +* 2") is None
    assert filled(text, "html", "1 < 2") == text.replace("|", "1 < 2")

import pytest
from filling import filled

from niello.infill.margins import set_indent_style


def test_spaces_become_tabs_in_a_file_of_tabs() -> None:
    text = "package p\n\nfunc f(n int) {\n\t|\n}\n"
    want = "package p\n\nfunc f(n int) {\n\tif n < 0 {\n\t\tg()\n\t}\n}\n"
    assert filled(text, "go", "if n < 0 {\n        g()\n    }") == want


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        ("f() {\n\t|\n}\n", "c", "if (a)\n        g();\n    h();", "\tg();\n\th();"),
        ("def f():\n\t|\n", "python", "if a:\n        g()\n    h()", "\tg()\n\th()"),
        ("def f\n\t|\nend\n", "ruby", "if a\n        g\n    end\n    h", "\tend\n\th"),
    ],
)
def test_a_tab_on_the_empty_line_is_all_a_file_needs_to_show(
    marked: str, language: str, written: str, want: str
) -> None:
    assert want in (filled(marked, language, written) or "")


def test_tabs_become_spaces_in_a_file_of_spaces() -> None:
    text = "def f(x):\n    y = x\n    |\n    return y\n"
    want = "def f(x):\n    y = x\n    if y:\n        y += 1\n    return y\n"
    assert filled(text, "python", "if y:\n\t\ty += 1") == want


def test_the_lines_of_a_here_document_are_nobodys_to_restyle() -> None:
    text = "if a; then\n\tb\nfi\n|\n"
    written = "if c; then\n    cat <<E\n    d\nE\nfi"
    want = text.replace("|", "if c; then\n\tcat <<E\n    d\nE\nfi")
    assert filled(text, "bash", written) == want


def test_a_file_that_shows_no_style_changes_nothing() -> None:
    assert set_indent_style("a:\n\tb", "    ", "class A:\n\n") == "a:\n\tb"


def test_spaces_behind_tabs_are_a_style_of_statements_only() -> None:
    text = "void f() {\n\tg();\n\t|\n}\n"
    block = "if (a) {\n\t    b();\n\t}"
    want = text.replace("|", "if (a) {\n\t\tb();\n\t}")
    assert filled(text, "c", block) == want
    statement = "if (a &&\n\t    b)\n\t\tc();"
    assert filled(text, "c", statement) == text.replace("|", statement)


def test_blocks_take_the_step_of_the_file() -> None:
    text = "function f(x) {\n  if (x) {\n    g();\n  }\n  |\n}\n"
    want = text.replace("|", "if (y) {\n    h();\n  }")
    assert filled(text, "javascript", "if (y) {\n        h();\n    }") == want


def test_a_python_file_of_two_columns_keeps_them() -> None:
    text = "def f(x):\n  if x:\n    g()\n  |\n  return x\n"
    want = text.replace("|", "if y:\n    h()")
    assert filled(text, "python", "if y:\n        h()") == want


def test_a_label_of_a_class_says_nothing_of_the_step() -> None:
    text = "class A {\n public:\n  void f() {\n    |\n  }\n private:\n  int x;\n};\n"
    written = "if (y) {\n      h();\n    }"
    assert filled(text, "cpp", written) == text.replace("|", written)


def test_lines_in_tabs_keep_their_step() -> None:
    written = "if (a) {\n\t\t\tb();\n\t\t}"
    text = "\t\t|\n\t\tif (c) {\n            d();\n\t\t}\n"
    assert filled(text, "c", written) == text.replace("|", written)


def test_a_step_that_the_file_has_somewhere_stays() -> None:
    text = "def f(x):\n  if x:\n      g()\n  |\n  return x\n"
    want = text.replace("|", "if y:\n      h()")
    assert filled(text, "python", "if y:\n      h()") == want


def test_a_block_within_a_class_takes_the_step_of_the_file() -> None:
    text = "class A:\n  def f(self):\n    return 1\n\n  |\n"
    want = text.replace("|", "def g(self):\n    return 2")
    assert filled(text, "python", "def g(self):\n      return 2") == want

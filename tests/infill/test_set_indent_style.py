from filling import filled

from niello.infill.rules import set_indent_style


def test_spaces_become_tabs_in_a_file_of_tabs() -> None:
    text = "package p\n\nfunc f(n int) {\n\t|\n}\n"
    want = "package p\n\nfunc f(n int) {\n\tif n < 0 {\n\t\tg()\n\t}\n}\n"
    assert filled(text, "go", "if n < 0 {\n        g()\n    }") == want


def test_tabs_become_spaces_in_a_file_of_spaces() -> None:
    text = "def f(x):\n    y = x\n    |\n    return y\n"
    want = "def f(x):\n    y = x\n    if y:\n        y += 1\n    return y\n"
    assert filled(text, "python", "if y:\n\t\ty += 1") == want


def test_a_file_that_shows_no_style_changes_nothing() -> None:
    assert set_indent_style("a:\n\tb", "    ", "class A:\n\n") == "a:\n\tb"

from niello.infill.notebook import Cell, join_cells

CELLS = [
    Cell("import os\n%time", "python"),
    Cell("# Title\ntext", "markdown"),
    Cell("x = os.", "python"),
    Cell("print(x)", "python"),
]


def test_a_cell_stands_unchanged_among_the_others() -> None:
    joined = join_cells(CELLS, 2)
    assert joined.text[joined.start : joined.end] == "x = os."
    assert joined.text.startswith("import os\n")
    assert joined.text.endswith("\n\nprint(x)")


def test_other_languages_and_magic_lines_become_comments() -> None:
    text = join_cells(CELLS, 2).text
    assert "# %time" in text
    assert "# # Title\n# text" in text

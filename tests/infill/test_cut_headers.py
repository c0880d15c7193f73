"""A text does not end with what opens a block unless one follows: Python needs it."""

import pytest
from filling import filled


@pytest.mark.parametrize(
    ("marked", "written", "kept"),
    [
        ("if x:\n    |\nreturn n\n", "return y\nelse:", "return y"),
        ("def f(x):\n    |\n", "y()\n    for i in x:\n        if i:", "y()"),
        ("def f(x):\n    |\n        # note\n    z()\n", "y()\n    if x:", "y()"),
        ("def f(x):\n    |\n", "y()\n    # then:", "y()\n    # then:"),
        # What follows belongs to it.
        ("for i in x:\n    |\n        y()\n", "z()\n    if i:", "z()\n    if i:"),
        ("|\nelse:\n    z()\n", "y()\nif x:", "y()\nif x:"),
        # The user goes on with a header that is all, or the end of one.
        ("def f(x):\n    |\n    return x\n", "if x:", "if x:"),
        ("def f(x):\n    if a|\n    return x\n", " == b:", " == b:"),
    ],
)
def test_an_opener_without_a_block_goes(marked: str, written: str, kept: str) -> None:
    assert filled(marked, "python", written) == marked.replace("|", kept)


def test_a_key_of_yaml_may_stay_empty() -> None:
    want = "a:\n  b: 1\n  c:\nd: 2\n"
    assert filled("a:\n  |\nd: 2\n", "yaml", "b: 1\n  c:") == want

import pytest

from niello.infill.rules import trim_end


@pytest.mark.parametrize(
    ("written", "suffix", "kept"),
    [
        ("x = 1\n", "\ny = 2\n", "x = 1"),
        ("x = 1  \n\n", "\ny = 2\n", "x = 1"),
        ("x = 1" + "\n" * 40, "\ny = 2\n", "x = 1"),
        ("x = 1\n\n", "\n\ny = 2\n", "x = 1"),
        ("x = 1\n\n\n", "", "x = 1\n"),
        ("0 ", "\n", "0"),
        ("x = 1 ", "  # one\n", "x = 1"),
        ("\n  return 1;\n", "}\n", "\n  return 1;\n"),
    ],
)
def test_what_pads_the_end_goes(written: str, suffix: str, kept: str) -> None:
    assert trim_end(written, suffix) == kept


def test_space_in_front_of_what_was_cut_goes() -> None:
    assert trim_end("a\n    ", ", b)\n", cut=True) == "a"

import time

import pytest

from niello.infill.echo import drop_suffix_echo
from niello.infill.rules import drop_repeats


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("open()\nwave()\nopen()\nwave()\nopen()\nwave()", "open()\nwave()"),
        ("total += 1\ntotal += 1", "total += 1"),
        ("if a\n  b\nend\nend", "if a\n  b\nend"),
        ("call(first, second)\ncall(first, sec", "call(first, second)"),
        ("#if A\nx;\n#endif\n#endif", "#if A\nx;\n#endif"),
        ("f(\n'sha1')\n'sha1'", "f(\n'sha1')"),
    ],
)
def test_what_is_said_again_at_the_end_goes(written: str, kept: str) -> None:
    assert drop_repeats(written) == kept


@pytest.mark.parametrize(
    "written",
    ["0,\n0,\n0,", "#if A\n#if B\n#endif\n#endif", "  end\nend", "a()\nb()\na()"],
)
def test_what_has_a_reason_to_come_again_stays(written: str) -> None:
    assert drop_repeats(written) == written


def test_the_typed_part_of_the_line_counts() -> None:
    assert drop_repeats("1\nvalue = 1", given="value = ") == "1"


def test_tags_that_close_one_after_the_other_are_no_repeat() -> None:
    for text in (
        "<a>\n      <a>\n        <b />\n      </a>\n    </a>",
        "<Panel>\n  <Panel>\n    x\n  </Panel>\n</Panel>",
    ):
        assert drop_repeats(text, "    ") == text


def test_a_long_text_of_repeats_takes_no_square_of_time() -> None:
    started = time.monotonic()
    assert drop_repeats("x = 1\n" * 20_000) == "x = 1\n" * 20_000
    assert drop_repeats("\n" * 20_000 + "x") == "\n" * 20_000 + "x"
    assert drop_suffix_echo("x = 1\n" * 20_000, "\ny = 1\n")
    assert time.monotonic() - started < 5

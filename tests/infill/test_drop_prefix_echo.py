from filling import filled

from niello.infill.rules import drop_prefix_echo


def test_a_copy_of_the_typed_line_goes() -> None:
    assert filled("total = |\n", "python", "total = 3") == "total = 3\n"


def test_a_copy_of_the_lines_above_goes() -> None:
    above = ["def load(path):", "    text = read(path)"]
    written = "def load(path):\n    text = read(path)\n    return parse(text)"
    kept = drop_prefix_echo(written, "", above)
    assert kept == "    return parse(text)"


def test_one_line_said_again_on_purpose_stays() -> None:
    assert drop_prefix_echo("step()\nrest()", "", ["step()"]) == "step()\nrest()"

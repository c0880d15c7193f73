from filling import filled


def test_a_fill_takes_the_line_ends_of_the_file() -> None:
    text = "def f(v):\r\n    |\r\n\r\nprint(f(1))\r\n"
    want = "def f(v):\r\n    v += 1\r\n    return v\r\n\r\nprint(f(1))\r\n"
    assert filled(text, "python", "v += 1\n    return v") == want


def test_a_fill_with_crlf_takes_lf_in_a_file_of_lf() -> None:
    text = "def f(v):\n    |\n"
    want = "def f(v):\n    v += 1\n    return v\n"
    assert filled(text, "python", "v += 1\r\n    return v") == want

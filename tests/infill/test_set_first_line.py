from filling import filled


def test_a_missing_indentation_is_added() -> None:
    text = "def f(x):\n    y = x\n|\n    return y\n"
    want = "def f(x):\n    y = x\n    y += 1\n    return y\n"
    assert filled(text, "python", "y += 1") == want


def test_indentation_that_is_typed_already_is_not_doubled() -> None:
    text = "def f(x):\n    y = x\n    |\n    return y\n"
    want = "def f(x):\n    y = x\n    y += 1\n    return y\n"
    assert filled(text, "python", "    y += 1") == want


def test_later_lines_keep_their_own_indentation() -> None:
    text = "def f(x):\n    y = x\n|\n    return y\n"
    want = "def f(x):\n    y = x\n    if y:\n        y += 1\n    return y\n"
    assert filled(text, "python", "if y:\n        y += 1") == want


def test_a_dedent_that_goes_on_with_the_statement_stays() -> None:
    text = "if a:\n    b()\n|\n    c()\n"
    assert filled(text, "python", "else:") == "if a:\n    b()\nelse:\n    c()\n"


def test_a_brace_language_gets_the_margin_of_the_block() -> None:
    text = "function hi() {\n  open();\n|\n  shut();\n}\n"
    want = "function hi() {\n  open();\n  wave();\n  shut();\n}\n"
    assert filled(text, "javascript", "wave();") == want


def test_a_text_that_is_a_column_off_is_moved_as_a_whole() -> None:
    text = "def f():\n    |\n    return x\n"
    want = "def f():\n    x = 1\n    y = 2\n    return x\n"
    assert filled(text, "python", " x = 1\n     y = 2") == want


def test_a_block_that_a_word_closes_may_be_deeper_than_its_ends() -> None:
    text = "function f()\n|\nend\n"
    assert filled(text, "lua", "  return 1") == "function f()\n  return 1\nend\n"


def test_what_goes_on_with_a_statement_keeps_its_margin() -> None:
    text = "function f() {\n  a = b\n|\n}\n"
    want = "function f() {\n  a = b\n    .c()\n    .d();\n}\n"
    assert filled(text, "javascript", "    .c()\n    .d();") == want

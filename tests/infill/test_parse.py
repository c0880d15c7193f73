import time

from niello.infill.parse import MAX_BYTES, parse, parse_again, replace


def test_a_reparse_sees_what_a_parse_from_nothing_sees() -> None:
    old = parse("def f(a):\n    return a\n", "python")
    new = parse("def f(ä, b):\n    return ä\n", "python", old)
    assert str(new.tree and new.tree.root_node) == str(
        (again := parse_again(new)).tree and again.tree.root_node
    )
    assert old.text == "def f(a):\n    return a\n"


def test_errors_and_missing_tokens_are_found() -> None:
    assert parse("f(1, 2)\n", "python").broken == []
    assert parse("f(1, 2\n", "python").broken != []


def test_offsets_are_code_points() -> None:
    parsed = parse('x = "äö\U0001f600"; y\n', "python")
    (node,) = [n for n in parsed.captures("spans", 0, 20) if n.name == "string"]
    assert parsed.text[node.start : node.end] == '"äö\U0001f600"'


def test_an_unknown_language_has_no_tree() -> None:
    assert parse("x", "klingon").tree is None


def test_a_text_too_large_to_parse_has_no_tree() -> None:
    assert parse("x = 1\n" * (MAX_BYTES // 6 + 1), "python").tree is None


def test_a_lone_surrogate_is_text() -> None:
    parsed = parse('x = "\ud800"\n', "python")
    assert parsed.to_offset(parsed.to_byte(6)) == 6


def test_a_shell_script_may_hold_any_character() -> None:
    for code in (*range(0x80, 0x3000, 7), *range(0x10000, 0x10FFFF, 997)):
        parsed = parse(f'{chr(code)}="$(echo {chr(code)})" # ${chr(code)}\n', "bash")
        assert parsed.tree
    parsed = parse('say() { echo "🎈$1" 🎈; }\nsay é\n', "bash")
    assert not parsed.broken
    start, end, _ = parsed.captures("spans", 8, 20)[0]
    assert parsed.text[start:end] == 'say() { echo "🎈$1" 🎈; }'


def test_a_replacement_makes_a_new_value() -> None:
    old = parse("x = 1\n", "python")
    assert replace(old, 4, 5, "f(2)").text == "x = f(2)\n"
    assert old.text == "x = 1\n"


def test_a_carriage_return_alone_ends_a_line() -> None:
    assert parse("def f():\r    return 1\r\rx = 1\r", "python").broken == []


def test_brackets_nested_without_end_take_no_square_of_time() -> None:
    parsed = parse("[" * 30_000 + "]" * 30_000, "json")
    started = time.monotonic()
    inner = parsed.captures("spans", 30_000, 30_000)
    path = parsed.ancestors(30_000, 30_000)
    assert time.monotonic() - started < 5
    assert inner[-1].start == 29_999
    assert [node.start_byte for node in path[:3]] == [30_000, 29_999, 29_998]
    assert path[-1] == parsed.tree.root_node

from niello.infill.context import gather
from niello.infill.parse import parse
from niello.infill.span import Span, find_span

BODY = "".join(f"    value_{n} = compute({n})\n" for n in range(400))
TEXT = f"import os\nfrom re import match\n\n\nclass A:\n    def f(self, x):\n{BODY}"


def context_at(line: int, prefix_tokens: int = 400) -> tuple[str, str]:
    offset = 0
    for _ in range(line):
        offset = TEXT.index("\n", offset) + 1
    span = Span(offset, offset, "block", "")
    context = gather(parse(TEXT, "python"), span, prefix_tokens, 100)
    return context.prefix, context.suffix


def test_prefix_and_suffix_stay_in_their_budget() -> None:
    prefix, suffix = context_at(300)
    assert len(prefix) * 10 // 32 <= 400 + 100
    assert len(suffix) * 10 // 32 <= 100
    assert suffix.endswith("\n")


def test_the_window_starts_at_the_same_line_for_a_page_of_lines() -> None:
    heads = [context_at(line)[0][:200] for line in range(300, 330)]
    assert len(set(heads)) <= 2


def test_the_suffix_stands_behind_the_same_text_for_a_page_of_lines() -> None:
    parsed = parse(TEXT, "python")
    heads = set()
    for line in range(20, 40):
        offset = len("".join(TEXT.splitlines(keepends=True)[:line]))
        context = gather(parsed, Span(offset, offset, "line", ""), 4000, 100)
        assert context.prefix == TEXT[:offset]
        heads.add(context.prefix[: context.anchor])
    assert [head.count("\n") for head in sorted(heads)] == [16, 32]


def test_what_the_window_cuts_off_is_named_in_front() -> None:
    prefix, _ = context_at(300)
    head = "import os\nfrom re import match\nclass A:\n    def f(self, x):\n"
    assert prefix.startswith(head)


def test_what_is_named_in_front_stays_while_the_text_does_not_parse() -> None:
    span = Span(len(TEXT), len(TEXT), "line", "")
    contexts = [
        gather(parse(TEXT + typed, "python"), span, 400, 100)
        for typed in ("last = 1\n", "last = (\n", '((("""\n')
    ]
    assert contexts[0].prefix.startswith("import os\n")
    assert len({context.prefix for context in contexts}) == 1


def test_the_suffix_stays_when_a_blank_line_is_typed_in() -> None:
    suffixes = set()
    for typed in ("", "    ", "    x", "    x = f("):
        parsed = parse(f"def g():\n{typed}\n    return x\n", "python")
        span = find_span(parsed, 9 + len(typed))
        suffixes.add(gather(parsed, span, 100, 100).suffix)
    assert suffixes == {"    return x\n"}


def test_a_short_file_is_seen_whole() -> None:
    parsed = parse("a = 1\r\nb = \r\n", "python")
    context = gather(parsed, find_span(parsed, 11), 100, 100)
    assert (context.prefix, context.suffix) == ("a = 1\n", "")


def test_a_line_longer_than_the_budget_is_cut() -> None:
    parsed = parse("x" * 9000, "python")
    context = gather(parsed, Span(9000, 9000, "line", ""), 100, 100)
    assert 0 < len(context.prefix) <= 512

from filling import Stub, propose_at
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from niello.infill.judge import Judge
from niello.infill.parse import parse, parse_again
from niello.infill.propose import Options, propose
from niello.infill.snapshot import Snapshot
from niello.infill.span import find_span
from niello.infill.stop import stop_rule

LANGUAGES = st.sampled_from(["python", "javascript", "c", "bash", "html", "markdown"])
CODE = st.text(
    st.sampled_from("ab x=1,;:.()[]{}\"'`#/*<>\\\n\r\t") | st.characters(), max_size=80
)
SLOW = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@SLOW
@given(st.text(max_size=200).map(lambda part: part * 40), st.integers(0, 8000))
def test_offsets_come_back_from_bytes(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    parsed = parse(text, "unknown")
    assert parsed.to_byte(offset) == len(text[:offset].encode("utf-8", "surrogatepass"))
    assert parsed.to_offset(parsed.to_byte(offset)) == offset


@SLOW
@given(CODE, CODE, CODE, LANGUAGES)
def test_a_candidate_touches_nothing_outside_its_span(
    before: str, after: str, written: str, language: str
) -> None:
    text, cursor = before + after, len(before)
    snapshot = Snapshot("file:///a", 1, language, text)
    for candidate in propose(snapshot, cursor, Stub(written), Options()):
        span = candidate.span
        assert span.start <= cursor <= span.end or text[cursor - 1 :][:2] == "\r\n"
        assert span.start == span.end
        assert candidate.text.strip()


@SLOW
@given(CODE, CODE, CODE, LANGUAGES)
def test_judging_twice_changes_nothing(
    before: str, after: str, written: str, language: str
) -> None:
    parsed, cursor = parse(before + after, language), len(before)
    span = find_span(parsed, cursor)
    n_given = span.end - span.start
    judge = Judge(parsed, span, n_given, stop_rule(parsed, span, n_given))
    once = judge.judge(written)
    if once is not None and once.fits:
        again = judge.judge(once.text[n_given:])
        assert again is not None
        assert again.text == once.text


@SLOW
@given(CODE, CODE, CODE, LANGUAGES)
def test_nothing_shown_parses_worse(
    before: str, after: str, written: str, language: str
) -> None:
    parsed = parse(before + after, language)
    for candidate in propose_at_cursor(before, after, written, language):
        span = candidate.span
        text = parsed.text[: span.start] + candidate.text + parsed.text[span.end :]
        n_broken = len(parse(text, language).broken)
        assert n_broken <= len(parse_again(parsed).broken)


def propose_at_cursor(before: str, after: str, written: str, language: str) -> list:
    snapshot = Snapshot("file:///a", 1, language, before + after)
    return propose(snapshot, len(before), Stub(written), Options())


def test_a_marked_text_is_read() -> None:
    assert propose_at("x = |\n", "python", "1")[0].text == "1"

import pytest
from filling import filled

from niello.infill.rules import cut_control


@pytest.mark.parametrize(
    "token",
    [
        *(
            "<|endoftext|>",
            "<|fim_pad|>",
            "<|mask|>",
            "<fim_middle>",
            "<EOT>",
            "[MASK]",
        ),
        *("<|fim▁hole|>", "<[fim-middle]>", "<end_of_turn>", "</s>"),
    ],
)
def test_text_ends_at_the_first_control_token(token: str) -> None:
    assert cut_control(f"x + 1{token}junk{token}", "") == "x + 1"


def test_a_token_that_the_document_spells_is_text() -> None:
    assert cut_control('"<|im_end|>"', 'a = "<|im_end|>"') == '"<|im_end|>"'


def test_struck_through_text_is_no_control_token() -> None:
    assert cut_control("<s>a</s>", "") == "<s>a</s>"
    assert cut_control("a</s>", "<p><s>") == "a</s>"


def test_operators_are_no_control_tokens() -> None:
    assert cut_control("a <| b |> c", "") == "a <| b |> c"


def test_a_fill_of_masks_gives_nothing() -> None:
    assert filled("def f():\n    return |\n", "python", "<|mask|><|mask|>") is None


@pytest.mark.parametrize(
    "written",
    [
        "let b: Box<[u8]> = v.into();",
        "const a: Array<[string]> = [];",
        "A <|--|> B",
        '<s class="x">a</s>',
    ],
)
def test_what_only_looks_like_a_control_token_stays(written: str) -> None:
    assert cut_control(written, "") == written


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        (
            "function f() {\n  |\n}\n",
            "javascript",
            "```js\n  return 1;\n```\nThis returns 1.",
            "function f() {\n  return 1;\n}\n",
        ),
        ("f() {\n  |\n}\n", "bash", "echo a\n```", "f() {\n  echo a\n}\n"),
        ("# T\n\n|\n", "markdown", "```py\nx\n```", "# T\n\n```py\nx\n```\n"),
        (
            "def f():\n    |\n    return 1\n",
            "python",
            '"""A.\n\n    ```\n    f()\n    ```\n    """',
            'def f():\n    """A.\n\n    ```\n    f()\n    ```\n    """\n    return 1\n',
        ),
    ],
)
def test_code_is_taken_out_of_the_fence_of_an_answer(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want


def test_a_fence_and_nothing_else_is_not_shown() -> None:
    assert filled("f() {\n  |\n}\n", "bash", "```") is None

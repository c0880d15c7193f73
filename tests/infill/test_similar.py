from niello.infill.similar import Source, find_similar

NEAR = "def load_config(path):\n    return parse_config(path)\n" * 8
FAR = "class Widget:\n    colour = width = height = None\n" * 8


def test_the_most_similar_stretch_is_given_with_its_file_name() -> None:
    text = "def save_config(path):\n    parse_config(path)\n    load_config(path)\n"
    found = find_similar(text, len(text), [Source("far", FAR), Source("near", NEAR)])
    assert found.startswith("near\n")
    assert "Widget" not in found


def test_typing_on_a_line_changes_nothing() -> None:
    text = NEAR + "x = load_config("
    found = [
        find_similar(text[:end], end, [Source("near", NEAR)])
        for end in range(len(NEAR), len(text))
    ]
    assert len(set(found)) == 1


def test_a_budget_is_kept() -> None:
    assert find_similar(NEAR, len(NEAR), [Source("near", NEAR)], budget=5) == ""

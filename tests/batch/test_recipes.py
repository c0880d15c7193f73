"""The shipped recipes do what their own tests say."""

import pytest

from niello.batch.recipe import Recipe, find_recipe, parse_recipe, shipped_recipes
from niello.batch.recipetest import failures
from niello.infill.errors import SettingsError

STEP = '[[step]]\npattern = "f($A)"\n'


@pytest.mark.parametrize("recipe", shipped_recipes(), ids=lambda recipe: recipe.name)
def test_a_shipped_recipe_passes_its_own_tests(recipe: Recipe) -> None:
    assert recipe.tests
    assert list(failures(recipe)) == []


def test_a_recipe_test_that_fails_gives_a_diff() -> None:
    test = '[[test]]\nlanguage = "python"\nbefore = "f(1)"\nfills = ["2"]\nafter = "3"'
    [diff] = failures(parse_recipe(STEP + test, "mine"))
    assert "-3" in diff
    assert "+2" in diff


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 'x'", "no [[step]]"),
        ("[[step]]\nquery = '(a) @fill'\npattern = 'a'", "one of query, select"),
        ("[[step]]\nlang = 'python'\npattern = 'a'", "unknown key 'lang'"),
        ("[[step]]\npattern = 'a'\nname = '('", "not a regular expression"),
        ("max_tries = 'x'\n" + STEP, "must be a int"),
        ("[[step", "Expected ']]'"),
    ],
)
def test_a_mistake_in_a_recipe_is_named(text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_recipe(text, "mine.toml")
    assert str(caught.value).startswith("mine.toml: ")
    assert message in str(caught.value)


def test_an_unknown_recipe_names_those_there_are() -> None:
    with pytest.raises(SettingsError, match="add-timeouts"):
        find_recipe("nonsense")

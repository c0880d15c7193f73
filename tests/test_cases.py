"""Every case folder as one test, given to the runner of its kind.

``NIELLO_CASES=DIR pytest tests/test_cases.py`` runs the cases of any folder. The runner
of a kind is the module ``cases_KIND`` beside this file, with ``run(case) -> None``.
"""

import importlib
import importlib.util
import tomllib
from pathlib import Path

import pytest
from cases import cases_folder, find_cases, load_case

FOLDER = cases_folder()
ORIGINALS = find_cases(FOLDER) if FOLDER else []


@pytest.mark.skipif(
    not ORIGINALS, reason="no case folders: set NIELLO_CASES to a folder of cases"
)
@pytest.mark.parametrize("original", ORIGINALS, ids=lambda path: path.name)
def test_case(original: Path, tmp_path: Path) -> None:
    kind = tomllib.loads((original / "case.toml").read_text("utf-8"))["kind"]
    module = f"cases_{kind}"
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"no runner for cases of kind {kind!r} yet (tests/{module}.py)")
    importlib.import_module(module).run(load_case(original, tmp_path))

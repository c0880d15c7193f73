"""Case folders as they are (shared/cases/FORMAT.md) as values that a runner can use.

A case is an example of a kind of fault; nothing here knows one by its id.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Texts of the default model's control tokens, for the names that cases use.
TOKENS = {
    "${EOS}": "<|endoftext|>",
    "${PAD}": "<|fim_pad|>",
    "${MASK}": "<|mask|>",
}


@dataclass(frozen=True)
class Case:
    """One case; ``folder`` is a fresh copy in which ``setup.sh`` has been run."""

    id: str
    kind: str
    folder: Path
    table: dict[str, Any]  # case.toml

    @property
    def language(self) -> str:
        return str(self.table.get("language", ""))

    @property
    def checks(self) -> list[str]:
        return list(self.table.get("check", []))

    @property
    def input(self) -> Path:
        """The file to open: what ``make_input.py`` prints where there is one."""
        path = self.folder / self.table["input"]
        maker = self.folder / "make_input.py"
        if not maker.exists():
            return path
        made = self.folder / f"big{path.suffix}"
        if not made.exists():
            with made.open("wb") as out:
                subprocess.run([sys.executable, str(maker)], stdout=out, check=True)
        return made

    @property
    def line(self) -> int:
        return int(self.table["cursor"]["line"])

    @property
    def character(self) -> int:
        return int(self.table["cursor"]["character"])

    @property
    def model_outputs(self) -> list[str]:
        """What a stub model returns, one text a span, token names resolved."""
        raw = self.table.get("model_outputs", self.table.get("model_output", ""))
        texts = [raw] if isinstance(raw, str) else list(raw)
        return [resolve_tokens(text) for text in texts]

    @property
    def expected(self) -> bytes | None:
        name = self.table.get("expected")
        return None if name is None else (self.folder / name).read_bytes()

    @property
    def accept_empty(self) -> bool:
        return bool(self.table.get("accept_empty", False))


def resolve_tokens(text: str) -> str:
    for name, token in TOKENS.items():
        text = text.replace(name, token)
    return text


def cases_folder() -> Path | None:
    """``NIELLO_CASES``, else the folder of cases beside the checkout, if any."""
    named = os.environ.get("NIELLO_CASES")
    if named:
        return Path(named)
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "cases"
    return beside if beside.is_dir() else None


def find_cases(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.rglob("case.toml"))


def load_case(original: Path, scratch: Path) -> Case:
    """Copy a case folder below ``scratch``, run its ``setup.sh`` and read it."""
    folder = scratch / original.name
    # The store of cases may be read-only; only ``setup.sh`` makes a file so.
    shutil.copytree(original, folder, symlinks=True, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    if (folder / "setup.sh").exists():
        subprocess.run(["sh", "setup.sh"], cwd=folder, check=True, timeout=60)
    table = tomllib.loads((folder / "case.toml").read_text("utf-8"))
    return Case(table["id"], table["kind"], folder, table)

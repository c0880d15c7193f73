"""Runs cases of kind ``command``: plain words become a command line, run as a process.

Words about models go to the model store (``cases_models``), all others to
`niello refactor` with a stub that writes the case's model outputs.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import cases_models
from cases import Case

from niello.grammars.catalogue import find_language, language_of
from niello.infill.parse import parse

STUB = Path(__file__).parent / "batch" / "stub_refactor.py"
SOURCE = Path(__file__).parent.parent / "src"
BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")

# Kinds of node whose everyday name is not that of the grammar.
LITERALS = {
    "integer": {
        "python": "integer",
        "javascript": "number",
        "typescript": "number",
        "tsx": "number",
        "lua": "number",
        "bash": "number",
        "kotlin": "number_literal",
        "toml": "integer",
        "yaml": "integer_scalar",
        "css": "integer_value",
        "sql": "literal",
        "java": "decimal_integer_literal",
        "go": "int_literal",
        "c": "number_literal",
        "cpp": "number_literal",
        "ruby": "integer",
        "php": "integer",
        "json": "number",
    },
    "string": {
        "python": "string",
        "javascript": "string",
        "typescript": "string",
        "tsx": "string",
        "php": "encapsed_string",
        "lua": "string",
        "scala": "string",
        "toml": "string",
        "yaml": "double_quote_scalar",
        "css": "string_value",
        "sql": "literal",
        "swift": "line_string_literal",
        "go": "interpreted_string_literal",
        "ruby": "string",
        "json": "string",
        "bash": "string",
    },
}


@dataclass
class Ran:
    """A finished command and what the folder held before it."""

    case: Case
    target: str
    before: dict[str, bytes]
    modes: dict[str, tuple[int, int]]
    output: str
    prompts: str
    status: int
    arguments: list[str] = field(default_factory=list)

    def after(self, name: str) -> bytes:
        return (self.case.folder / name).read_bytes()

    @property
    def input(self) -> str:
        return str(self.case.table["input"])


def run(case: Case) -> None:
    words = case.table["command"]
    if cases_models.handles(case):
        cases_models.run(case)
        return
    if any(check.startswith("rss_growth") for check in case.checks):
        check_memory(case, words)
        return
    again = re.search(r"repeat on a copy with mode (\d+)", words)
    copy = case.folder / f"copy{case.input.suffix}"
    if again:
        shutil.copyfile(case.input, copy)
        copy.chmod(int(again[1], 8))
    check_all(run_words(case, words))
    if again:
        check_all(run_words(case, words.replace(case.input.name, copy.name)))


def run_words(case: Case, words: str) -> Ran:
    target = target_of(case, words)
    arguments = arguments_of(case, words, target)
    names = [
        str(path.relative_to(case.folder))
        for path in sorted(case.folder.rglob("*"))
        if path.is_file() and ".git/" not in f"{path.relative_to(case.folder)}"
    ]
    before = {name: (case.folder / name).read_bytes() for name in names}
    modes = {name: mode_of(case.folder / name) for name in names}
    scratch = case.folder.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    done = start(case, words, arguments, scratch)
    prompts = scratch / "prompts"
    return Ran(
        case,
        target,
        before,
        modes,
        done.stdout + done.stderr,
        prompts.read_text("utf-8") if prompts.exists() else "",
        done.returncode,
        arguments,
    )


def start(
    case: Case, words: str, arguments: list[str], scratch: Path, **extra: object
) -> "subprocess.CompletedProcess[str]":
    plan = {
        "outputs": case.model_outputs if any(case.model_outputs) else ["pass"],
        "prompts": str(scratch / "prompts"),
        **extra,
    }
    if re.search(r"write\(\) raises (\w+)", words):
        plan["full_disk"] = True
    if "os.linesep" in words:
        plan["line_end"] = "\r\n"
    if "debug logging" in words:
        plan["debug"] = True
    (scratch / "plan.json").write_text(json.dumps(plan), "utf-8")
    environment = os.environ | {
        "PYTHONPATH": str(SOURCE),
        "NIELLO_RUNS": str(scratch / "runs"),
        "PYTHONIOENCODING": "utf-8",
        **case.table.get("env", {}),
    }
    return subprocess.run(
        [sys.executable, str(STUB), str(scratch / "plan.json"), *arguments],
        cwd=case.folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=300,
        check=False,
    )


def target_of(case: Case, words: str) -> str:
    if named := re.match(r"batch (?:--\S+ )*(?:over )?([\w./-]*[/.][\w/.-]*)", words):
        return named[1].rstrip(":,")
    if "over the folder" in words:
        return "."
    inside = re.search(r"\bin (\S+\.\w+)", words)
    return inside[1] if inside else str(case.table["input"])


def arguments_of(case: Case, words: str, target: str) -> list[str]:
    language = language_of(Path(case.table["input"])) or case.language
    known = find_language(language)
    assert known is not None, language
    selection = selection_of(known.name, words)
    if selection[1:2] == ["function.inner"] and case.model_outputs[0][:1] == "{":
        # A body that comes with its braces takes the place of one with its braces.
        selection[:2] = ["--query", "(_ body: (_) @fill)"]
    arguments = ["refactor", target, *selection]
    if "first" in words:
        arguments += ["--limit", "1"]
    if "--json" in words:
        arguments.append("--json")
    if "--dry-run" not in words:
        arguments.append("--write")
    elif not any(case.model_outputs):
        arguments.append("--list")
    return arguments


def selection_of(language: str, words: str) -> list[str]:
    """Return the options that name the places the words speak of."""
    if call := re.search(r"each call (?:statement )?of ([\w.]+)", words):
        return ["--pattern", f"{call[1]}($$$ARGUMENTS)"]
    if "value of each const" in words:
        value = "(variable_declarator value: (_) @fill)"
        return ["--query", f'(lexical_declaration "const" {value})']
    if named := re.search(r"values? of ([$\w.-]+)", words):
        name = ["--name", f"^{re.escape(named[1])}$"]
        return ["--select", "assignment.rhs", *name]
    if attribute := re.search(r"attribute value (\S+)", words):
        query = f'((attribute_value) @fill (#eq? @fill "{attribute[1]}"))'
        return ["--query", query]
    if literal := re.search(r"(integer|string) literal", words):
        kind = LITERALS[literal[1]].get(language, f"{literal[1]}_literal")
        return ["--query", f"({kind}) @fill"]
    if body := re.search(r"body of (?:method|function) (\w+)", words):
        return ["--select", "function.inner", "--name", f"^{body[1]}$"]
    if re.search(r"(?:function|method) bod(?:y|ies)", words):
        return ["--select", "function.inner"]
    if "comment" in words:
        return ["--select", "comment.outer"]
    if node := re.search(r"each ([a-z ]+?)(?: node)? (?:in|over|by)\b", words):
        return ["--query", f"({node[1].replace(' ', '_')}) @fill"]
    raise AssertionError(f"no command line for the words: {words}")


def check_all(ran: Ran) -> None:
    for check in ran.case.checks:
        name, _, value = check.partition("=")
        CHECKS[name](ran, value)
    if "read the reported end columns" in ran.case.table["command"]:
        check_columns(ran)
    assert "Traceback" not in ran.output, ran.output


def check_exact(ran: Ran, _: str) -> None:
    assert ran.after(ran.target) == ran.case.expected, ran.output


def check_parses(ran: Ran, _: str) -> None:
    text = ran.after(ran.target).decode()
    assert parse(text, language_of(Path(ran.target))).broken == []


def check_unchanged(ran: Ran, name: str) -> None:
    assert ran.after(name) == ran.before[name]
    if name != ran.input and any(ran.case.model_outputs):
        assert ran.after(ran.input) != ran.before[ran.input], ran.output


def check_unchanged_outside(ran: Ran, _: str) -> None:
    before, after = ran.before[ran.target], ran.after(ran.target)
    if after == before:
        check_message(ran, "")
        return
    new = ran.case.model_outputs[0].encode()
    assert any(
        before[: len(after[:at])] == after[:at]
        and before.endswith(after[at + len(new) :])
        for at in (found.start() for found in re.finditer(re.escape(new), after))
    )


def check_unchanged_or_same_encoding(ran: Ran, _: str) -> None:
    before, after = ran.before[ran.input], ran.after(ran.input)
    if after != before:
        bom = next(bom for bom in BOMS if before.startswith(bom))
        assert after.startswith(bom)
        encoding = "utf-8-sig" if bom == BOMS[0] else "utf-16"
        assert after.decode(encoding) != before.decode(encoding)
    assert ran.input in ran.output
    for name in ran.case.table.get("extra_files", []):
        assert ran.after(name) != ran.before[name]


def check_message(ran: Ran, _: str) -> None:
    unchanged = [c.partition("=")[2] for c in ran.case.checks if "disk_unchanged" in c]
    for name in [name for name in unchanged if name] or [ran.target]:
        assert name in ran.output
    assert ran.status != 0


def check_eol(ran: Ran, _: str) -> None:
    before, after = ran.before[ran.target], ran.after(ran.target)
    for end in (rb"\r\n", rb"(?<!\r)\n", rb"\r(?!\n)"):
        assert bool(re.search(end, before)) == bool(re.search(end, after))


def check_bom(ran: Ran, _: str) -> None:
    before, after = ran.before[ran.target], ran.after(ran.target)
    assert [before.startswith(b) for b in BOMS] == [after.startswith(b) for b in BOMS]


def check_mode(ran: Ran, _: str) -> None:
    assert mode_of(ran.case.folder / ran.target) == ran.modes[ran.target]


def mode_of(path: Path) -> tuple[int, int]:
    status = path.stat()
    return stat.S_IMODE(status.st_mode), status.st_gid


def check_log(ran: Ran, text: str) -> None:
    assert text not in ran.output
    assert text not in ran.prompts


def check_link(ran: Ran, name: str) -> None:
    assert (ran.case.folder / name).is_symlink()
    assert ran.after(name) != ran.before[name]


def check_status(ran: Ran, value: str) -> None:
    assert ran.status == int(value), ran.output


def check_no_temporary(ran: Ran, _: str) -> None:
    names = {
        str(path.relative_to(ran.case.folder))
        for path in ran.case.folder.rglob("*")
        if path.is_file()
    }
    assert names == set(ran.before)


def check_processed_or_reported(ran: Ran, name: str) -> None:
    assert ran.after(name) != ran.before[name] or name in ran.output


def check_columns(ran: Ran) -> None:
    """The columns of a JSON report count code points, whatever their bytes are."""
    text = ran.before[ran.target].decode()
    lines = re.split(r"\r\n|\n|\r", text)
    events = [json.loads(line) for line in ran.output.splitlines()]
    ends = [event["range"]["end"] for event in events if event["event"] == "target"]
    assert ends
    assert all(end["column"] == len(lines[end["line"]]) for end in ends)


def check_memory(case: Case, words: str) -> None:
    """A run over all files takes no more memory than one over the first hundred."""
    target = target_of(case, words).rstrip("/")
    scratch = case.folder.parent / "scratch"
    scratch.mkdir()
    few = case.folder / "few"
    few.mkdir()
    for path in sorted((case.folder / target).iterdir())[:100]:
        shutil.copyfile(path, few / path.name)
    peaks = []
    for folder in ("few", target):
        arguments = [a for a in arguments_of(case, words, folder) if a != "--list"]
        usage = scratch / "usage"
        done = start(case, words, arguments, scratch, usage=str(usage), prompts=None)
        assert done.returncode in (0, 1), done.stderr
        peaks.append(int(usage.read_text("utf-8")) / 1024)
    [limit] = [c for c in case.checks if c.startswith("rss_growth")]
    megabytes = re.search(r"<=(\d+)MB", limit)
    assert megabytes is not None
    assert peaks[1] - peaks[0] <= int(megabytes[1]), peaks


CHECKS = {
    "exact": check_exact,
    "parses": check_parses,
    "disk_unchanged": check_unchanged,
    "disk_unchanged_outside_span": check_unchanged_outside,
    "disk_unchanged_or_same_encoding": check_unchanged_or_same_encoding,
    "message": check_message,
    "eol_kept": check_eol,
    "bom_kept": check_bom,
    "mode_kept": check_mode,
    "log_clean": check_log,
    "is_symlink": check_link,
    "exit_code": check_status,
    "no_temp_left": check_no_temporary,
    "processed_or_reported": check_processed_or_reported,
}

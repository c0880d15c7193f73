"""Runs a benchmark's program in a process of its own and says whether it passed."""

import subprocess
import sys
import tempfile
from functools import cache

_SECONDS = 10.0


@cache
def passes(program: str) -> bool:
    """Return whether a Python program ends well within a few seconds.

    It runs isolated from the user's packages, in an empty folder, without input; that
    guards against accidents of a model's code, not against malice.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-"],
                input=_GUARD + program,
                text=True,
                cwd=folder,
                timeout=_SECONDS,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                errors="surrogatepass",
            )
        except (subprocess.TimeoutExpired, UnicodeError):
            return False
    return done.returncode == 0


# A program in an endless loop of allocation must not take the machine with it.
_GUARD = """\
try:
    import resource as _resource
    _resource.setrlimit(_resource.RLIMIT_AS, (1 << 30, 1 << 30))
except (ImportError, ValueError, OSError):
    pass
"""

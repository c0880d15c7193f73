"""Fillers that ask a server: Mercury, OpenAI-style completions, llama.cpp.

    mercury            Inception's API, key in INCEPTION_API_KEY
    mercury:MODEL      the same with another model
    openai+URL#MODEL   POST URL/completions with a suffix, key in OPENAI_API_KEY
    llama+URL          POST URL/infill of a llama.cpp server

Only the context, the given text and the numbers of a canvas are sent. A key leaves this
machine over TLS only.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from niello.infill.canvas import Canvas, Draws, Fill, Reason, StopFlag
from niello.infill.errors import RemoteError, SettingsError

from .wire import post

Json = dict[str, object]

_MERCURY = "https://api.inceptionlabs.ai/v1"
_MERCURY_MODEL = "mercury-edit-2"
_HERE = ("localhost", "127.0.0.1", "::1")
_NEVER = "<|fim_middle|>"  # Mercury stops at blank lines unless told of other ends.


class Draw(NamedTuple):
    """One draw of a canvas."""

    canvas: Canvas
    temperature: float
    seed: int


class Api(NamedTuple):
    """How a server is asked and how its answer is read."""

    path: str
    ask: Callable[[Draw], Json]
    read: Callable[[Json], tuple[str, Reason, int]]  # text, why it ended, tokens
    key_name: str = ""


class Remote:
    """A `Filler` whose model runs on a server."""

    def __init__(self, url: str, api: Api, timeout: float = 30.0) -> None:
        """Ask ``url`` + the API's path; ``timeout`` is in seconds."""
        self._url = urlsplit(url.rstrip("/") + api.path)
        self._api, self._timeout = api, timeout
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise SettingsError(f"{url} is no http or https address")

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times, one request a draw."""
        varied = draws.temperature or 0.7
        return [
            [
                self._fill(
                    Draw(
                        canvas,
                        varied if number else draws.temperature,
                        draws.seed + number,
                    ),
                    stop,
                )
                for number in range(draws.n)
            ]
            for canvas in canvases
        ]

    def _fill(self, draw: Draw, stop: StopFlag) -> Fill:
        canvas = draw.canvas
        if canvas.room == 0:
            return Fill("", 0.0, 0, "room")
        answer = self._post(self._api.ask(draw), stop)
        if answer is None:
            return Fill("", 0.0, 0, "stopped")
        try:
            text, reason, n_tokens = self._api.read(answer)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise RemoteError(
                f"{self._where} answered in a form that is not understood ({error!r})"
            ) from None
        cut = canvas.stop(canvas.given + text)
        if cut is not None:
            text, reason = text[: max(0, cut - len(canvas.given))], "span"
        return Fill(text, 0.0, 1, reason, n_tokens)

    @property
    def _where(self) -> str:
        return self._url.netloc.rpartition("@")[2]

    def _post(self, body: Json, stop: StopFlag) -> Json | None:
        """Return the server's answer, None once the flag is set."""
        content = json.dumps(body).encode()
        try:
            answer = post(self._url, content, self._headers(), self._timeout, stop)
        except TimeoutError:
            raise RemoteError(
                f"{self._where} did not answer in {self._timeout:g} seconds; "
                "try again, or give more time"
            ) from None
        except (OSError, HTTPException, ValueError) as error:
            raise RemoteError(
                f"{self._where} cannot be reached ({error}); is the server running?"
            ) from None
        return self._decode(*answer) if answer else None

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        name = self._api.key_name
        key = os.environ.get(name, "") if name else ""
        if not key:
            return headers
        if self._url.scheme != "https" and self._url.hostname not in _HERE:
            raise SettingsError(
                f"{name} is not sent to {self._where} without TLS; use https"
            )
        return {**headers, "Authorization": f"Bearer {key}"}

    def _decode(self, status: int, content: bytes) -> Json:
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        if status != 200:
            raise RemoteError(self._refusal(status, answer))
        if not isinstance(answer, dict):
            raise RemoteError(f"{self._where} answered with something other than JSON")
        return answer

    def _refusal(self, status: int, answer: object) -> str:
        """Say what an error status asks the user to do, and the server's own words."""
        said = answer.get("error") if isinstance(answer, dict) else None
        if isinstance(said, dict):
            said = said.get("message")
        words = " ".join(str(said).split())[:200] if said else "no reason given"
        advice = {
            400: "shorten the context or change the model",
            401: f"set {self._api.key_name or 'a key'} to a valid key",
            402: "look at the account there",
            404: "name another model or address",
            429: "try again later",
        }.get(status, "try again later" if status >= 500 else "check the request")
        return f"{self._where} answered {status} ({words}); {advice}"


def open_remote(name: str, timeout: float = 30.0) -> Remote | None:
    """Return the remote filler that ``name`` describes, None if it describes none."""
    kind, _, rest = name.partition("+")
    if name == "mercury" or name.startswith("mercury:"):
        model = name.partition(":")[2] or _MERCURY_MODEL
        url = os.environ.get("INCEPTION_BASE_URL", _MERCURY)
        return Remote(url, mercury(model), timeout)
    if kind == "openai" and rest:
        url, _, model = rest.partition("#")
        return Remote(url, openai(model), timeout)
    if kind == "llama" and rest:
        return Remote(rest, LLAMA, timeout)
    return None


def mercury(model: str) -> Api:
    """Return Inception's fill-in-the-middle API; it takes no temperature."""

    def ask(draw: Draw) -> Json:
        return {**_completion(model, draw), "stop": [_NEVER]}

    return Api("/fim/completions", ask, _read_choice, "INCEPTION_API_KEY")


def openai(model: str) -> Api:
    """Return the completions API with a suffix that many servers offer."""

    def ask(draw: Draw) -> Json:
        return {
            **_completion(model, draw),
            "temperature": draw.temperature,
            "seed": draw.seed,
        }

    return Api("/completions", ask, _read_choice, "OPENAI_API_KEY")


def _completion(model: str, draw: Draw) -> Json:
    canvas = draw.canvas
    context = canvas.context
    asked: Json = {
        "prompt": context.extra + context.prefix + canvas.given,
        "suffix": context.suffix,
        "max_tokens": canvas.room,
    }
    return {"model": model, **asked} if model else asked


def _read_choice(answer: Json) -> tuple[str, Reason, int]:
    choice: Any = cast(Any, answer["choices"])[0]
    usage = answer.get("usage")
    n_tokens = usage.get("completion_tokens") if isinstance(usage, Mapping) else 0
    reason: Reason = "room" if choice.get("finish_reason") == "length" else "end"
    return _text(choice["text"]), reason, int(n_tokens or 0)


def _ask_llama(draw: Draw) -> Json:
    canvas = draw.canvas
    context = canvas.context
    extra = [{"filename": "context", "text": context.extra}] if context.extra else []
    return {
        "input_prefix": context.prefix,
        "input_suffix": context.suffix,
        "input_extra": extra,
        "prompt": canvas.given,
        "n_predict": canvas.room,
        "temperature": draw.temperature,
        "seed": draw.seed,
        "cache_prompt": True,
        "stream": False,
    }


def _read_llama(answer: Json) -> tuple[str, Reason, int]:
    limited = answer.get("stop_type") == "limit" or answer.get("stopped_limit")
    n_tokens: Any = answer.get("tokens_predicted")
    return _text(answer["content"]), "room" if limited else "end", int(n_tokens or 0)


LLAMA = Api("/infill", _ask_llama, _read_llama)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("the text is no string")
    return value

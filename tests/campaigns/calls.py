"""Ctrl-C at a certain call: what a function that lasts calls in Python is counted, and interrupted at one of these.

CasADi calls Python back, to see how an argument could be converted, and clears what is raised there: a Ctrl-C that
comes just then is lost, unless the function raises it again. No clock would hit these moments as often.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from tests.campaigns.attempt import Attempt, Outcome
from tests.campaigns.garbage import HEAD, Door, arguments, doors, expression, lasts, parameters
from tests.campaigns.worker import Worker

Call = Callable[[], Any]
WORKER = Worker("tests.campaigns.calls", seconds=120.0)


def attempt(rng: np.random.Generator) -> Attempt:
    """One public function or method that lasts, interrupted at a random one of the calls it makes."""
    names = [door.name for door in doors() if lasts(door)]
    name, share = names[rng.integers(len(names))], round(float(rng.random()), 5)
    room = name.split(".")[1]
    kind = room if name.count(".") > 1 and room.islower() else "co"
    snippet = f"from tests.campaigns.calls import interrupted\nprint(interrupted({name!r}, {share}))"
    answer = WORKER.ask({"name": name, "share": share})
    if isinstance(answer, str):
        return Attempt(kind, Outcome(answer), snippet, answer)
    return Attempt(kind, Outcome.SWALLOWED_INTERRUPT if answer["what"] else Outcome.FINE, snippet, answer["what"])


def interrupted(name: str, share: float) -> str:
    """Mistakes in how an entry point answers to Ctrl-C at that share of the calls it makes; empty if nothing is."""
    door = next(door for door in doors() if door.name == name)
    names: dict[str, Any] = {}
    exec(HEAD, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = _count(_prepared(door, names))
        except Exception:
            return ""  # there is no sample of a right call; what is raw is for `garbage`
        return _judged(_prepared(door, names), int(share * made))


def _prepared(door: Door, names: dict[str, Any]) -> Call:
    """A right call of an entry point, its arguments and its object made."""
    from tests.campaigns.samples import INSTANCES

    function, given = door.call, arguments(door)
    if door.method:
        owner, _, method = door.name.rpartition(".")
        kind = next((other for other in doors() if other.name == owner), None)
        made = INSTANCES.get(owner) or (kind and expression(kind, arguments(kind)))
        function = getattr(eval(str(made), names), method)
    placed, named = [], {}
    for p in parameters(door):
        if p.name in given and p.kind is p.VAR_POSITIONAL:
            placed += eval(f"[{given[p.name]}]", names)
        elif p.name in given and p.kind is p.POSITIONAL_ONLY:
            placed.append(eval(given[p.name], names))
        elif p.name in given:
            named[p.name] = eval(given[p.name], names)
    return lambda: function(*placed, **named)


def _count(call: Call) -> int:
    """Number of the calls in Python that a call makes."""
    made = 0

    def counting(frame: FrameType, event: str, _: Any) -> None:
        nonlocal made
        made += event == "call"

    sys.setprofile(counting)
    try:
        call()
    finally:
        sys.setprofile(None)
    return made


def _judged(call: Call, at: int) -> str:
    """How a call ends that is interrupted within the call of that number; empty if as it should."""
    import colloc as co

    made, place = 0, ""

    def firing(frame: FrameType, event: str, _: Any) -> None:
        nonlocal made, place
        made += event == "call"
        if made > at and not place:
            place = f"in {frame.f_code.co_name} of {frame.f_code.co_filename}, line {frame.f_lineno}"
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.setprofile(firing)
        ended = call()
        sys.setprofile(None)
        reported = not place or getattr(ended, "status", None) == co.solver.Status.INTERRUPTED
        reported = reported or getattr(ended, "interrupted", False)
        what = "" if reported else f"nothing reports it: {place}"
    except KeyboardInterrupt:
        what = ""
    except Exception as error:
        what = f"{type(error).__name__}: {error}, {place}"
    finally:
        sys.setprofile(None)
        left = signal.signal(signal.SIGINT, before)
    return what if left is signal.default_int_handler else f"the handler of Ctrl-C was not put back: {place}"


def serve() -> None:
    """Answer requests, one JSON line each, from standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what calls print is no answer
    with tempfile.TemporaryDirectory(prefix="colloc_calls_") as folder:
        os.chdir(folder)
        for line in sys.stdin:
            answers.write(json.dumps({"what": interrupted(**json.loads(line))}) + "\n")
            answers.flush()


if __name__ == "__main__":
    serve()

"""Garbage for every public name: one argument at a time replaced, all others right.

The names are found by introspection: what is new and public is tried without being listed anywhere. An InputError or a
SolveError is a fine answer, as is a result where the argument is legal; any other exception, and a result from what
cannot be legal, are not.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from colloc.curves import Transcription
from colloc.problem import Part, Surface
from colloc.solver import Solver
from tests.campaigns.attempt import Attempt, Outcome
from tests.campaigns.worker import Worker

_LONGEST = 2_000  # characters of a message
HEAD = "from tests.campaigns.samples import *"

# Kind of garbage: expressions, and whether a parameter that takes anything of the kind is in error.
GARBAGE: dict[str, tuple[tuple[str, ...], bool]] = {
    "None": (("None",), False),
    "wrong type": (("3.5", "7", "'text'", "print", "co", "np.ones(2)", "{'a': 1}", "[]", "()", "''"), False),
    "object": (("object()", "[object()]", "type('A', (), {})()"), True),
    "ragged": (("[[1, 2], [3]]", "[1, [2, 3], 4]", "[[[1]], 2]"), True),
    "unhashable": (("[1]", "{'a': []}", "[[]]", "{}"), False),
    "huge": (("10**400", "[10**400]", "-(10**400)", "{0: 10**400}"), True),
    "generator": (("(k for k in 'ab')", "iter([object()])", "(k for k in ())"), False),
    "masked": (("np.ma.masked_array([1.0, 2.0], [True, False])", "np.ma.masked_array(np.ones(3), True)"), True),
    "object array": (("np.array([None, 'a'], dtype=object)", "np.array([object()] * 3)", "np.array(None)"), True),
    "set": (("{1.0, 2.0}", "frozenset((1.0, 2.0, 3.0))", "set()"), True),
    "bytes": (("b'ab'", "bytearray(b'abc')", "memoryview(b'ab')"), True),
    "bool array": (("np.array([True, False])", "np.ones((2, 2), dtype=bool)", "np.bool_(True)"), False),
    "not finite": (("np.nan", "np.inf", "-np.inf", "[np.nan, 0.0]", "np.full(3, np.nan)", "ca.DM(np.nan)"), False),
    "surrogate": (("'\\ud800'", "['\\udfff']", "{'\\ud800': 1.0}"), True),
    "dollar": (("'$x_{$'", "'$'", "'a\\0b'", "'\\n'"), False),
    "complex": (("1j", "[1j, 2.0]", "np.ones(2) * 1j"), True),
    "shape": (("np.ones(7)", "np.ones((3, 5))", "np.zeros((2, 0))", "ca.SX.sym('w', 5, 3)"), False),
    "symbol": (("ca.SX.sym('w')", "ca.MX.sym('w', 2)", "[ca.SX.sym('w')]", "ca.SX(2, 2)"), False),
    "number": (("0", "-1", "1e300", "-1e-300", "2**63", "np.float32(1)", "np.int8(-3)", "True"), False),
    "long": (("[1.0] * 1_000", "['a'] * 10_000", "10**5_000", "np.zeros(900)", "{'a': [0] * 10_000}"), False),
    "no mechanism": (("co.Model.empty()",), False),
    "date": (("np.datetime64('2020')", "np.array([1], dtype='m8[s]')"), True),
}  # fmt: skip


# Interfaces for authors of curves, parts, statements, steps and solvers; nobody else calls them.
_EXTENSIONS = (
    "co.curves.Points", "co.curves.Transcription", "co.problem.Ends", "co.problem.Part", "co.problem.Statement",
    "co.problem.Surface", "co.problem.TimePoint", "co.problem.Window", "co.refinement.Attempt",
    "co.refinement.PlanStep", "co.solver.Nlpsol", "co.solver.PreparedSolver", "co.solver.Solver",
)  # fmt: skip
# Results of solves and readers, which nobody else makes.
_RETURNED = ("co.Solution", "co.solution.PhasesSolution", "co.formats.Reading", "co.control.Receding")
_ASKED = {
    name for protocol in (Transcription, Solver, Part, Surface, Executor) for name in vars(protocol) if name[0] != "_"
}


class Door(NamedTuple):
    """A public function, class or method: its name from `co` on, and itself."""

    name: str
    call: Callable[..., Any]
    method: bool = False


@cache
def doors() -> tuple[Door, ...]:
    """Every public callable of the library."""
    import colloc as co

    everything = list(_doors_of("co", co, co.__all__))
    for package, names in co._PACKAGES.items():
        if package not in co.__all__:
            everything += _doors_of(f"co.{package}", getattr(co, package), names.split())
    return tuple(everything)


def lasts(door: Door) -> bool:
    """Whether an entry point is one of those that Ctrl-C ends: functions, and classes to be made, that take a while."""
    made = [getattr(door.call, name, None) for name in ("__init__", "__post_init__")]
    return any(hasattr(function, "tracked") for function in (door.call, *made))


def _doors_of(prefix: str, module: ModuleType, names: Iterable[str] = ()) -> Iterator[Door]:
    defined = [n for n, v in vars(module).items() if n[0] != "_" and getattr(v, "__module__", "") == module.__name__]
    for name in names or getattr(module, "__all__", defined):
        thing = getattr(module, name)
        if f"{prefix}.{name}" in _EXTENSIONS:
            continue
        if isinstance(thing, ModuleType):
            yield from _doors_of(f"{prefix}.{name}", thing)
            continue
        if not (inspect.isfunction(thing) or inspect.isclass(thing)):
            continue
        if inspect.isclass(thing):
            if issubclass(thing, Exception | Enum):
                continue
            for key, member in _members(thing).items():
                if key in _ASKED:
                    continue
                if key[0] != "_" and inspect.isfunction(member):
                    yield Door(f"{prefix}.{name}.{key}", member, method=True)
                elif key[0] != "_" and isinstance(member, classmethod | staticmethod):
                    yield Door(f"{prefix}.{name}.{key}", getattr(thing, key))
            if not _is_record(thing) and f"{prefix}.{name}" not in _RETURNED:
                yield Door(f"{prefix}.{name}", thing)
        else:
            yield Door(f"{prefix}.{name}", thing)


def _members(kind: type) -> dict[str, Any]:
    """Members of a class, and of the library's classes from which it is derived."""
    ours = [base for base in reversed(kind.__mro__) if base.__module__.startswith("colloc.")]
    return {key: member for base in ours for key, member in vars(base).items()}


def _is_record(kind: type) -> bool:
    """Whether a class only keeps what it is given, as results do: named tuples, and dataclasses that check nothing."""
    return issubclass(kind, tuple) or (is_dataclass(kind) and not hasattr(kind, "__post_init__"))


def parameters(door: Door) -> list[inspect.Parameter]:
    """Parameters of an entry point, by name or by place."""
    own = list(inspect.signature(door.call).parameters.values())[1 if door.method else 0 :]
    return [p for p in own if p.kind not in (p.VAR_KEYWORD,)]


def arguments(door: Door) -> dict[str, str]:
    """Expressions of arguments that are right: those needed, and those for which there is a sample."""
    from tests.campaigns.samples import BY_NAME, OWN

    own, found = OWN.get(door.name, {}), {}
    for p in parameters(door):
        if p.name in own:
            found[p.name] = own[p.name]
        elif p.default is p.empty:
            found[p.name] = BY_NAME.get(p.name, "None")
    return found


def expression(door: Door, given: dict[str, str]) -> str:
    """The call as it is written."""
    from tests.campaigns.samples import INSTANCES

    name = door.name
    if door.method:
        owner, _, method = name.rpartition(".")
        made = INSTANCES.get(owner)
        if made is None:
            kind = next(other for other in doors() if other.name == owner)
            made = expression(kind, arguments(kind))
        name = f"{made}.{method}"
    by_place = [k for k, p in enumerate(parameters(door)) if p.kind in (p.VAR_POSITIONAL, p.POSITIONAL_ONLY)]
    spread = {p.name for p in parameters(door)[: by_place[-1] + 1]} if by_place else set()
    listed = [value if key in spread else f"{key}={value}" for key, value in given.items()]
    return f"{name}({', '.join(listed)})"


WORKER = Worker("tests.campaigns.garbage", seconds=60.0)


def attempt(rng: np.random.Generator) -> Attempt:
    """One entry point, one of its parameters, one piece of garbage."""
    choices = [door for door in doors() if parameters(door)]
    door = choices[rng.integers(len(choices))]
    kind = list(GARBAGE)[rng.integers(len(GARBAGE))]
    parameter = parameters(door)[rng.integers(len(parameters(door)))]
    pieces, never = GARBAGE[kind]
    piece, given = pieces[rng.integers(len(pieces))], arguments(door)
    inside = rng.random() < 0.5 and given.get(parameter.name, "").startswith("{'")
    given[parameter.name] = _in_place_of_first(given[parameter.name], piece) if inside else piece
    tolerant = inside or _takes_none(door, parameter, piece)
    return judged(kind, expression(door, given), never=never and parameter.name != "seed", tolerant=tolerant)


def _in_place_of_first(mapping: str, piece: str) -> str:
    """A mapping as it is written, its first value another."""
    written = ast.parse(mapping, mode="eval")
    assert isinstance(written.body, ast.Dict)
    written.body.values[0] = ast.parse(piece, mode="eval").body
    return ast.unparse(written)


def _takes_none(door: Door, parameter: inspect.Parameter, piece: str) -> bool:
    """Whether a parameter given None may be accepted; anything else may, as far as this goes."""
    lines = (inspect.getdoc(door.call) or "").splitlines()
    after = lines[next((k for k, line in enumerate(lines) if line.startswith(f"{parameter.name} :")), -1) + 1 :]
    said = bool(after) and after[0].strip().startswith("None,")
    return piece != "None" or parameter.default is None or "None" in str(parameter.annotation) or said


def judged(kind: str, call: str, *, never: bool, tolerant: bool) -> Attempt:
    """How a call ended."""
    snippet = f"{HEAD}\nprint({call})"
    answer = WORKER.ask({"call": call})
    if isinstance(answer, str):
        return Attempt(kind, Outcome(answer), snippet, answer)
    if answer["raised"] == "input" and answer["length"] > _LONGEST:
        return Attempt(kind, Outcome.NONSENSE, snippet, f"a message of {answer['length']} characters")
    if answer["raised"] == "input":
        return Attempt(kind, Outcome.FINE, snippet)
    if answer["raised"]:
        return Attempt(kind, Outcome.RAW_TRACEBACK, snippet, answer["what"])
    if never or not tolerant:
        return Attempt(kind, Outcome.NONSENSE, snippet, f"accepted: {answer['what']}")
    if answer["nan"] and kind != "number":  # what is too large may overflow
        return Attempt(kind, Outcome.NONSENSE, snippet, f"not a number: {answer['what']}")
    return Attempt(kind, Outcome.FINE, snippet)


def _holds_nan(value: Any) -> bool:
    """Whether a number of a result is none."""
    if isinstance(value, tuple | list):
        return any(map(_holds_nan, value))
    array = value if isinstance(value, np.ndarray) else np.asarray(value) if isinstance(value, float) else None
    return array is not None and array.dtype.kind == "f" and bool(np.isnan(array).any())


def _answer(call: str, names: dict[str, Any]) -> dict[str, Any]:
    import colloc as co

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = eval(call, names)
            shown = repr(value)
    except (co.InputError, co.SolveError) as error:
        return {"raised": "input", "length": len(str(error))}
    except BaseException as error:
        if ("<string>", "<lambda>") in [frame[::2] for frame in traceback.extract_tb(error.__traceback__)]:
            return {"raised": "input", "length": 0}  # by the user's function
        return {"raised": "raw", "what": traceback.format_exc()[-1500:]}
    return {"raised": "", "what": shown[:200], "nan": _holds_nan(value)}


def serve() -> None:
    """Answer calls, one JSON line each, from standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what calls print is no answer
    names: dict[str, Any] = {}
    exec(HEAD, names)
    os.chdir(names["FOLDER"])  # where files with garbage for a name are written
    for line in sys.stdin:
        answers.write(json.dumps(_answer(json.loads(line)["call"], names)) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()

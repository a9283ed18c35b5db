"""Users' functions, called with symbols: errors in them, reported in the terms of a problem."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.support.checks import InputError, is_masked_array, quoted, warn

_FUNCTIONS = "ca.sin, ca.sqrt, ca.fabs, ca.sumsqr, ca.dot, ca.norm_2"
_NAN = f"contains nan: functions of math and float() take no symbols; use CasADi's, {_FUNCTIONS}"
_COMPARISONS = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR)
# Values that CasADi reads as other numbers than their author means.
_DISORDERED = (Set, Iterator, bytes, bytearray, memoryview)
# Messages of errors, mostly CasADi's, and advice for each.
_ADVICE = (
    (
        r"Cannot compute the truth value",
        "asks whether symbols are true, and they have no values yet: in place of if, and, or, max and a < b < c use "
        "ca.if_else(condition, a, b), ca.logic_and and ca.fmax",
    ),
    (
        r"CasADi matrices are not iterable",
        "runs through symbols by for, sum or unpacking: use ca.vertsplit(now.q), ca.sum1(now.tau) or "
        "ca.sumsqr(now.tau)",
    ),
    (
        r"Matrix product with incompatible|dot: Dimension mismatch",
        "multiplies symbols that do not fit, as @ is the matrix product and now.q a column: use ca.dot(a, b), "
        "ca.sumsqr(a) or a.T @ b",
    ),
    (r"SX_get'(?s:.*)'\(SX,bool,str\)'", "takes a component by name, where they are numbered: {joints}"),
    (
        r"'SX' object is not callable",
        "calls symbols: components are in square brackets and counted from 0, as in now.q[0]",
    ),
    (r"out of bounds with supplied length", "takes a component that does not exist: {joints}"),
    (r"must be finite, got .*nan", _NAN),
    (r"'SX' object has no attribute", f"asks symbols for what only arrays have: use CasADi's functions, {_FUNCTIONS}"),
)
_SOMEWHERE = ca.DM(0.5)
_NUMPY = r"\s*casadi: a numpy function was called"
_one_at_a_time = threading.RLock()  # the filters of warnings are those of the process


@contextmanager
def error_context(what: str, joints: Sequence[str] = ()) -> Iterator[None]:
    """A context in which errors of a user's function name its cost or constraint, with advice where there is some.

    Joints are named in the order of q. An error of CasADi's for which there is advice becomes an InputError.
    """
    try:
        with _in_one_line(what):
            yield
    except Exception as error:
        for pattern, advice in _ADVICE:
            if re.search(pattern, str(error)):
                order = ", ".join(f"{k} is {name}" for k, name in enumerate(joints))
                said = advice.format(joints=f"of q, qd, qdd and tau {order}" if order else "0 is the first")
                raise InputError(f"the function of {what} {said}") from error
        error.add_note(f"while evaluating the function of {what}")
        raise


@contextmanager
def _in_one_line(what: str) -> Iterator[None]:
    """A context that replaces CasADi's long warning of NumPy functions of symbols by one line; others pass."""
    with _one_at_a_time:
        with warnings.catch_warnings(record=True) as caught:
            warnings.filterwarnings("always", _NUMPY, FutureWarning)
            yield
        numpy = [w for w in caught if re.match(_NUMPY, str(w.message))]
        for w in caught:
            if w not in numpy:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno, source=w.source)
        if numpy:
            warn(f"the function of {what} calls NumPy on symbols: use CasADi's functions, {_FUNCTIONS}")


def check_returned(what: str, value: Any) -> Any:
    """The value of a user's function; InputError for a whole motion, reaction or wrench, a comparison, and collections
    without an order or with masked entries.
    """
    if isinstance(value, _DISORDERED) or is_masked_array(value):
        raise InputError(f"{what} must return an SX, a number or a list of them, got {quoted(value)}")
    if names := getattr(type(value), "__match_args__", ()):  # of named tuples and dataclasses
        kind = type(value).__name__
        article = "an" if kind[0] in "AEIOU" else "a"
        parts = " or ".join(f".{name}" for name in names)
        raise InputError(f"{what} must return one quantity, got {article} {kind}: take {parts}")
    for part in value if isinstance(value, list | tuple) else [value]:
        if isinstance(part, ca.SX) and any(_compares(part.nz[k]) for k in range(part.nnz())):
            raise InputError(
                f"{what} returns a comparison, {part}, which is 0 or 1: return what is compared, and state its bounds "
                "by lower=, upper= or equals="
            )
    return value


def _compares(entry: ca.SX) -> bool:
    return not entry.is_constant() and not entry.is_symbolic() and entry.op() in _COMPARISONS


def check_numbers(what: str, function: ca.Function) -> None:
    """InputError for an SX function with a constant that is NaN, such as math.sin of a symbol."""
    # Where none is, a first look is enough: it goes into the result.
    results = function.call([_SOMEWHERE] * function.n_in())
    if not any(np.isnan(value.nonzeros()).any() for value in results):
        return
    constants = (k for k in range(function.n_instructions()) if function.instruction_id(k) == ca.OP_CONST)
    if any(np.isnan(function.instruction_constant(k)) for k in constants):
        raise InputError(f"the function of {what} {_NAN}")


class UserFunction(NamedTuple):
    """A user's function with its expression."""

    name: str
    fn: Any
    expression: ca.SX
    where: Any  # times at which it holds; of a cost whether it is final


def check_loops(what: str, functions: Sequence[UserFunction]) -> None:
    """InputWarning for equal functions made by one line of code, as in a loop with a late-bound variable."""
    seen: dict[tuple[Any, Any], list[UserFunction]] = {}
    for item in functions:
        code = getattr(item.fn, "__code__", None)
        of_this_code = seen.setdefault((code, item.where), [])
        for earlier in of_this_code if code is not None else []:
            if item.fn is not earlier.fn and _same(item.expression, earlier.expression):
                warn(
                    f"{what}s {earlier.name!r} and {item.name!r} are the same: a function made in a loop sees the last "
                    "value of the loop's variable; pass it as a default, as in lambda now, k=k: now.q[k]"
                )
                return
        of_this_code.append(item)


def _same(a: ca.SX, b: ca.SX) -> bool:
    return a.shape == b.shape and ca.is_equal(ca.densify(a), ca.densify(b), 100)


def missing_call_hint(value: object) -> str:
    """Advice for a function in place of its result; empty for objects that cannot be called."""
    name = getattr(value, "__name__", "<lambda>")
    if not callable(value) or name == "<lambda>":
        return "; hand functions of the instant to co.integral" if callable(value) else ""
    return f"; call it: {name}()"

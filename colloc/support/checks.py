"""Validation of arguments, once where an object is made, and the errors for illegal ones."""

from __future__ import annotations

import math
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from numbers import Real
from types import UnionType
from typing import Any, TypeVar

import casadi as ca
import numpy as np

_TURN = 2 * math.pi + 1e-6  # rad
_WAYS_IN = ("colloc", "contextlib", "dataclasses")  # as in dataclasses.replace
_LARGEST = 2**31  # of an integer that counts something
_LONG = 400  # characters of a value in a message
_ENTRIES = 100  # of a matrix that is written entry by entry
_SEVERAL = 100  # characters of a value that is written in several lines
# Words that other books and libraries have for the same; the first that is legal is what was meant.
_SYNONYMS = (
    ("tau", "torque", "torques", "moment", "force", "effort", "u", "control", "controls"),
    ("q", "position", "positions", "angle", "angles", "pos", "theta"),
    ("qd", "velocity", "velocities", "vel", "speed", "dq", "qdot"),
    ("qdd", "acceleration", "accelerations", "acc", "ddq", "qddot"),
    ("t", "time", "times"),
    ("duration", "final_time", "tf", "horizon", "time"),
    ("seconds", "timeout", "time_limit", "max_time"),
    ("minimize", "minimise", "cost", "costs", "objective"),
    ("subject_to", "constraints", "constraint"),
    ("guess", "initial_guess", "x0", "start"),
    ("equals", "equal", "eq", "value"),
    ("lower", "lb", "min", "minimum"),
    ("upper", "ub", "max", "maximum"),
    ("tol", "tolerance", "eps"),
    ("com", "center_of_mass", "centre_of_mass", "cog"),
    ("curve", "method", "transcription"),
    ("rate", "ode", "derivative"),
    ("degree", "order"),
    ("passive", "damping", "stiffness", "armature", "friction"),
    ("intervals", "n", "segments", "elements"),
)
# Iterables without an order, or that are one value.
_NO_LISTS = str | bytes | bytearray | memoryview | set | frozenset | Mapping | ca.SX | ca.DM | ca.MX

T = TypeVar("T", bound=Callable[..., Any])


class InputError(ValueError):
    """An argument that cannot be used; the message quotes the argument, its value and the legal values.

    Examples
    --------
    >>> co.BSpline(degree=2, intervals=10)
    Traceback (most recent call last):
        ...
    colloc.support.checks.InputError: BSpline degree must be an integer >= 3, got 2
    """

    def _render_traceback_(self) -> list[str]:
        """Lines that IPython shows."""
        return frames_of_users(self)


class InputWarning(UserWarning):
    """A legal argument that is probably a mistake; the message says why.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("error", co.support.InputWarning)
    >>> co.dh_revolute(a=0.4, alpha=90.0)
    Traceback (most recent call last):
    colloc.support.checks.InputWarning: DH alpha is 90 rad, more than a turn: degrees? ...
    """


def frames_of_users(error: Exception) -> list[str]:
    """Lines of a traceback without the frames of this package and of IPython, then the message."""
    frames = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not _inside(name := frame.f_globals.get("__name__", "")) and name.partition(".")[0] != "IPython"
    ]
    lines = traceback.StackSummary.extract(iter(frames)).format()
    return [*(line.rstrip() for line in lines), f"{type(error).__name__}: {error}"]


def warn(message: str, kind: type[Warning] = InputWarning) -> None:
    """Issue a warning that points at the first line outside this package."""
    frame, level = sys._getframe(), 1
    while frame is not None and _inside(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)


def _inside(module: str) -> bool:
    """Whether a module belongs to this package, or to one through which users call it; studies do not."""
    return module.partition(".")[0] in _WAYS_IN and not module.startswith("colloc.studies")


def spelt(fn: T) -> T:
    """Let a function or class raise an InputError with suggestions, in place of a TypeError, for unknown arguments."""
    if isinstance(fn, type):
        cls: Any = fn
        cls.__init__ = _spelt(fn.__name__, cls.__init__, 1)
        return cls
    checked: Any = _spelt(getattr(fn, "__name__", ""), fn, 0)
    return checked


def _spelt(name: str, fn: Callable[..., Any], first: int) -> Callable[..., Any]:
    """Check the call of a function, whose first arguments Python supplies."""
    forms: list[Signature] = []  # once it is called: a process calls few of all functions

    @wraps(fn)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not forms:
            forms.append(signature(fn))
        form = forms[0]
        try:
            form.bind(*args, **kwargs)
        except TypeError as error:
            legal = form.replace(parameters=list(form.parameters.values())[first:])
            raise _misfit(name, legal, kwargs, error) from None
        return fn(*args, **kwargs)

    return checked


def _misfit(name: str, form: Signature, keywords: Mapping[str, Any], error: TypeError) -> InputError:
    """The error for a call that does not fit the signature."""
    for word in keywords:
        if word not in form.parameters:
            return unknown_name(f"argument of {name}", word, form.parameters)
    words = []
    for word, parameter in form.parameters.items():
        if parameter.kind is Parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        words.append(word if parameter.default is Parameter.empty else f"{word}=...")
    by_name = ", what follows * by its name" if "*" in words else ""
    return InputError(f"{name} is called as {name}({shortened(words, 12)}){by_name}: {error}")


def unknown_name(what: str, name: object, legal: Iterable[str]) -> InputError:
    """The error for an unknown name: quotes it, suggests a similar one, lists the legal ones."""
    from difflib import get_close_matches  # few calls are wrong

    legal = list(dict.fromkeys(legal))
    by_lower, word = {entry.lower(): entry for entry in legal}, str(name).lower()
    synonyms = [synonym for group in _SYNONYMS if word in group for synonym in group if synonym in by_lower]
    close = [by_lower[match] for match in synonyms[:1] or get_close_matches(word, by_lower, n=3)]
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    if close and len(legal) > 20:
        return InputError(f"no {what} named {name!r}{hint}")
    return InputError(f"no {what} named {name!r}{hint} (known: {shortened(legal) or 'none'})")


def quoted(value: Any) -> str:
    """A value for a message, in one line; long ones are shortened in the middle, tables at the end."""
    try:
        written = _matrix_text(value) if isinstance(value, ca.SX | ca.DM) else repr(value)
    except Exception:  # as of integers with thousands of digits
        written = object.__repr__(value)
    if "\n" in written:
        written = re.sub(r"\s*\n\s*", " ", written)
        return written if len(written) <= _SEVERAL else f"{written[:_SEVERAL]} ..."
    return written if len(written) <= _LONG else f"{written[: _LONG // 2]} ... {written[-_LONG // 4 :]}"


def _matrix_text(matrix: ca.SX | ca.DM) -> str:
    """A CasADi matrix by its entries, without names of common subexpressions: "SX([[1, 0], [0, nan]])"."""
    if matrix.numel() > _ENTRIES:
        return repr(matrix)
    whole: Any = ca.densify(matrix)
    rows = [f"[{', '.join(str(whole[i, j]) for j in range(whole.shape[1]))}]" for i in range(whole.shape[0])]
    return (
        f"{type(matrix).__name__}([{', '.join(rows)}])" if matrix.numel() != 1 else f"{type(matrix).__name__}({whole})"
    )


def shortened(names: Sequence[str], most: int = 20) -> str:
    """Names for a message, shortened to a readable number."""
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def instance(name: str, value: Any, kind: type | UnionType, how: str = "") -> Any:
    """The value, of a type or one of several."""
    if not isinstance(value, kind):
        kinds = kind.__args__ if isinstance(kind, UnionType) else (kind,)
        wanted = " or ".join(kind.__name__ for kind in kinds)
        part = next((kind for kind in kinds if isinstance(getattr(value, kind.__name__.lower(), None), kind)), None)
        hint = "" if part is None else f"; give its .{part.__name__.lower()}"
        article = "an" if wanted.startswith((*"AEIO", "NLP")) else "a"
        raise InputError(f"{name} must be {article} {wanted}{f' ({how})' if how else ''}, got {quoted(value)}{hint}")
    return value


def text(name: str, value: Any) -> str:
    """A non-empty string that can be written to a file."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{name} must be a non-empty string, got {quoted(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} must be text without half a surrogate pair, got {quoted(value)}") from None
    return value


def choice(name: str, value: Any, legal: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in legal:
        words = " or ".join(f'"{word}"' for word in legal)
        raise InputError(f"{name} must be {words}, got {quoted(value)}")
    return value


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {quoted(value)}")
    return bool(value)


def function(name: str, value: Any, what: str, *arguments: str, keywords: bool = False) -> Any:
    """A callable; with arguments of these names, positional or by keyword, if any are given."""
    if not callable(value):
        raise InputError(f"{name} needs {what}, got {quoted(value)}")
    if not arguments:
        return value
    try:
        form = signature(value)
    except (TypeError, ValueError):
        return value  # of what is written in C nobody knows
    try:
        form.bind(**dict.fromkeys(arguments)) if keywords else form.bind(*arguments)
    except TypeError as error:
        title = getattr(value, "__name__", repr(value))
        called = ", ".join(f"{argument}=..." if keywords else argument for argument in arguments)
        raise InputError(f"{name} needs {what}, called with ({called}), got {title}{form}: {error}") from None
    return value


def mapping(name: str, value: Any) -> Mapping[Any, Any]:
    """A mapping, empty for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a mapping, got {quoted(value)}")
    return value


def finite_array(name: str, value: Any, shape: tuple[int | None, ...] | None = None) -> np.ndarray:
    """Float array of exactly `shape`, every entry finite; a scalar fills a vector.

    None stands for any size, or any shape.
    """
    array = float_array(name, value, shape)
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, got {quoted(value)}")
    return array


def vector(name: str, value: Any, size: int) -> np.ndarray:
    """Finite floats, shape (size,); a scalar is illegal."""
    if _numbers(name, value, (size,)).ndim == 0:
        raise InputError(f"{name} must be a vector of shape ({size},), got {quoted(value)}")
    return finite_array(name, value, (size,))


def float_array(name: str, value: Any, shape: tuple[int | None, ...] | None = None) -> np.ndarray:
    """Float array as in `finite_array`, whose entries may be infinite or NaN."""
    array = _numbers(name, value, shape)
    if shape is None:
        return array
    if array.ndim == 0 and len(shape) == 1 and shape[0] is not None:
        array = np.full(shape[0], float(array))
    if array.ndim != len(shape) or any(
        size not in (None, width) for size, width in zip(shape, array.shape, strict=True)
    ):
        raise InputError(f"{name} must have shape {_dimensions(shape)}, got shape {array.shape}: {quoted(value)}")
    return array


def _numbers(name: str, value: Any, shape: tuple[int | None, ...] | None) -> np.ndarray:
    """Floats from real numbers in any container; text, bytes and booleans are not numbers."""
    wanted = "numbers" if shape is None else f"numbers of shape {_dimensions(shape)}"
    try:
        raw = np.asanyarray(None if isinstance(value, bytes | bytearray | memoryview) else value)
        real = raw.dtype.kind in "iuf" or (raw.dtype.kind == "O" and all(map(_is_real, raw.ravel())))
        array = np.array(raw, dtype=float) if real or raw.size == 0 else None
    except (TypeError, ValueError, NotImplementedError, OverflowError, RuntimeError):  # ragged, symbols, 10**400
        array = None
    if array is None or (is_masked_array(raw) and np.ma.is_masked(raw)):
        raise InputError(f"{name} must be {wanted}, got {quoted(value)}{_hint(value)}")
    return array


def is_masked_array(value: object) -> bool:
    """Whether a value is a masked array."""
    # NumPy loads masked arrays where they are first named, which takes longer than a small model.
    return "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray)


def _hint(value: Any) -> str:
    """The advice for a symbol in place of a number."""
    items = value if isinstance(value, list | tuple) else [value]
    if not any(isinstance(item, ca.SX | ca.MX) or isinstance(getattr(item, "symbol", None), ca.SX) for item in items):
        return ""
    return (
        "; a symbol or parameter has no value yet: it belongs in functions of the instant, "
        "as in co.path(lambda now: now.q[0] - now.goal, equals=0) or co.at"
    )


def angles(name: str, value: Any, turns: int = 1) -> None:
    """InputWarning for angles of more than some turns, which may be degrees: numbers, or expressions that are."""
    if isinstance(value, ca.SX) and not value.is_constant():
        return
    sizes = np.abs(np.array(ca.DM(value) if isinstance(value, ca.SX) else value, dtype=float))
    if (largest := sizes[np.isfinite(sizes)].max(initial=0.0)) > turns * _TURN:
        many = "a turn" if turns == 1 else f"{turns} turns"
        warn(f"{name} is {largest:.6g} rad, more than {many}: degrees? angles are in radians, see math.radians")


def _is_real(value: Any) -> bool:
    # A length of time is an integer to NumPy.
    return isinstance(value, Real | ca.DM) and not isinstance(value, bool | np.bool_ | np.timedelta64)


def _dimensions(shape: tuple[int | None, ...]) -> str:
    sizes = ", ".join("N" if size is None else str(size) for size in shape)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


def as_tuple(name: str, value: Any) -> tuple[Any, ...]:
    """A tuple of the items of an ordered iterable."""
    if not isinstance(value, Iterable) or isinstance(value, _NO_LISTS):
        raise InputError(f"{name} must be a list, got {quoted(value)}")
    try:
        return tuple(value)
    except TypeError:  # an array without an axis
        raise InputError(f"{name} must be a list, got {quoted(value)}") from None


def copied(value: Any) -> Any:
    """A copy of the arrays, lists and mappings in a value, which a user may change afterwards."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, ca.DM):
        return ca.DM(value)
    if isinstance(value, Mapping):
        return {key: copied(entry) for key, entry in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return value


def finite_number(name: str, value: Any, *, positive: bool = False, at_most: float = math.inf) -> float:
    """A finite float, optionally strictly positive."""
    if not _is_real(value) or not isinstance(value, Real):
        raise InputError(f"{name} must be a number, got {quoted(value)}{_hint(value)}")
    try:
        number = float(value)
    except OverflowError:  # an integer of many digits
        number = math.inf
    if not math.isfinite(number) or (positive and number <= 0) or number > at_most:
        limit = "" if at_most == math.inf else f" and at most {at_most:g}"
        raise InputError(f"{name} must be finite{' and positive' if positive else ''}{limit}, got {quoted(value)}")
    return number


def not_negative(name: str, value: Any, *, at_most: float = math.inf) -> float:
    """A finite float, zero or positive."""
    number = finite_number(name, value, at_most=at_most)
    if number < 0:
        raise InputError(f"{name} must not be negative, got {number:g}")
    return number


def relative_tolerance(name: str, value: Any) -> float:
    """A relative tolerance: positive, and at most 1."""
    number = finite_number(name, value, positive=True)
    if number > 1:
        raise InputError(f"{name} is relative, such as 1e-3, and at most 1, got {quoted(value)}")
    return number


def count(name: str, value: Any, *, at_least: int, at_most: int | None = None) -> int:
    """An integer within a range."""
    legal = f"an integer >= {at_least}" if at_most is None else f"an integer from {at_least} to {at_most}"
    if not isinstance(value, int | np.integer) or isinstance(value, bool | np.timedelta64):
        raise InputError(f"{name} must be {legal}, got {quoted(value)}")
    if value < at_least or value > _LARGEST or (at_most is not None and value > at_most):
        raise InputError(f"{name} must be {legal}, got {quoted(value)}")
    return int(value)


def pair(name: str, value: Any, of: str = "(lower, upper)") -> tuple[Any, Any]:
    """A pair: the ends of an interval, or as described by `of`."""
    try:
        first, second = as_tuple(name, value)
    except (InputError, ValueError):
        raise InputError(f"{name} must be {of}, got {quoted(value)}") from None
    return first, second


def interval(name: str, lower: Any, upper: Any, shape: tuple[int, ...] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Bounds lower <= upper, which may be infinite but not NaN; of `shape`, or as the two broadcast."""
    if shape is None:
        try:
            sizes = (float_array(f"{name} {side}", value).shape for side, value in (("lower", lower), ("upper", upper)))
            shape = np.broadcast_shapes(*sizes)
        except InputError:
            raise
        except ValueError:
            raise InputError(
                f"{name}: bounds have different shapes, got lower={quoted(lower)}, upper={quoted(upper)}"
            ) from None
    low, high = float_array(f"{name} lower", lower, shape), float_array(f"{name} upper", upper, shape)
    if np.isnan(low).any() or np.isnan(high).any():
        raise InputError(f"{name} bounds must not be NaN, got lower={quoted(lower)}, upper={quoted(upper)}")
    if (low > high).any():
        raise InputError(f"{name}: lower bound exceeds upper bound, got lower={quoted(lower)}, upper={quoted(upper)}")
    if (low == np.inf).any() or (high == -np.inf).any():
        raise InputError(f"{name}: no value satisfies lower={quoted(lower)}, upper={quoted(upper)}")
    return low, high


def symbols(name: str, value: Any, shape: tuple[int, ...]) -> ca.SX:
    """Numbers or symbols as in `symbolic`; the shape of a column may be (n,)."""
    if isinstance(value, ca.SX) and value.shape == (shape[0], 1):
        return value
    return symbolic(name, value, (shape[0], 1))


def symbolic(name: str, value: Any, shape: tuple[int, int]) -> ca.SX:
    """SX matrix of `shape` from numbers, symbols or nested sequences of both; numbers must be finite."""
    try:
        if isinstance(value, ca.SX):
            matrix = +value  # a copy, in a tenth of the time that the constructor takes
        elif isinstance(value, ca.DM):
            matrix = ca.SX(value)
        elif isinstance(value, list | tuple):
            matrix = ca.SX(ca.vertcat(*(_symbolic_row(name, row) for row in value)))
        else:
            matrix = ca.SX(float_array(name, value))
    except (TypeError, ValueError, RuntimeError, NotImplementedError):
        raise InputError(f"{name} must be {_shape_text(shape)}, numbers or SX symbols, got {quoted(value)}") from None
    if matrix.shape != shape:
        raise InputError(f"{name} must be {_shape_text(shape)}, got {quoted(value)}")
    if not _is_finite(matrix):
        raise InputError(f"{name} must be finite, got {quoted(value)}")
    return matrix


def _is_finite(matrix: ca.SX) -> bool:
    """Whether all numbers among the entries of a matrix are finite."""
    if matrix.is_symbolic():
        return True
    if matrix.is_constant():
        return matrix.is_regular()
    entries: list[Any] = matrix.nonzeros()
    return all(entry.is_regular() for entry in entries if entry.is_constant())


def _symbolic_row(name: str, row: Any) -> ca.SX:
    """One entry of a column, or a row of entries."""
    if isinstance(row, np.ndarray) and row.ndim:
        row = row.tolist()
    entries = row if isinstance(row, list | tuple) else [row]
    return ca.horzcat(*(e if isinstance(e, ca.SX | ca.DM) else ca.SX(float(float_array(name, e, ()))) for e in entries))


def _shape_text(shape: tuple[int, int]) -> str:
    if shape == (1, 1):
        return "a scalar"
    return f"of shape {(shape[0],) if shape[1] == 1 else shape}"

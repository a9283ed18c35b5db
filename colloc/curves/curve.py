"""The questions that a curve answers: its splines, where they are looked at, and which grids are finer or coarser."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import fields, replace
from inspect import getattr_static, signature
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np

from colloc.curves.mesh import Points, equal_nodes, split
from colloc.curves.spline_basis import SplineBasis
from colloc.support.checks import InputError, finite_array, instance, quoted
from colloc.support.display import as_call

C = TypeVar("C", bound=type)

CURVES: dict[str, type[Transcription]] = {}  # by name: the classes that files may name


class Transcription(Protocol):
    """How a motion becomes finitely many numbers: BSpline, HermiteSimpson, Radau, or a curve of your own.

    A curve of your own is a frozen dataclass derived from this class. One with fields `intervals` and `breakpoints`, as
    `HermiteSimpson` has them, needs `basis` and `collocation_points` alone: all else follows from these unless it is
    defined anew. A class that is not derived needs all of it, and `register` where files name it.

    Examples
    --------
    >>> pieces, nowhere = np.array([1, 2]), np.zeros(2, dtype=bool)
    >>> co.HermiteSimpson(2).finer(pieces, nowhere, nowhere)
    HermiteSimpson(intervals=3, breakpoints=(0.0, 0.5, 0.75, 1.0))
    >>> co.Radau(20).coarser(10)
    Radau(intervals=10)
    """

    if not TYPE_CHECKING:  # no part of what type checkers ask of a class that is not derived

        def __init_subclass__(cls, **options: Any) -> None:
            super().__init_subclass__(**options)
            register(cls)

    @property
    @abstractmethod
    def basis(self) -> SplineBasis:
        """The splines of the joints over the normalised time: of degree 2 or more, with continuous velocities."""
        raise NotImplementedError

    @abstractmethod
    def collocation_points(self) -> Points:
        """Where equalities are imposed: as many points as `basis` has functions, less two."""
        raise NotImplementedError

    @property
    def signals(self) -> SplineBasis:
        """The splines of unknown signals: those of accelerations, as equations determine both at the same points."""
        return self.basis.derivative().derivative()

    def node_points(self) -> Points:
        """Where inequalities are imposed."""
        return equal_nodes(self.basis)

    @property
    def free(self) -> bool:
        """Whether the breakpoints are unknowns of the problem; the degree is then the same on all intervals."""
        return False

    @property
    def spacing(self) -> tuple[float, float]:
        """Least and largest width of an interval between free breakpoints, as fractions of the duration."""
        return 0.0, 1.0

    def with_breakpoints(self, breakpoints: np.ndarray) -> Self:
        """A curve of the same kind on these intervals, whose ends are fixed, shape (intervals + 1,)."""
        ends = finite_array("breakpoints", breakpoints, (None,))
        return _changed(self, intervals=None, breakpoints=tuple(ends.tolist()))

    def finer(self, pieces: np.ndarray, smooth: np.ndarray, switching: np.ndarray) -> Self:
        """A curve of the same kind, for the next round of a refinement.

        Parameters
        ----------
        pieces : ndarray of int, shape (intervals,)
            Into how many each interval is split: 3 where its error is too large or much may be gained, else 1 or 2.
        smooth : ndarray of bool, shape (intervals,)
            Where a higher degree may take the place of more intervals.
        switching : ndarray of bool, shape (intervals,)
            Where accelerations may have to jump at new breakpoints, as torques switch there.
        """
        return self.with_breakpoints(split(self.basis.breakpoints, pieces))

    def coarser(self, intervals: int) -> Self:
        """A curve of the same kind with that many intervals of equal width, for screening random starts."""
        return _changed(self, intervals=intervals, breakpoints=None)

    def to_dict(self) -> dict[str, Any]:
        """Arguments of the call that makes this curve, in numbers, texts and tuples, for files.

        Integers are counts (intervals, degrees, nodes): a file with fewer numbers than these is refused.
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}  # pyright: ignore[reportArgumentType]

    def __repr__(self) -> str:
        return as_call(self)


def _changed(curve: Any, **changes: Any) -> Any:
    """A dataclass with other values of some fields."""
    return replace(curve, **changes)


def register(curve: C) -> C:
    """Let files name a class of curves; those derived from `Transcription` are registered when they are defined.

    Parameters
    ----------
    curve : type
        With all that `Transcription` has.

    Returns
    -------
    type
        The class itself: `register` is a decorator.

    Raises
    ------
    InputError
        For a name that a curve of the library has.

    Examples
    --------
    >>> from colloc.curves import register
    >>> register(co.Radau) is co.Radau  # as classes derived from Transcription are, without being told
    True
    """
    instance("curve", curve, type)
    namesake = CURVES.get(curve.__name__)
    if namesake is not None and is_ours(namesake) and curve.__module__ != namesake.__module__:
        raise InputError(f"a curve of your own needs a name of its own, and {curve.__name__} is colloc's")
    CURVES[curve.__name__] = curve
    return curve


def is_ours(curve: type) -> bool:
    """Whether a class of curves is the library's."""
    return curve.__module__.split(".")[0] == "colloc"


_QUESTIONS = [name for name in vars(Transcription) if not name.startswith("_")]


def check_curve(curve: object) -> Transcription:
    """A curve; InputError for what is none, with what it lacks."""
    missing = [name for name in _QUESTIONS if getattr_static(curve, name, None) is None]
    if missing or isinstance(curve, type):
        *names, last = (name for name, kind in CURVES.items() if is_ours(kind))
        some = len(missing) < len(_QUESTIONS) and not isinstance(curve, type)
        lacks = f", which lacks {', '.join(missing)}: derive it from colloc.curves.Transcription" if some else ""
        raise InputError(f"curve must be {', '.join(names)} or {last}, got {quoted(curve)}{lacks}")
    answers: Any = curve
    basis = answers.basis
    if not isinstance(basis, SplineBasis) or basis.degrees.min() < 2 or (basis.continuity < 1).any():
        raise InputError(
            f"the basis of {type(curve).__name__} must be a SplineBasis of degree 2 or more with continuous first "
            f"derivatives, got {quoted(basis)}"
        )
    if basis.breakpoints[0] != 0 or basis.breakpoints[-1] != 1:
        raise InputError(f"the basis of {type(curve).__name__} must reach from 0 to 1, got {quoted(basis.breakpoints)}")
    for name, points in (("node_points", answers.node_points()), ("collocation_points", answers.collocation_points())):
        if not isinstance(points, Points):
            raise InputError(f"{type(curve).__name__}.{name} must return colloc.curves.Points, got {quoted(points)}")
    return answers


def collocates_inequalities(curve: Transcription) -> bool:
    """Whether inequalities are imposed where equalities are, and nowhere else: as on arcs along which limits hold."""
    return np.array_equal(curve.node_points().s, curve.collocation_points().s)


def stored_curve(curve: Transcription) -> dict[str, Any]:
    """A curve for JSON: its type, for one that is not the library's where that is defined, and what makes it."""
    kind, arguments = type(curve), curve.to_dict()
    if reserved := {"type", "module"} & arguments.keys():
        raise InputError(f"{kind.__name__}.to_dict must not use the name {min(reserved)!r}, which files use themselves")
    return {"type": kind.__name__} | ({} if is_ours(kind) else {"module": kind.__module__}) | arguments


def stored_class(stored: Mapping[str, Any]) -> tuple[type[Transcription], dict[str, Any]]:
    """The class of a curve that was stored, and the arguments that make it; `stored` is as `stored_curve` returns it.

    InputError for a class that is not known, or arguments that it does not have.
    """
    name, module = stored.get("type"), stored.get("module")
    if not isinstance(name, str) or name not in CURVES:
        if isinstance(name, str) and isinstance(module, str):
            raise InputError(f"its curve is a {name:.100} of {module:.100}: import {module:.100} before loading")
        raise InputError(f"the curve's type must be one of {', '.join(CURVES)}, got {name!r:.100}")
    arguments = {
        field: tuple(value) if isinstance(value, list) else value
        for field, value in stored.items()
        if field not in ("type", "module")
    }
    if extra := set(arguments) - set(signature(CURVES[name]).parameters):
        raise InputError(f"a {name} curve has no {', '.join(map(repr, extra))}")
    return CURVES[name], arguments


def brief(curve: Transcription) -> str:
    """A curve as the call that makes it, or in a few words where it has many breakpoints."""
    call, basis = repr(curve), curve.basis
    if len(call) <= 80:
        return call
    degrees = f"{basis.degrees.min()} to {basis.degree}" if np.ptp(basis.degrees) else str(basis.degree)
    return f"{type(curve).__name__} of {basis.intervals} intervals, degree {degrees}"

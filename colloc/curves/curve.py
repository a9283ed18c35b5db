"""The interface of a curve: its splines, points of evaluation, and finer and coarser grids."""

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
    """The discretisation of a motion: BSpline, HermiteSimpson, Radau, or a curve of your own.

    A curve of your own is a frozen dataclass derived from this class. With fields `intervals` and `breakpoints`, as in
    `HermiteSimpson`, it needs only `basis` and `collocation_points`; all other methods have defaults. A class that is
    not derived needs all of them, and `register` for files.

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
        """Points where equalities are imposed: as many as `basis` has functions, less two."""
        raise NotImplementedError

    @property
    def signals(self) -> SplineBasis:
        """The splines of unknown signals: those of accelerations, as equations determine both at the same points."""
        return self.basis.derivative().derivative()

    def node_points(self) -> Points:
        """Points where inequalities are imposed."""
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
        """A curve of the same kind on intervals with fixed ends, shape (intervals + 1,)."""
        ends = finite_array("breakpoints", breakpoints, (None,))
        return _changed(self, intervals=None, breakpoints=tuple(ends.tolist()))

    def finer(self, pieces: np.ndarray, smooth: np.ndarray, switching: np.ndarray) -> Self:
        """A curve of the same kind, for the next refinement iteration.

        Parameters
        ----------
        pieces : ndarray of int, shape (intervals,)
            Number of parts of each interval: 3 where its error or the possible gain is large, else 1 or 2.
        smooth : ndarray of bool, shape (intervals,)
            Intervals where a higher degree may replace a split.
        switching : ndarray of bool, shape (intervals,)
            Intervals where torques switch, so that accelerations may have to jump at new breakpoints.
        """
        return self.with_breakpoints(split(self.basis.breakpoints, pieces))

    def coarser(self, intervals: int) -> Self:
        """A curve of the same kind with `intervals` intervals of equal width, for screening random starts."""
        return _changed(self, intervals=intervals, breakpoints=None)

    def to_dict(self) -> dict[str, Any]:
        """Arguments of the constructor, in numbers, texts and tuples, for files.

        Integers are counts (intervals, degrees, nodes): a file with fewer numbers than these is refused.
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}  # pyright: ignore[reportArgumentType]

    def __repr__(self) -> str:
        return as_call(self)


def _changed(curve: Any, **changes: Any) -> Any:
    return replace(curve, **changes)


def register(curve: C) -> C:
    """Register a class of curves for files, as a decorator; classes derived from `Transcription` are registered.

    Parameters
    ----------
    curve : type
        With all methods of `Transcription`.

    Raises
    ------
    InputError
        For the name of a curve of the library.

    Examples
    --------
    >>> from colloc.curves import register
    >>> register(co.Radau) is co.Radau
    True
    """
    instance("curve", curve, type)
    namesake = CURVES.get(curve.__name__)
    if namesake is not None and is_ours(namesake) and curve.__module__ != namesake.__module__:
        raise InputError(f"a curve of your own needs another name: {curve.__name__} is colloc's")
    CURVES[curve.__name__] = curve
    return curve


def is_ours(curve: type) -> bool:
    """Whether a class of curves is the library's."""
    return curve.__module__.split(".")[0] == "colloc"


_QUESTIONS = [name for name in vars(Transcription) if not name.startswith("_")]


def check_curve(curve: object) -> Transcription:
    """A curve; InputError for anything else, naming the methods that it lacks."""
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
        raise InputError(f"the basis of {type(curve).__name__} must span 0 to 1, got {quoted(basis.breakpoints)}")
    for name, points in (("node_points", answers.node_points()), ("collocation_points", answers.collocation_points())):
        if not isinstance(points, Points):
            raise InputError(f"{type(curve).__name__}.{name} must return colloc.curves.Points, got {quoted(points)}")
    return answers


def collocates_inequalities(curve: Transcription) -> bool:
    """Whether inequalities are imposed only where equalities are, as on arcs along which limits hold."""
    return np.array_equal(curve.node_points().s, curve.collocation_points().s)


def stored_curve(curve: Transcription) -> dict[str, Any]:
    """A curve for JSON: its type, with the module of a user-defined one, and its arguments."""
    kind, arguments = type(curve), curve.to_dict()
    if reserved := {"type", "module"} & arguments.keys():
        raise InputError(f"{kind.__name__}.to_dict must not use the name {min(reserved)!r}, which files reserve")
    return {"type": kind.__name__} | ({} if is_ours(kind) else {"module": kind.__module__}) | arguments


def stored_class(stored: Mapping[str, Any]) -> tuple[type[Transcription], dict[str, Any]]:
    """The class and the arguments of a curve that `stored_curve` has stored.

    InputError for an unknown class or argument.
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
    """A curve as its constructor call, or a short description if it has many breakpoints."""
    call, basis = repr(curve), curve.basis
    if len(call) <= 80:
        return call
    degrees = f"{basis.degrees.min()} to {basis.degree}" if np.ptp(basis.degrees) else str(basis.degree)
    return f"{type(curve).__name__} of {basis.intervals} intervals, degree {degrees}"

"""A quantity that varies in time, with names, units and bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.problem.unknowns import component_labels, component_units


@dataclass(frozen=True, eq=False)
class Signal:
    """A quantity that varies in time along a motion: of the joints, an unknown, a state, or a function of the instant.

    Parts may add signals to a problem, see `Contribution`.

    Parameters
    ----------
    name : str
        Such as "q", "tau", "activation".
    value : callable
        Instant -> SX, shape (size,).
    size : int
        Number of components; with `names` that of the names.
    names : sequence of str
        Names of the components: joints, muscles, axes; none by default.
    unit : str or sequence of str
        Of all components, or of each.
    lower, upper : float or shape (size,)
        Bounds for the whole motion; infinite by default.
    zero : bool or shape (size,)
        Whether the problem holds a component at zero, such as the torque of a passive joint.
    title : str
        Label for the axis of a figure; the name by default.
    of_joints : bool
        Whether the components are joints.
    secondary : bool
        Whether figures and viewers leave it out unless it is asked for by name, such as accelerations.

    Attributes
    ----------
    labels : tuple of str
        Names of the components with that of the signal: "tau[elbow]".
    units : tuple of str
        Unit of each component.

    Examples
    --------
    >>> tau = co.problem.signals_of(problem)["tau"]
    >>> tau.labels, tau.upper
    (('tau[shoulder]', 'tau[elbow]'), array([10., 10.]))
    """

    name: str
    value: Callable[[Instant], Any]
    size: int = 1
    names: Sequence[str] = ()
    unit: str | Sequence[str] = ""
    lower: Any = -np.inf
    upper: Any = np.inf
    zero: Any = False
    title: str = ""
    of_joints: bool = False
    secondary: bool = False

    def __post_init__(self) -> None:
        names = tuple(self.names)
        size = len(names) or self.size
        final = {"names": names, "size": size, "unit": component_units(f"signal {self.name!r}", self.unit, size)}
        final |= {side: np.broadcast_to(np.asarray(getattr(self, side), float), (size,)) for side in ("lower", "upper")}
        final |= {"zero": np.broadcast_to(np.asarray(self.zero, bool), (size,))}
        final |= {"title": self.title or self.name.replace("_", " ")}
        for attribute, value in final.items():
            object.__setattr__(self, attribute, value)

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(self.unit)

    @property
    def components(self) -> tuple[str | int, ...]:
        """Names of the components, or their numbers."""
        return tuple(self.names) or tuple(range(self.size))

    @property
    def labels(self) -> tuple[str, ...]:
        return component_labels(self.name, self.size, self.names)

    @property
    def fixed(self) -> np.ndarray:
        """Whether components are held at zero, or at another number by their bounds, ndarray of bool, shape (size,)."""
        return self.zero | (self.lower == self.upper)

    def at(self, now: Instant) -> ca.SX:
        """Its value at an instant, SX, shape (size,)."""
        return ca.densify(ca.SX(self.value(now)))

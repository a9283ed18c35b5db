"""States of a system and differences between them, which are rotations for quaternions.

A state x of n_x numbers with unit quaternions among them is displaced by dx of n_dx numbers, three for each quaternion:
a rotation vector in the axes of the link. Linearisations, expansions and gains refer to such displacements, so that no
direction leaves the sphere (Sola, Deray and Atchuthan 2018, "A micro Lie theory for state estimation in robotics",
section II; Mastalli et al. 2020, "Crocoddyl", section II-B).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from colloc.model import Model
from colloc.model.ball import turn_between, turn_slope
from colloc.support.checks import InputError, as_tuple, count, finite_array, float_array, instance, text
from colloc.support.lazy import cached_property

_ROUNDING = 1e-6  # tolerance of the length of a quaternion


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Vectors of n_x numbers, some of which are unit quaternions.

    Parameters
    ----------
    n_x : int
    quaternions : sequence of int
        First index of each quaternion (scalar part first), ascending; none by default.

    Raises
    ------
    InputError
        For quaternions that overlap, or reach beyond the state.

    Examples
    --------
    >>> top = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)))
    >>> states = co.control.StateSpace.of(top)
    >>> states.n_x, states.n_dx
    (7, 6)
    >>> upright, turned = (1, 0, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0, 2)
    >>> states.difference(turned, upright).round(6)  # half a turn about x, and 2 rad/s about z
    array([3.141593, 0.      , 0.      , 0.      , 0.      , 2.      ])
    """

    n_x: int
    quaternions: tuple[int, ...] = ()

    def __post_init__(self):
        count("n_x", self.n_x, at_least=1)
        starts = tuple(count("quaternions", k, at_least=0) for k in as_tuple("quaternions", self.quaternions))
        if any(end - start < 4 for start, end in pairwise((*starts, self.n_x))):
            raise InputError(f"quaternions must be four numbers each, in order, of {self.n_x}, got starts {starts}")
        object.__setattr__(self, "quaternions", starts)

    @classmethod
    def of(cls, model: Model) -> StateSpace:
        """States (q, qd) of a mechanism."""
        instance("model", model, Model)
        return cls(model.n_q + model.n, tuple(places.start for places, _ in model.balls.values()))

    @property
    def n_dx(self) -> int:
        """Number of directions in which a state can be displaced."""
        return self.n_x - len(self.quaternions)

    def difference(self, x: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Displacements from references to states, ndarray, shape (..., n_dx), with the shortest rotations.

        Parameters
        ----------
        x, reference : shape (..., n_x)
            With unit quaternions; a negative one is the same attitude. NaN stays NaN.
        """
        x, reference = _rows(("x", x, self.n_x), ("reference", reference, self.n_x))
        if not self.quaternions:
            return x - reference
        x, reference = np.broadcast_arrays(x, reference)
        dx = (x - reference)[..., self._kept]
        for place, turn in self._places:
            dx[..., turn] = turn_between(reference[..., place], self._nearer(x[..., place], reference[..., place]))
        return dx

    def difference_slope(self, x: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Derivative of `difference` by displacements of x, ndarray, shape (..., n_dx, n_dx)."""
        dx = self.difference(x, reference)
        slope = np.broadcast_to(np.eye(self.n_dx), (*dx.shape, self.n_dx))
        if self.quaternions:
            slope = slope.copy()
            for _, turn in self._places:
                slope[..., turn, turn] = turn_slope(dx[..., turn])
        return slope

    def checked(self, name: str, x: np.ndarray) -> np.ndarray:
        """Return states unchanged, shape (..., n_x); raise InputError for a quaternion whose length is not one."""
        states = finite_array(text("name", name), x)
        if states.shape[-1:] != (self.n_x,):
            raise InputError(f"{name} must have shape (..., {self.n_x}), got shape {states.shape}")
        for place, _ in self._places:
            lengths = np.linalg.norm(states[..., place], axis=-1)
            if (np.abs(lengths - 1) > _ROUNDING).any():
                raise InputError(
                    f"{name} must have a quaternion of length one from entry {place.start} on, got "
                    f"{np.reshape(states[..., place], (-1, 4))[np.abs(lengths - 1).argmax()].tolist()}"
                )
        return states

    @cached_property
    def _places(self) -> list[tuple[slice, slice]]:
        """Entries of each quaternion in x, and of its rotation in dx."""
        return [(slice(p, p + 4), slice(p - k, p - k + 3)) for k, p in enumerate(self.quaternions)]

    @cached_property
    def _kept(self) -> np.ndarray:
        """Entries of x in the order of dx, with vector parts for rotations."""
        return np.setdiff1d(np.arange(self.n_x), self.quaternions)

    @staticmethod
    def _nearer(p: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """The quaternion or its negative, whichever is nearer to the reference."""
        return np.where((p * reference).sum(axis=-1, keepdims=True) < 0, -p, p)


def _rows(*vectors: tuple[str, Any, int]) -> list[np.ndarray]:
    """Arrays of fixed numbers of columns, by their names, whose other dimensions go together; InputError for others."""
    arrays = [float_array(name, value) for name, value, _ in vectors]
    for (name, _, width), array in zip(vectors, arrays, strict=True):
        if array.shape[-1:] != (width,):
            raise InputError(f"{name} must have shape (..., {width}), got shape {array.shape}")
    try:
        np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    except ValueError:
        shapes = " and ".join(f"{name} of shape {a.shape}" for (name, *_), a in zip(vectors, arrays, strict=True))
        raise InputError(f"states must go together row by row, got {shapes}") from None
    return arrays

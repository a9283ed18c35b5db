"""A human whose dimensions are parameters, so that one program serves a whole population."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human import Human, Point


@dataclass(frozen=True, eq=False)
class ParametrisedHuman:
    """A human with symbolic dimensions, and their parameters; see `parametrised`.

    Parameters
    ----------
    human : Human
        Its model has no torque limits; those of `Human.torque_limits` are symbols.
    segments : Parametrised
        Of the model.
    dimensions : Parameter
        Mass, pelvis height, torque limits and landmarks.
    original : Human
        With the default values of the parameters.
    """

    human: Human
    segments: co.problem.Parametrised
    dimensions: co.Parameter
    original: Human

    def __repr__(self) -> str:
        count = sum(parameter.value.size for parameter in self.parameters)
        return f"ParametrisedHuman({self.original.model.name}: {count} numbers)"

    @property
    def parameters(self) -> tuple[co.Parameter, co.Parameter]:
        """The parameters for a problem of this human."""
        return self.segments.numbers, self.dimensions

    def values(self, human: Human) -> dict[str, np.ndarray]:
        """Numbers of another human of the same structure, as parameters for `co.solve`.

        Raises
        ------
        InputError
            For a human of another structure, or a landmark with a nonzero coordinate that is zero here.
        """
        if not isinstance(human, Human):
            raise co.InputError(f"human must be a Human, got {human!r}")
        segments = self.segments.values(human.model)
        _check_alike(self.original, human)
        pairs = zip(_places(self.original), _places(human), strict=True)
        places = [theirs for ours, theirs in pairs if ours != 0]
        return segments | {self.dimensions.name: np.array([*_sizes(human), *places])}


def parametrised(human: Human) -> ParametrisedHuman:
    """A human whose masses, lengths, inertias, landmarks and strength are parameters.

        anyone = parametrised(human55())
        anyone.values(human55(1.65, 60.0, "female"))

    Joint ranges are those of the given human.

    Parameters
    ----------
    human : Human
        From `human55`; apply `Human.frozen` and `Human.ranged` afterwards.
    """
    segments = co.problem.parametrised(human.model, "segments")
    places = [place for place in _places(human) if place != 0]
    dimensions = co.Parameter("dimensions", [*_sizes(human), *places])
    symbols = iter(ca.vertsplit(dimensions.symbol))
    mass, height = next(symbols), next(symbols)
    strength = {name: (next(symbols), next(symbols)) for name in human.torque_limits}
    landmarks = {name: _symbolic(point, symbols) for name, point in human.landmarks.items()}
    scaled = replace(human, model=segments.model, mass=mass, pelvis_height=height, landmarks=landmarks)
    return ParametrisedHuman(replace(scaled.strengthless, strength=strength), segments, dimensions, human)


def _sizes(human: Human) -> list[float]:
    return [human.mass, human.pelvis_height, *(limit for both in human.torque_limits.values() for limit in both)]


def _places(human: Human) -> list[float]:
    return [place for point in human.landmarks.values() for place in point.at]


def _check_alike(human: Human, another: Human) -> None:
    """InputError unless two humans have the same landmarks and joints with torque limits."""
    if list(human.torque_limits) != list(another.torque_limits):
        raise co.InputError(
            f"torque limits must be of {_listed(human.torque_limits)}, got {_listed(another.torque_limits)}"
        )
    if list(human.landmarks) != list(another.landmarks):
        raise co.InputError(f"landmarks must be {_listed(human.landmarks)}, got {_listed(another.landmarks)}")
    for name, point in human.landmarks.items():
        body, at = another.landmarks[name]
        if body != point.body or any(b != 0 for a, b in zip(point.at, at, strict=True) if a == 0):
            raise co.InputError(
                f"landmark {name!r} is {at} of {body!r}, the parametrised one {point.at} of {point.body!r}"
            )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _symbolic(point: Point, symbols: Iterator[ca.SX]) -> Point:
    x, y, z = (next(symbols) if place != 0 else place for place in point.at)
    return Point(point.body, (x, y, z))

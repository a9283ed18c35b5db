"""A human whose dimensions are parameters, so that one program serves a whole population."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human import Human, Point


@dataclass(frozen=True, eq=False)
class ParametrisedHuman:
    """A human of symbols, and the parameters that hold its dimensions; see `parametrised`.

    Parameters
    ----------
    human : Human
        Its model has no torque limits; those of `Human.torque_limits` are symbols.
    segments : Parametrised
        Of the model.
    dimensions : Parameter
        Mass, pelvis height, torque limits and landmarks.
    original : Human
        Whose numbers are the parameters' own values.
    """

    human: Human
    segments: co.Parametrised
    dimensions: co.Parameter
    original: Human

    @property
    def parameters(self) -> tuple[co.Parameter, co.Parameter]:
        """What a problem of this human has to list."""
        return self.segments.numbers, self.dimensions

    def values(self, human: Human) -> dict[str, np.ndarray]:
        """Numbers of another human of the same build, as `co.solve` takes parameters.

        Raises
        ------
        InputError
            For a human of another build.
        """
        pairs = zip(_landmarks(self.original), _landmarks(human), strict=True)
        places = [theirs for ours, theirs in pairs if ours != 0]
        return self.segments.values(human.model) | {self.dimensions.name: np.array([*_sizes(human), *places])}


def parametrised(human: Human) -> ParametrisedHuman:
    """A human whose masses, lengths, inertias, landmarks and strength are parameters.

        anyone = parametrised(human55())
        anyone.values(human55(1.65, 60.0, "female"))

    Joint ranges stay those of the human given.

    Parameters
    ----------
    human : Human
        As `human55` returns it; `Human.frozen` and `Human.ranged` are for afterwards.
    """
    segments = co.parametrised(human.model, "segments")
    sizes, places = _sizes(human), [place for place in _landmarks(human) if place != 0]
    dimensions = co.Parameter("dimensions", [*sizes, *places])
    symbols = iter(ca.vertsplit(dimensions.symbol))
    mass, height = next(symbols), next(symbols)
    strength = {name: (next(symbols), next(symbols)) for name in human.torque_limits}
    landmarks = {name: _symbolic(point, symbols) for name, point in human.landmarks.items()}
    found = replace(human, model=segments.model, mass=mass, pelvis_height=height, landmarks=landmarks)
    return ParametrisedHuman(replace(found.strengthless, strength=strength), segments, dimensions, human)


def _sizes(human: Human) -> list[float]:
    return [human.mass, human.pelvis_height, *(limit for both in human.torque_limits.values() for limit in both)]


def _landmarks(human: Human) -> list[float]:
    return [place for point in human.landmarks.values() for place in point.at]


def _symbolic(point: Point, symbols: Iterator[ca.SX]) -> Point:
    x, y, z = (next(symbols) if place != 0 else place for place in point.at)
    return Point(point.body, (x, y, z))

"""What a problem is given, looked at before anything is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType
from typing import Any

from colloc.model import Model
from colloc.problem.coordinates import Coordinates
from colloc.problem.cost import Cost
from colloc.problem.parametrised import Parametrised
from colloc.problem.unknowns import Free, Parameter, State, Unknown
from colloc.problem.user_functions import uncalled
from colloc.support.checks import InputError, as_tuple, finite_number, quoted


def given_model(value: Any) -> Model:
    """The model; an empty one for None."""
    if value is None:
        return Model.empty()
    if isinstance(value, Parametrised):
        raise InputError(
            f"model must be a Model, got {quoted(value)}; give its .model, and its .numbers among parameters"
        )
    if not isinstance(value, Model):
        tree = isinstance(getattr(value, "model", None), Model)
        hint = "; of a closed chain give its model, and coordinates=loops.IndependentJoints(chain)" if tree else ""
        raise InputError(f"model must be a Model, got {quoted(value)}{hint or uncalled(value)}")
    return value


def given_duration(value: Any) -> Free:
    """The duration with its bounds; equal bounds for a number."""
    if isinstance(value, Free):
        return value
    if isinstance(value, list | tuple):
        raise InputError(f"duration must be a number, or between bounds co.Free(lower, upper), got {quoted(value)}")
    fixed = finite_number("duration", value, positive=True)
    return Free(fixed, fixed, fixed)


def given_cost(value: Any) -> Cost:
    """What is minimised."""
    if not isinstance(value, Cost):
        raise InputError(
            f"minimize must be a Cost (see co.duration, co.integral), got {quoted(value)}{uncalled(value)}"
        )
    return value


def given_list(name: str, value: Any, kind: type | UnionType) -> tuple[Any, ...]:
    """The items of a list, all of a kind."""
    items = as_tuple(name, value)
    for item in items:
        if not isinstance(item, kind):
            unpacked = isinstance(item, list | tuple) and all(isinstance(own, kind) for own in item)
            hint = f"; unpack lists within it: {name}=[*ends, other]" if unpacked else ""
            if isinstance(item, Parametrised) and kind is Parameter:
                hint = "; give its .numbers"
            raise InputError(f"{name} cannot contain {quoted(item)}{hint}")
    return items


def check_coordinates(value: Any, model: Model) -> None:
    """InputError for coordinates that are not those of the model."""
    if value is not None and not isinstance(value, Coordinates):
        raise InputError(f"coordinates must be such as loops.IndependentJoints(chain), got {quoted(value)}")
    if value is not None and value.model is not model:
        raise InputError(f"coordinates are those of {value.model.name!r}, not of the problem's model")


def check_unique(items: Sequence[Unknown | State | Parameter]) -> None:
    """InputError for two things that instants would carry under one name."""
    names = [item.name for item in items]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two unknowns or parameters are named {name!r}; names must be unique")

"""What functions beside `Problem` read of one: its statement, before anything is made of it for a solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import casadi as ca

from colloc.model import Load, Model
from colloc.problem.conditions import Constraint
from colloc.problem.constraint_rows import ConstraintRows
from colloc.problem.coordinates import Coordinates
from colloc.problem.cost import Term
from colloc.problem.instant import Instant
from colloc.problem.unknowns import Free, Parameter, State, Unknown


class Statement(Protocol):
    """A problem as `colloc.problem.Problem` has it."""

    @property
    def model(self) -> Model: ...
    @property
    def coordinates(self) -> Coordinates | None: ...
    @property
    def subject_to(self) -> Sequence[Constraint]: ...
    @property
    def unknowns(self) -> Sequence[Unknown | State]: ...
    @property
    def signals(self) -> Sequence[Unknown]: ...
    @property
    def states(self) -> Sequence[State]: ...
    @property
    def constants(self) -> Sequence[Unknown]: ...
    @property
    def parameters(self) -> Sequence[Parameter]: ...
    @property
    def loads(self) -> Sequence[Load]: ...
    @property
    def horizon(self) -> Free: ...
    @property
    def span(self) -> str: ...
    @property
    def instant(self) -> Instant: ...
    @property
    def costs(self) -> Mapping[str, tuple[Term, ca.Function]]: ...
    @property
    def rows(self) -> Mapping[str, ConstraintRows]: ...

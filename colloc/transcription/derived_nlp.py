"""Programs in terms of another program: with other constraints, other bounds, or more variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.kernels import Compile
from colloc.support.lazy import cached_property
from colloc.transcription.nlp import NLP, BaseNLP


@dataclass(frozen=True, eq=False)
class DerivedNLP(BaseNLP):
    """A program that takes everything except the functions from another one, unless it defines it itself.

    Parameters
    ----------
    nlp : BaseNLP
    """

    nlp: BaseNLP

    @property
    def costs(self) -> Sequence[Block]:
        return self.nlp.costs

    @property
    def constraints(self) -> Sequence[Block]:
        return self.nlp.constraints

    @property
    def lower(self) -> np.ndarray:
        return self.nlp.lower

    @property
    def upper(self) -> np.ndarray:
        return self.nlp.upper

    @property
    def compile(self) -> bool | Compile | None:  # pyright: ignore[reportIncompatibleVariableOverride]  # it has no other
        """Whether an interpreter evaluates the blocks' functions."""
        return self.nlp.compile

    @property
    def phases(self) -> Mapping[str, NLP]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The programs of the phases, unchanged."""
        return self.nlp.phases

    @property
    def in_sequence(self) -> bool:
        return self.nlp.in_sequence

    @property
    def n_p(self) -> int:
        return self.nlp.n_p

    @property
    def scale_x(self) -> np.ndarray:
        return self.nlp.scale_x

    @property
    def free_duration(self) -> bool:
        return self.nlp.free_duration

    @property
    def parts(self) -> Mapping[str, slice]:
        return self.nlp.parts

    def with_phases(self, phases: Mapping[str, NLP]) -> Self:
        raise NotImplementedError("a derived program cannot be moved to another grid")

    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        return self.nlp.terms(x, p)

    @property
    def owners(self) -> Mapping[Block, str]:
        return self.nlp.owners

    def owner(self, block: Block) -> tuple[str, int | None]:
        return self.nlp.owner(block)

    def variable_name(self, k: int, x: np.ndarray) -> str:
        return self.nlp.variable_name(k, x)


@dataclass(frozen=True, eq=False)
class BoundedNLP(DerivedNLP):
    """Another program with the same functions and other bounds.

    Parameters
    ----------
    nlp : BaseNLP
    low, high : ndarray, shape (n_g + n_x,)
        Bounds of all rows, then of all variables.
    """

    low: np.ndarray
    high: np.ndarray

    @property
    def lower(self) -> np.ndarray:
        return self.low[self.nlp.n_g :]

    @property
    def upper(self) -> np.ndarray:
        return self.high[self.nlp.n_g :]

    @property
    def bounds_g(self) -> tuple[np.ndarray, np.ndarray]:
        return self.low[: self.nlp.n_g], self.high[: self.nlp.n_g]

    def with_bounds(self, low: np.ndarray, high: np.ndarray) -> BoundedNLP:
        """The same program with other bounds, and the same variables fixed; it shares prepared solvers."""
        program = BoundedNLP(self.nlp, low, high)
        vars(program)["cache"] = self.cache
        return program

    def multipliers(self, x: np.ndarray, p: np.ndarray, end: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Multipliers of a solve in terms of the other program, also for variables that are fixed only here.

        A solver leaves these out: their multiplier is minus the gradient of the Lagrangian.
        """
        gradient = np.array(self.nlp.grad_f(x, p)[1] + self.nlp.jac_g(x, p)[1].T @ end["g"]).ravel()
        return {"g": end["g"], "x": np.where(self.nlp.free & ~self.free, -gradient, end["x"])}

    @property
    def scale_g(self) -> np.ndarray:
        return self.nlp.scale_g

    @property
    def f(self) -> ca.Function:
        return self.nlp.f

    @property
    def g(self) -> ca.Function:
        return self.nlp.g

    @property
    def grad_f(self) -> ca.Function:
        return self.nlp.grad_f

    @property
    def jac_g(self) -> ca.Function:
        return self.nlp.jac_g

    @property
    def hess_lag(self) -> ca.Function:
        return self.nlp.hess_lag

    @property
    def gauss_newton(self) -> ca.Function:
        return self.nlp.gauss_newton


@dataclass(frozen=True, eq=False)
class ExtendedNLP(DerivedNLP):
    """Another program with additional variables after its own, and functions made from its functions."""

    @property
    def costs(self) -> Sequence[Block]:
        return ()

    @property
    def constraints(self) -> Sequence[Block]:
        return ()

    @cached_property
    def _symbols(self) -> tuple[ca.MX, ca.MX, ca.MX, ca.MX]:
        """Symbols: all variables, those of the other program, the additional ones, and parameters."""
        both, n = ca.MX.sym("x", self.n_x), self.nlp.n_x
        return both, both[:n], both[n:], ca.MX.sym("p", self.n_p)

    def _function(
        self, name: str, outputs: Mapping[str, ca.MX], inputs: Mapping[str, ca.MX] | None = None
    ) -> ca.Function:
        """A function of all variables, parameters, and additional inputs."""
        both, _, _, p = self._symbols
        arguments = {"x": both, "p": p, **(inputs or {})}
        return ca.Function(name, [*arguments.values()], [*outputs.values()], [*arguments], [*outputs])

    @cached_property
    def grad_f(self) -> ca.Function:
        both, _, _, p = self._symbols
        cost = self.f(both, p)
        return self._function("grad_f", {"f": cost, "grad_f_x": ca.gradient(cost, both)})

"""A block: one small function applied to many overlapping slices of the decision vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import casadi as ca
import numpy as np

from colloc.blocks.evaluation_points import EvaluationPoints, LocalView
from colloc.blocks.functions import PARAMETERS, BlockFunctions
from colloc.dynamics.rows import Rows
from colloc.kernels.batch import interpreted, unrolled

_MET = 1e-9  # of a row's natural size: rounding


@dataclass(frozen=True, eq=False)
class Block:
    """Rows f(w_k, d_k, p) for the local variables w_k of N slices of the decision vector x.

    The small function is differentiated in w, on SX, and its derivatives are scattered through the slices' constant
    maps. A constraint has bounds on its rows. A cost is the sum of its rows, or with weights the sum of their weighted
    squares.
    """

    name: str  # the constraint or cost to which the rows belong
    sites: EvaluationPoints  # the slices, and what stands in them for an instant
    functions: BlockFunctions  # the rows in the local view of the sites, and their derivatives
    virtual: bool = False  # whether it is evaluated by CasADi's virtual machine alone

    @classmethod
    def of(cls, name: str, sites: EvaluationPoints, rows: Rows, weights: ca.SX | None = None) -> Block:
        """Rows at sites; with weights, expressions in data and parameters, the residuals of a sum of squares."""
        return cls(name, sites, BlockFunctions(sites.local, rows, weights))

    @classmethod
    def joined(cls, blocks: Sequence[Block]) -> dict[Block, list[Block]]:
        """Constraints whose second derivatives are best formed together, each with those of which it consists.

        The curvature of the torques takes most operations of every constraint with torques. Those at the same sites
        have it in common.
        """
        groups: list[list[Block]] = []
        for block in blocks:
            group = next((group for group in groups if group[0]._curves_with(block)), None)
            if group is None:
                groups.append([block])
            else:
                group.append(block)
        return {reduce(Block._above, group): group for group in groups}

    def _curves_with(self, other: Block) -> bool:
        """Whether both have torques at the same sites."""
        mine, theirs = self.sites, other.sites
        return (
            mine.local is theirs.local
            and self.functions.torques is not None
            and other.functions.torques is not None
            and self.rows.bounded
            and other.rows.bounded
            and self.virtual == other.virtual
            and np.array_equal(mine.data, theirs.data)
            and mine.slices.same_as(theirs.slices)
        )

    def _above(self, other: Block) -> Block:
        """The rows of this block, then those of another at the same sites."""
        key, made = ("above", self.functions, other.functions), self.sites.local.functions
        if key not in made:
            made[key] = BlockFunctions(self.sites.local, self.rows.above(other.rows))
        return replace(self, name=f"{self.name}, {other.name}", functions=made[key])

    def with_rows(self, rows: Rows) -> Block:
        """Other rows at the same sites."""
        return replace(self, functions=BlockFunctions(self.sites.local, rows, self.weights))

    def with_constant_data(self) -> Block:
        """This block with its data as numbers in the rows, for a single slice, so that terms with zeros vanish."""
        sites, local = self.sites, self.sites.local
        (rows,) = local.resolved([self.expression])
        rows = ca.substitute(rows, local.d, ca.DM(sites.data[:, 0]))
        alone = LocalView(local.w, ca.SX(0, 1), local.p)
        sites = replace(sites, local=alone, slices=sites.slices.pruned(), data=np.zeros((0, 1)))
        functions = BlockFunctions(alone, self.rows._replace(expression=rows), self.weights)
        return replace(self, sites=sites, functions=functions)

    def undetermined_rows(self, lower: np.ndarray, upper: np.ndarray, p: np.ndarray) -> list[int]:
        """Indices of equalities of a single slice, without those that variables with equal bounds already meet."""
        rows, local, free = self.rows, self.sites.local, lower < upper
        varies, values = self.sites.slices.known(np.where(free, 0.0, lower), free)
        # Put in as numbers: a joint that is held has no velocity, whatever the duration.
        constant = np.flatnonzero(~varies).tolist()
        (expression,) = self.functions.resolved([self.expression])
        if constant:
            expression = ca.substitute(expression, local.w[constant], ca.DM(values[constant]))
        varying_rows = ca.jacobian_sparsity(expression, local.w).get_triplet()[0]
        # Values of what is free do not matter, as long as they are numbers.
        value = ca.Function("value", self.functions.inputs, [expression])(values, self.sites.data, p)
        off = np.abs(np.array(value)[:, 0] - rows.lower) > _MET * rows.scale
        return np.union1d(varying_rows, np.flatnonzero(off)).astype(int).tolist()

    def equations(self, chosen: np.ndarray, x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Equations of a single slice in some variables, with the others constant, without torques: slopes, residuals.

        Parameters
        ----------
        chosen : ndarray of bool, shape (n_x,)
        x, p : ndarray, shapes (K, n_x), (K, n_p)
            Decision vectors with their parameters.

        Returns
        -------
        ndarray, shapes (K, m, n_x), (K, m)
        """
        slices = self.sites.slices
        varying = np.flatnonzero(slices.known(np.zeros(chosen.size), chosen)[0]).tolist()
        key, made = ("equations", *varying), self.functions.kernels
        if key not in made:
            made[key] = self._equations_in(varying)
        rows, function = made[key]
        if not rows:
            return np.zeros((len(x), 0, chosen.size)), np.zeros((len(x), 0))
        inputs = [slices.first_local(x), np.tile(self.sites.data.T, (len(x), 1)), np.ascontiguousarray(p, dtype=float)]
        by_local, values = unrolled(function, inputs, len(x))
        by_local = by_local.reshape(len(x), -1, len(rows)).transpose(0, 2, 1)  # CasADi's matrices are by columns
        by_place = np.zeros((*by_local.shape[:2], slices.index.shape[0]))
        np.add.at(by_place, (slice(None), slice(None), slices.column), by_local[..., slices.row] * slices.weight[:, 0])
        slopes = np.zeros((*by_local.shape[:2], chosen.size))
        np.add.at(slopes, (slice(None), slice(None), slices.index[:, 0]), by_place)
        return slopes * chosen, self.rows.lower[rows] - values

    def _equations_in(self, varying: list[int]) -> tuple[list[int], ca.Function]:
        """Indices of equations in some of the local variables, without torques; their Jacobian and values."""
        local, expression = self.sites.local, self.expression
        w, torques = local.w, ca.SX(0, 1) if self.functions.torques is None else self.functions.torques.symbols
        if local.dependent is not None:
            (expression,) = local.dependent.resolve([expression])
        varies, actuated = (np.array(ca.which_depends(expression, part, 1, True)) for part in (w[varying], torques))
        rows = np.flatnonzero(varies & ~actuated & (self.rows.lower == self.rows.upper)).tolist()
        values = ca.densify(expression[rows])
        return rows, ca.Function("slopes", self.functions.inputs, [ca.densify(ca.jacobian(values, w)), values])

    @property
    def rows(self) -> Rows:
        """The rows, with names, units and bounds."""
        return self.functions.rows

    @property
    def weights(self) -> ca.SX | None:
        """Weights of a sum of squares, or None."""
        return self.functions.weights

    def has_positive_weights(self, p: np.ndarray) -> bool:
        """Whether a sum of squares has no negative weight in any slice, with these parameters."""
        if self.weights is None:
            return False
        key, made = "weights", self.functions.kernels
        if key not in made:
            made[key] = ca.Function("weights", self.functions.inputs[1:], [ca.mmin(self.weights)])
        return bool((np.array(made[key](self.sites.data, p)) >= 0).all())

    @property
    def expression(self) -> ca.SX:
        """The rows, SX, shape (r,)."""
        return self.rows.expression

    @property
    def is_cost(self) -> bool:
        """Whether the rows are summed."""
        return self.functions.is_cost

    @property
    def n_slices(self) -> int:
        """N, the number of slices."""
        return self.sites.size

    @property
    def n_rows(self) -> int:
        """r, the number of rows in a slice."""
        return self.functions.n_rows

    def evaluate(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Values of the rows at every slice, ndarray, shape (r, N)."""
        values, pattern = self.nonzeros("value", x, p)
        if pattern.is_dense():
            return values
        rows = np.zeros((self.n_rows, self.n_slices))
        rows[np.asarray(pattern.row(), dtype=int)] = values
        return rows

    def nonzeros(
        self, kind: str, x: np.ndarray, p: np.ndarray, *multipliers: np.ndarray
    ) -> tuple[np.ndarray, ca.Sparsity]:
        """Nonzeros of one of the functions, by its name, in every slice, shape (nonzeros, N), and their pattern.

        Second derivatives take multipliers of the rows, shape (rows, N).
        """
        function, N = getattr(self.functions, kind), self.n_slices
        pattern = function.sparsity_out(0)
        if not pattern.nnz() or not N:
            return np.zeros((pattern.nnz(), N)), pattern
        arguments = [self.sites.slices.local(x), self.sites.data, np.asarray(p, dtype=float), *multipliers]
        rows = [np.ascontiguousarray(array.T, dtype=float) for array in arguments]
        values = None
        if function.is_a("SXFunction") and not self.virtual:
            values = interpreted(self.functions.kernel(kind), rows)
        if values is None:
            rows[PARAMETERS] = np.tile(rows[PARAMETERS], (N, 1))
            values = unrolled(function, rows, N)
        return values[0].T, pattern

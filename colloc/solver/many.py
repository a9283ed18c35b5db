"""An interior-point method for many programs of one pattern at once, each with its own step lengths and barrier.

The method is that of IPOPT (Waechter and Biegler 2006, "On the implementation of an interior-point filter line-search
algorithm"): primal and dual steps to the boundary, a filter, a barrier that falls when its problem is solved, and a
shift of the Hessian where it has the wrong inertia. There is no restoration: programs that need it are left unsolved,
for a solver that has one. Rows with two bounds have slacks, which are eliminated from the linear system

    | H + S_x + shift   J'      |  with S_x = z / distance for bounds of variables, and
    | J                 - 1/S_s |  S_s the same for bounds of rows, a small number for equations.

It is quasi-definite where the Hessian is positive definite on the null space, so that its L D L' exists in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colloc.kernels import CompileError
from colloc.solver.lanes import Factor, LaneFunctions, Sums, by_program, in_lanes
from colloc.solver.scaling import NEARBY, STEEP, scale_of_costs
from colloc.transcription import BaseNLP

_TOGETHER = 64  # programs: with more, arrays leave the caches of a processor
_PUSH = 1e-2  # from bounds at the start, of natural sizes and of the distance between them
_FIRST, _LAST = 0.1, 1e-11  # barrier
_BARRIER_ERROR, _BARRIER_FACTOR, _BARRIER_POWER = 10.0, 0.2, 1.5
_TOLERANCE = 1e-9  # of the conditions, in natural sizes
_FRACTION = 0.99  # of the way to the boundary, at least
_SHIFTS = (1e-4, 8.0, 100.0, 1 / 3, 1e20)  # first, factor, first factor, decrease, largest
_LEAST_SHIFT = 1e-20
_MOST = 300  # iterations of each program
_EQUATION = 1e-9  # of the diagonal of equations, which makes dependent ones solvable
_ARMIJO, _GAIN, _SWITCH, _LESS = 1e-4, 1e-5, 2.3, 1.1
_HALVINGS = 14
_DECREASE = 0.99  # of the error of the conditions, by a step that the filter refuses
_ENDS = ("cost", "w", "multipliers", "below", "above", "solved", "iterations")
_STATE = ("whole", "p", "program", "mu", "shift", "stuck", "largest", "least")
_SLACK = 1e10  # limit of multipliers times distance over barrier, and of its inverse


class ManyOutcomes(NamedTuple):
    """Optima of many programs.

    Parameters
    ----------
    x : ndarray, shape (K, n_x)
    rows, variables : ndarray, shapes (K, n_g), (K, n_x)
        Multipliers, positive at an upper bound.
    cost : ndarray, shape (K,)
        Scales of the costs.
    solved : ndarray of bool, shape (K,)
    iterations : ndarray of int, shape (K,)
    """

    x: np.ndarray
    rows: np.ndarray
    variables: np.ndarray
    cost: np.ndarray
    solved: np.ndarray
    iterations: np.ndarray


class _BarrierBounds(NamedTuple):
    """Bounds of free variables and of rows that are no equations, one after the other, in natural sizes."""

    lower: np.ndarray
    upper: np.ndarray
    below: np.ndarray
    above: np.ndarray


class ManySolver:
    """The method, prepared for programs that differ in their parameters.

    Parameters
    ----------
    nlp : BaseNLP
    rows : ndarray, shape (n_g,)
        Scales of the rows.
    """

    def __init__(self, nlp: BaseNLP, rows: np.ndarray):
        self.nlp, self.rows = nlp, rows
        self.functions = functions = LaneFunctions(nlp, nlp.scale_x, rows)
        (lower, upper), free = nlp.bounds_g, functions.free
        self.n, m = free.size, nlp.n_g
        self.unequal = np.flatnonzero(lower < upper)
        low = np.append(nlp.lower[free] / nlp.scale_x[free], (lower / rows)[self.unequal])[:, None]
        high = np.append(nlp.upper[free] / nlp.scale_x[free], (upper / rows)[self.unequal])[:, None]
        below, above = np.isfinite(low), np.isfinite(high)
        self.bounds = _BarrierBounds(np.where(below, low, 0.0), np.where(above, high, 0.0), below, above)
        self.equal = np.where(lower < upper, 0.0, lower / rows)[:, None]
        every = np.arange(self.n), self.n + np.arange(m)
        row = np.concatenate([functions.hessian_row, every[0], self.n + functions.jacobian_row, every[1]])
        column = np.concatenate([functions.hessian_column, every[0], functions.jacobian_column, every[1]])
        size = self.n + m
        key, place = np.unique(row * size + column, return_inverse=True)
        self.assemble = Sums(key.size, place, np.arange(row.size), np.ones(row.size))
        self.factor = Factor(size, key // size, key % size)

    def __call__(self, x: np.ndarray, parameters: np.ndarray) -> ManyOutcomes:
        """Solve from decision vectors, shape (K, n_x), with parameters, shape (K, n_p)."""
        parts = range(0, len(x), _TOGETHER)
        ends = [self._together(x[k : k + _TOGETHER], parameters[k : k + _TOGETHER]) for k in parts]
        return ManyOutcomes(*(np.concatenate(part) for part in zip(*ends, strict=True)))

    def _together(self, x: np.ndarray, parameters: np.ndarray) -> ManyOutcomes:
        functions, count = self.functions, len(x)
        run = _ManyRuns(self, in_lanes(x, functions.lanes), in_lanes(parameters, functions.lanes), count)
        ends = run.iterate()
        free, pushes = functions.free, (ends["above"] - ends["below"])[:, : self.n]
        variables = np.zeros_like(x)
        variables[:, free] = pushes * ends["cost"] / self.nlp.scale_x[free]
        end = x.copy()
        end[:, free] = ends["w"][:, : self.n] * self.nlp.scale_x[free]
        rows = ends["multipliers"] * ends["cost"] / self.rows
        solved, spent = ends["solved"][:, 0].astype(bool), ends["iterations"][:, 0].astype(int)
        return ManyOutcomes(end, rows, variables, ends["cost"][:, 0], solved, spent)


def prepared_many(nlp: BaseNLP, rows: np.ndarray) -> ManySolver | None:
    """The method, or None without a C compiler or a translation of a function of the program."""
    try:
        return ManySolver(nlp, rows)
    except CompileError:
        return None


class _ManyRuns:
    """The iterates of all programs.

    `w` are free variables and slacks; `below`, `above` the multipliers of their bounds.
    """

    def __init__(self, solver: ManySolver, whole: np.ndarray, p: np.ndarray, count: int):
        self.solver, self.whole, self.p = solver, whole, p
        functions, self.n, self.bounds = solver.functions, solver.n, solver.bounds
        shape = len(whole), functions.lanes
        self.program = np.arange(shape[0] * shape[1]).reshape(shape)  # numbers from `count` on are repetitions
        self.ends: dict[str, np.ndarray] = {}
        self.count = count
        size = functions.size_x[functions.free, None]
        rows = functions.values(whole, p)[1]
        self.cost = self._scales()
        self.w = self._inside(np.concatenate([whole[:, functions.free] / size, rows[:, solver.unequal]], axis=1))
        self.mu = np.full(shape, _FIRST)
        self.below = np.where(self.bounds.below, 1.0, 0.0) + np.zeros_like(self.w)
        self.above = np.where(self.bounds.above, 1.0, 0.0) + np.zeros_like(self.w)
        self.multipliers = np.zeros((shape[0], solver.nlp.n_g, shape[1]))
        self.shift = np.zeros(shape)
        self.solved, self.stuck = np.zeros(shape, dtype=bool), self.program >= count
        self.iterations = np.zeros(shape, dtype=int)
        self.filter: list[tuple[np.ndarray, np.ndarray]] = []
        self._evaluate()
        self._least_multipliers()
        theta = self._infeasibility(self.c)
        self.largest, self.least = 1e4 * np.maximum(1.0, theta), 1e-4 * np.maximum(1.0, theta)

    def iterate(self) -> dict[str, np.ndarray]:
        """The last iterates of all programs, and what they are called here, each shape (K, entries)."""
        for _ in range(_MOST):
            self._lower_barriers()
            going = ~(self.solved | self.stuck)
            if not going.any():
                break
            if len(going) > 1 and going.sum() <= going.size / 2:
                self._repack(going)
                going = ~(self.solved | self.stuck)
            self.iterations += going
            self._search(self._step(), going)
        self._keep()
        return self.ends

    def _keep(self) -> None:
        """Record the iterates of all programs here."""
        program = self.program.ravel()
        chosen = np.flatnonzero(program < self.count)
        for name in _ENDS:
            values = getattr(self, name)
            values = values if values.ndim == 3 else values[:, None]
            rows = by_program(values, program.size)[chosen]
            self.ends.setdefault(name, np.zeros((self.count, rows.shape[1])))[program[chosen]] = rows

    def _repack(self, going: np.ndarray) -> None:
        """Go on with these programs alone."""
        self._keep()
        chosen = np.flatnonzero(going.ravel())

        def taken(values: np.ndarray) -> np.ndarray:
            three = values if values.ndim == 3 else values[:, None]
            packed = in_lanes(by_program(three, going.size)[chosen], going.shape[1])
            return packed if values.ndim == 3 else packed[:, 0]

        for name in (*_ENDS, *_STATE):
            setattr(self, name, taken(getattr(self, name)))
        self.filter = [(taken(theta), taken(phi)) for theta, phi in self.filter]
        spare = np.arange(self.program.size).reshape(self.program.shape) >= chosen.size
        self.program = np.where(spare, self.count, self.program)
        self.stuck |= spare
        self._evaluate()

    def _scales(self) -> np.ndarray:
        """Scales of the costs, as in `scale_at`."""
        functions, nlp = self.solver.functions, self.solver.nlp
        step = NEARBY * np.random.default_rng(0).uniform(-1, 1, nlp.n_x) * nlp.scale_x * nlp.free
        beside = np.clip(self.whole + step[:, None], nlp.lower[:, None], nlp.upper[:, None])
        sizes = []
        for point in (self.whole, beside):
            value = functions.values(point, self.p)[0]
            slope = np.abs(functions.derivatives(point, self.p)[0]).max(axis=1, initial=0.0) / STEEP
            size = np.maximum(np.abs(value), slope)
            sizes.append(np.where(np.isfinite(size), size, 0.0))
        return scale_of_costs(*sizes)

    def _inside(self, w: np.ndarray) -> np.ndarray:
        """Points pushed from their bounds."""
        b = self.bounds
        apart = np.where(b.below & b.above, b.upper - b.lower, np.inf)
        low, high = (np.minimum(_PUSH * np.maximum(1.0, np.abs(k)), _PUSH * apart) for k in (b.lower, b.upper))
        w = np.where(b.below, np.maximum(w, b.lower + low), w)
        return np.where(b.above, np.minimum(w, b.upper - high), w)

    def _distances(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances from lower and upper bounds, one where there is none."""
        b = self.bounds
        return np.where(b.below, w - b.lower, 1.0), np.where(b.above, b.upper - w, 1.0)

    def _values(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs, and what equations and slacks are off."""
        functions, solver = self.solver.functions, self.solver
        f, g = functions.values(functions.whole(w[:, : self.n], self.whole), self.p)
        f = f / self.cost
        c = g - solver.equal
        c[:, solver.unequal] -= w[:, self.n :]
        return f, c

    def _evaluate(self) -> None:
        self.f, self.c = self._values(self.w)
        gradient, self.jacobian = self.solver.functions.derivatives(self._whole(), self.p)
        self.gradient = gradient / self.cost[:, None]
        self.low, self.high = self._distances(self.w)

    def _whole(self) -> np.ndarray:
        return self.solver.functions.whole(self.w[:, : self.n], self.whole)

    def _least_multipliers(self) -> None:
        """Multipliers of the rows that fit the start best; zero if they are large."""
        solver, functions = self.solver, self.solver.functions
        none = np.zeros((len(self.w), functions.hessian_row.size, functions.lanes))
        ones = np.ones((len(self.w), self.n, functions.lanes))
        diagonal = np.zeros_like(self.c)
        diagonal[:, solver.unequal] = -1.0
        lower, _ = self._factorised(none, ones, self.jacobian, diagonal - _EQUATION)
        right = np.zeros((len(self.w), self.n + self.c.shape[1], functions.lanes))
        slope = self._barrier_slope(np.ones_like(self.mu))
        right[:, : self.n] = -slope[:, : self.n]
        right[:, self.n + solver.unequal] = -slope[:, self.n :]
        start = solver.factor.solve(lower, right)[:, self.n :]
        good = np.isfinite(start).all(axis=1) & (np.abs(start).max(axis=1, initial=0.0) < 1e3)
        self.multipliers = np.where(good[:, None], start, 0.0)

    def _factorised(
        self, hessian: np.ndarray, diagonal: np.ndarray, jacobian: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        solver = self.solver
        matrix = solver.assemble(np.concatenate([hessian, diagonal, jacobian, rows], axis=1))
        return solver.factor.factorise(matrix)

    def _barrier_slope(self, mu: np.ndarray) -> np.ndarray:
        """Derivative of cost and barrier by variables and slacks."""
        slope = np.zeros_like(self.w)
        slope[:, : self.n] = self.gradient
        b = self.bounds
        return slope - b.below * (mu[:, None] / self.low) + b.above * (mu[:, None] / self.high)

    def _lagrangian_slope(self) -> np.ndarray:
        """Derivative of the Lagrangian without bounds."""
        slope = np.empty_like(self.w)
        slope[:, : self.n] = self.gradient + self.solver.functions.transposed_times(self.jacobian, self.multipliers)
        slope[:, self.n :] = -self.multipliers[:, self.solver.unequal]
        return slope

    def _error(self, slope: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """The largest error of the conditions with a barrier; those of slopes relative to large multipliers."""
        pushes = np.abs(self.multipliers).sum(axis=1) + self.below.sum(axis=1) + self.above.sum(axis=1)
        large = np.maximum(100.0, pushes / (self.multipliers.shape[1] + 2 * self.w.shape[1])) / 100.0
        b = self.bounds
        apart = [
            np.where(on, np.abs(z * d - mu[:, None]), 0.0).max(axis=1, initial=0.0)
            for on, z, d in ((b.below, self.below, self.low), (b.above, self.above, self.high))
        ]
        dual = np.abs(slope - self.below + self.above).max(axis=1, initial=0.0)
        off = np.abs(self.c).max(axis=1, initial=0.0)
        return np.maximum(np.maximum(dual, np.maximum(*apart)) / large, off)

    def _lower_barriers(self) -> None:
        """Lower barriers whose problems are solved; programs with the last one are solved."""
        slope = self._lagrangian_slope()
        for _ in range(4):
            error = self._error(slope, self.mu)
            last = self.mu <= _LAST
            self.solved |= last & (error <= _TOLERANCE)
            lower = ~last & (error <= _BARRIER_ERROR * self.mu)
            if not lower.any():
                return
            smaller = np.maximum(_LAST, np.minimum(_BARRIER_FACTOR * self.mu, self.mu**_BARRIER_POWER))
            self.mu = np.where(lower, smaller, self.mu)
            for theta, phi in self.filter:
                theta[lower] = phi[lower] = np.inf

    def _step(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Steps of variables and slacks, of multipliers of rows, and of bounds."""
        solver, functions, n, b = self.solver, self.solver.functions, self.n, self.bounds
        hessian = functions.hessian(self._whole(), self.p, 1 / self.cost, self.multipliers)
        sigma = self.below / self.low + self.above / self.high
        rows = np.full_like(self.c, -_EQUATION)
        rows[:, solver.unequal] = -1.0 / sigma[:, n:]
        lower, shift = self._with_right_inertia(hessian, sigma[:, :n], rows)
        self.shift = np.where(shift > 0, shift, self.shift)
        slope = self._barrier_slope(self.mu)
        residual = np.empty_like(self.w)
        residual[:, :n] = slope[:, :n] + functions.transposed_times(self.jacobian, self.multipliers)
        residual[:, n:] = slope[:, n:] - self.multipliers[:, solver.unequal]
        right = np.concatenate([-residual[:, :n], -self.c], axis=1)
        right[:, n + solver.unequal] -= residual[:, n:] / sigma[:, n:]
        solution = solver.factor.solve(lower, right)
        by_rows = solution[:, n:]
        slacks = (by_rows[:, solver.unequal] - residual[:, n:]) / sigma[:, n:]
        w = np.concatenate([solution[:, :n], slacks], axis=1)
        below = np.where(b.below, (self.mu[:, None] - self.below * w) / self.low - self.below, 0.0)
        above = np.where(b.above, (self.mu[:, None] + self.above * w) / self.high - self.above, 0.0)
        return w, by_rows, below, above

    def _with_right_inertia(
        self, hessian: np.ndarray, sigma: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Factors with as many negative pivots as rows, and the shifts of the Hessian."""
        first, factor, first_factor, decrease, largest = _SHIFTS
        shift, wanted = np.zeros_like(self.mu), self.c.shape[1]
        lower, negative = self._factorised(hessian, sigma, self.jacobian, rows)
        for _ in range(40):
            wrong = (negative != wanted) & ~self.solved & ~self.stuck
            if not wrong.any():
                break
            begin = np.where(self.shift > 0, np.maximum(_LEAST_SHIFT, decrease * self.shift), first)
            grown = shift * np.where(self.shift > 0, factor, first_factor)
            shift = np.where(wrong, np.where(shift > 0, grown, begin), shift)
            self.stuck |= wrong & (shift > largest)
            again = np.flatnonzero(wrong.any(axis=1))
            lower[again], negative[again] = self._factorised(
                hessian[again], sigma[again] + shift[again, None], self.jacobian[again], rows[again]
            )
        return lower, shift

    def _search(self, step: tuple[np.ndarray, ...], going: np.ndarray) -> None:
        """Step lengths by the filter, and the next iterates."""
        w, by_rows, below, above = step
        b, tau = self.bounds, np.maximum(_FRACTION, 1 - self.mu)
        primal = np.minimum(_longest(self.low, w, b.below, tau), _longest(self.high, -w, b.above, tau))
        dual = np.minimum(_longest(self.below, below, b.below, tau), _longest(self.above, above, b.above, tau))
        theta, phi = self._infeasibility(self.c), self._barrier(self.f, self.low, self.high)
        fall = (self._barrier_slope(self.mu) * w).sum(axis=1)
        length, accepted = primal.copy(), ~going
        best = self.w
        tiny = (np.abs(w) / (1 + np.abs(self.w))).max(axis=1, initial=0.0) < 1e-14
        for _ in range(_HALVINGS):
            trial = self.w + length[:, None] * w
            f, c = self._values(trial)
            low, high = self._distances(trial)
            new_theta, new_phi = self._infeasibility(c), self._barrier(f, low, high)
            rounding = 1e-15 * np.abs(phi)
            falls = fall < 0
            switch = falls & (length * np.abs(fall) ** _SWITCH > theta**_LESS) & (theta <= self.least)
            armijo = new_phi - phi <= _ARMIJO * length * fall + 10 * rounding
            better = (new_theta <= (1 - _GAIN) * theta) | (new_phi - phi <= -_GAIN * theta + rounding)
            good = np.where(switch, armijo, better) & (new_theta <= self.largest)
            for old_theta, old_phi in self.filter:
                good &= (new_theta < old_theta) | (new_phi < old_phi)
            good = (good | tiny) & np.isfinite(new_theta) & np.isfinite(new_phi)
            now = good & ~accepted
            best = np.where(now[:, None], trial, best)
            augment = now & ~(switch & armijo)
            if augment.any():
                self.filter.append(
                    (
                        np.where(augment, (1 - _GAIN) * theta, np.inf),
                        np.where(augment, phi - _GAIN * theta, np.inf),
                    )
                )
            accepted |= good
            if accepted.all():
                break
            length = np.where(accepted, length, length / 2)
        # Near an optimum rounding may hide that the barrier function falls: the conditions themselves decide.
        full = going & ~accepted
        length, best = np.where(full, primal, length), np.where(full[:, None], self.w + primal[:, None] * w, best)
        before = self.w, self.multipliers, self.below, self.above, self._error(self._lagrangian_slope(), self.mu)
        moved = going[:, None]
        self.w = best
        self.multipliers = np.where(moved, self.multipliers + length[:, None] * by_rows, self.multipliers)
        self.below = np.where(moved, self.below + dual[:, None] * below, self.below)
        self.above = np.where(moved, self.above + dual[:, None] * above, self.above)
        self._evaluate()
        mu = self.mu[:, None]
        self.below = np.where(b.below, np.clip(self.below, mu / _SLACK / self.low, mu * _SLACK / self.low), 0.0)
        self.above = np.where(b.above, np.clip(self.above, mu / _SLACK / self.high, mu * _SLACK / self.high), 0.0)
        if full.any():
            worse = full & ~(self._error(self._lagrangian_slope(), self.mu) < _DECREASE * before[-1])
            self.stuck |= worse
            for name, old in zip(("w", "multipliers", "below", "above"), before[:-1], strict=True):
                setattr(self, name, np.where(worse[:, None], old, getattr(self, name)))
            if worse.any():
                self._evaluate()

    def _infeasibility(self, c: np.ndarray) -> np.ndarray:
        return np.abs(c).sum(axis=1)

    def _barrier(self, f: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        b = self.bounds
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = np.where(b.below, np.log(low), 0.0) + np.where(b.above, np.log(high), 0.0)
        return f - self.mu * logs.sum(axis=1)


def _longest(values: np.ndarray, change: np.ndarray, bounded: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """The longest step, up to one, after which a share of the values is left."""
    falls = bounded & (change < 0)
    ratio = np.where(falls, values / np.where(falls, -change, 1.0), np.inf)
    return np.minimum(1.0, tau * ratio.min(axis=1, initial=np.inf))

"""An interior-point method for many programs of one pattern at once, each with its own step lengths and barrier.

The method is that of IPOPT (Waechter and Biegler 2006, "On the implementation of an interior-point filter line-search
algorithm"): primal and dual steps to the boundary, a filter, a barrier that falls when its problem is solved, and a
shift of the Hessian where it has the wrong inertia. Iterates are those of IPOPT with a monotone barrier from 0.1, but
for second-order corrections and a watchdog. There is no restoration: programs that need it are left unsolved, for a
solver that has one. Rows with two bounds have slacks, which are eliminated from the linear system

    | H + S_x + shift   J'                |  with S = z / distance for bounds of variables and of slacks;
    | J                 - 1/(S_s + shift) |  a small number in the place of the latter for equations.

It is quasi-definite where the Hessian is positive definite on the null space, so that its L D L' exists in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from colloc.kernels import CompileError
from colloc.solver.lanes import Factor, LaneFunctions, Sums, by_program, in_lanes, largest, total
from colloc.solver.scaling import NEARBY, STEEP, scale_of_costs
from colloc.transcription import BaseNLP

_TOGETHER = 128  # programs: fewer calls of NumPy, while arrays are still in the caches of a processor
_MEMORY = 2**28  # bytes of all factors
_PUSH = 1e-2  # from bounds at the start, of natural sizes and of the distance between them
_FIRST, _LAST = 0.1, 1e-11  # barrier
_BARRIER_ERROR, _BARRIER_FACTOR, _BARRIER_POWER = 10.0, 0.2, 1.5
_TOLERANCE = 1e-9  # of the conditions, in natural sizes
_FRACTION = 0.99  # of the way to the boundary, at least
_SHIFTS = (1e-4, 8.0, 100.0, 1 / 3, 1e20)  # first, factor, first factor, decrease, largest
_LEAST_SHIFT = 1e-20
_MOST = 300  # iterations of each program
_EQUATION = 1e-9  # of the diagonal of equations, which makes dependent ones solvable
_ARMIJO, _GAIN, _FALL, _SWITCH, _LESS = 1e-8, 1e-5, 1e-8, 2.3, 1.1
_HALVINGS = 22
_REFUSALS, _RESETS = 5, 5  # iterations in which a filter refuses a step until it is emptied, and how often it is
_DECREASE = 0.99  # of the error of the conditions, by a step that the filter refuses
_TINY = 1e-14  # step, in natural sizes, that is rounding
_PACK = 0.75  # share of the lanes in use, below which the programs that are not solved are put together
_ENDS = ("cost", "w", "multipliers", "pushes", "solved", "iterations")
_STATE = (
    "cost", "w", "multipliers", "z", "solved", "iterations", "whole", "p", "program", "mu", "shift", "stuck", "largest",
    "least", "refusals", "resets",
)  # fmt: skip
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
    """Bounds of free variables, and of slacks behind them, in natural sizes: first all lower ones, then all upper ones.

    Parameters
    ----------
    entry : ndarray of int, shape (bounds,)
    sign : ndarray, shape (bounds, 1)
        1 of a lower bound, -1 of an upper one.
    limit : ndarray, shape (bounds, 1)
    room : ndarray, shape (bounds, 1)
        Distance to the other bound of the entry, infinite without one.
    sums, signed : Sums
        From bounds onto entries, and with the signs.
    """

    entry: np.ndarray
    sign: np.ndarray
    limit: np.ndarray
    room: np.ndarray
    sums: Sums
    signed: Sums

    @classmethod
    def of(cls, lower: np.ndarray, upper: np.ndarray) -> _BarrierBounds:
        below, above = (np.flatnonzero(np.isfinite(each)) for each in (lower, upper))
        entry, sign = np.append(below, above), np.append(np.ones(below.size), -np.ones(above.size))
        limit, every = np.append(lower[below], upper[above]), np.arange(entry.size)
        sums, signed = (Sums(lower.size, entry, every, weight) for weight in (np.ones(entry.size), sign))
        return cls(entry, sign[:, None], limit[:, None], (upper - lower)[entry, None], sums, signed)

    def change(self, w: np.ndarray) -> np.ndarray:
        """Changes of the distances for changes of the entries."""
        return self.sign * np.take(w, self.entry, axis=1)

    def distances(self, w: np.ndarray) -> np.ndarray:
        return self.sign * (np.take(w, self.entry, axis=1) - self.limit)

    def inside(self, w: np.ndarray) -> np.ndarray:
        """Entries pushed from their bounds."""
        least = self.sign * np.minimum(_PUSH * np.maximum(1.0, np.abs(self.limit)), _PUSH * self.room) + self.limit
        low, high = np.full(w.shape[1], -np.inf), np.full(w.shape[1], np.inf)
        up = self.sign[:, 0] > 0
        low[self.entry[up]], high[self.entry[~up]] = least[up, 0], least[~up, 0]
        return np.minimum(np.maximum(w, low[:, None]), high[:, None])


class _Iterates(NamedTuple):
    """Free variables and slacks, the cost, and residuals of equations and slacks."""

    w: np.ndarray
    f: np.ndarray
    c: np.ndarray

    def take(self, some: np.ndarray, chosen: np.ndarray, other: _Iterates) -> None:
        """Take the chosen lanes of some groups from another point, in place."""
        for mine, theirs in zip(self, other, strict=True):
            mine[some] = _chosen(chosen, theirs, mine[some])


def _chosen(lanes: np.ndarray, values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Values in some lanes, else others."""
    return np.where(lanes[:, None] if values.ndim == 3 else lanes, values, others)


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
        size = nlp.scale_x[free]
        self.bounds = _BarrierBounds.of(
            np.append(nlp.lower[free] / size, (lower / rows)[self.unequal]),
            np.append(nlp.upper[free] / size, (upper / rows)[self.unequal]),
        )
        self.equal = np.where(lower < upper, 0.0, lower / rows)[:, None]
        every = np.arange(self.n), self.n + np.arange(m)
        row = np.concatenate([functions.hessian_row, every[0], self.n + functions.jacobian_row, every[1]])
        column = np.concatenate([functions.hessian_column, every[0], functions.jacobian_column, every[1]])
        key, place = np.unique(row * (self.n + m) + column, return_inverse=True)
        self.assemble = Sums(key.size, place, np.arange(row.size), np.ones(row.size))
        self.factor = Factor(self.n + m, key // (self.n + m), key % (self.n + m))

    def __call__(self, x: np.ndarray, parameters: np.ndarray) -> ManyOutcomes:
        """Solve from decision vectors, shape (K, n_x), with parameters, shape (K, n_p)."""
        many = max(self.functions.lanes, min(_TOGETHER, _MEMORY // (8 * self.factor.entries)))
        parts = (slice(k, k + many) for k in range(0, len(x), many))
        ends = [self._together(x[part], parameters[part]) for part in parts]
        return ManyOutcomes(*(np.concatenate(part) for part in zip(*ends, strict=True)))

    def _together(self, x: np.ndarray, parameters: np.ndarray) -> ManyOutcomes:
        functions, count = self.functions, len(x)
        run = _ManyRuns(self, in_lanes(x, functions.lanes), in_lanes(parameters, functions.lanes), count)
        ends, free = run.iterate(), functions.free
        variables = np.zeros_like(x)
        variables[:, free] = ends["pushes"][:, : self.n] * ends["cost"] / self.nlp.scale_x[free]
        end = x.copy()
        end[:, free] = ends["w"][:, : self.n] * self.nlp.scale_x[free]
        rows = ends["multipliers"] * ends["cost"] / self.rows
        solved, spent = ends["solved"][:, 0].astype(bool), ends["iterations"][:, 0].astype(int)
        return ManyOutcomes(end, rows, variables, ends["cost"][:, 0], solved, spent)


def prepared_many(nlp: BaseNLP, rows: np.ndarray) -> ManySolver | None:
    """The method, or None without a C compiler or a translation of a function of the program; kept with the program."""
    key = "many", rows.tobytes()
    if key not in nlp.cache:
        try:
            nlp.cache[key] = ManySolver(nlp, rows)
        except CompileError:
            return None
    return nlp.cache[key]


class _ManyRuns:
    """The iterates of all programs.

    `w` are free variables and slacks, `d` distances from their bounds, `z` the multipliers of these.
    """

    def __init__(self, solver: ManySolver, whole: np.ndarray, p: np.ndarray, count: int):
        self.solver, self.whole, self.p = solver, whole, p
        functions, self.n, self.bounds = solver.functions, solver.n, solver.bounds
        shape = len(whole), functions.lanes
        self.program = np.arange(shape[0] * shape[1]).reshape(shape)  # numbers from `count` on are repetitions
        self.ends: dict[str, np.ndarray] = {}
        self.count = count
        self.cost = self._scales()
        self.lower = np.empty((shape[0], solver.factor.entries, shape[1]))
        self.negative = np.zeros(shape, dtype=np.int64)
        self.mu = np.full(shape, _FIRST)
        self.z = np.ones((shape[0], self.bounds.entry.size, shape[1]))
        self.multipliers = np.zeros((shape[0], solver.nlp.n_g, shape[1]))
        self.shift = np.zeros(shape)
        self.solved, self.stuck = np.zeros(shape, dtype=bool), self.program >= count
        self.iterations = np.zeros(shape, dtype=int)
        self.filter: list[tuple[np.ndarray, np.ndarray]] = []
        self.refusals, self.resets = np.zeros(shape, dtype=int), np.zeros(shape, dtype=int)
        self._move(self._at(self._first_point()))
        self._least_multipliers()
        theta = self._infeasibility(self.c)
        self.largest, self.least = 1e4 * np.maximum(1.0, theta), 1e-4 * np.maximum(1.0, theta)

    @property
    def pushes(self) -> np.ndarray:
        """Multipliers of the bounds of all entries, positive at upper ones."""
        return -self.bounds.signed(self.z)

    def iterate(self) -> dict[str, np.ndarray]:
        """The last iterates of all programs, and what they are called here, each shape (K, entries)."""
        for _ in range(_MOST):
            slope = self._lagrangian_slope()
            self._lower_barriers(slope)
            going = ~(self.solved | self.stuck)
            if not going.any():
                break
            if going.sum() <= _PACK * (going.size - going.shape[1]):
                self._repack(going)
                going, slope = ~(self.solved | self.stuck), self._lagrangian_slope()
            self.iterations += going
            self._search(self._step(slope), going)
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

        for name in _STATE:
            setattr(self, name, taken(getattr(self, name)))
        self.filter = [(taken(theta), taken(phi)) for theta, phi in self.filter]
        spare = np.arange(self.program.size).reshape(self.program.shape) >= chosen.size
        self.program = np.where(spare, self.count, self.program)
        self.stuck |= spare
        self.lower, self.negative = self.lower[: len(self.w)], self.negative[: len(self.w)]
        self._move(self._at(self.w))

    def _scales(self) -> np.ndarray:
        """Scales of the costs, as in `scale_at`."""
        functions, nlp = self.solver.functions, self.solver.nlp
        step = NEARBY * np.random.default_rng(0).uniform(-1, 1, nlp.n_x) * nlp.scale_x * nlp.free
        beside = np.clip(self.whole + step[:, None], nlp.lower[:, None], nlp.upper[:, None])
        sizes = []
        for point in (self.whole, beside):
            value = functions.values(point, self.p)[0]
            slope = largest(functions.derivatives(point, self.p)[0], sizes=True) / STEEP
            size = np.maximum(np.abs(value), slope)
            sizes.append(np.where(np.isfinite(size), size, 0.0))
        return scale_of_costs(*sizes)

    def _at(self, w: np.ndarray, some: Any = slice(None)) -> _Iterates:
        """A point of some groups."""
        functions, solver = self.solver.functions, self.solver
        f, g = functions.values(functions.whole(w[:, : self.n], self.whole[some]), self.p[some])
        g -= solver.equal
        g[:, solver.unequal] -= w[:, self.n :]
        return _Iterates(w, f / self.cost[some], g)

    def _first_point(self) -> np.ndarray:
        """Variables pushed from their bounds, then slacks with the values of their rows, pushed from theirs."""
        solver, functions, inside = self.solver, self.solver.functions, self.bounds.inside
        free = np.take(self.whole, functions.free, axis=1) / functions.size_x[functions.free, None]
        w = np.zeros((len(free), self.n + solver.unequal.size, free.shape[2]))
        w[:, : self.n] = free
        w[:, : self.n] = inside(w)[:, : self.n]
        rows = functions.values(functions.whole(w[:, : self.n], self.whole), self.p)[1]
        w[:, self.n :] = np.take(rows, solver.unequal, axis=1)
        return inside(w)

    def _here(self) -> _Iterates:
        return _Iterates(self.w.copy(), self.f.copy(), self.c.copy())

    def _move(self, point: _Iterates) -> None:
        """Go on from a point."""
        self.w, self.f, self.c = point
        self.d = self.bounds.distances(self.w)
        gradient, self.jacobian = self.solver.functions.derivatives(self._whole(), self.p)
        self.gradient = gradient / self.cost[:, None]

    def _whole(self) -> np.ndarray:
        return self.solver.functions.whole(self.w[:, : self.n], self.whole)

    def _least_multipliers(self) -> None:
        """Multipliers of the rows that fit the start best; zero if they are large."""
        solver, functions = self.solver, self.solver.functions
        none = np.zeros((len(self.w), functions.hessian_row.size, functions.lanes))
        ones = np.ones((len(self.w), self.n, functions.lanes))
        diagonal = np.zeros_like(self.c)
        diagonal[:, solver.unequal] = -1.0
        self._factorise(none, ones, diagonal - _EQUATION, np.arange(len(self.w)))
        right = np.zeros((len(self.w), self.n + self.c.shape[1], functions.lanes))
        slope = -self.bounds.signed(self.z)
        right[:, : self.n] = -slope[:, : self.n] - self.gradient
        right[:, self.n + solver.unequal] = -slope[:, self.n :]
        start = solver.factor.solve(self.lower, right)[:, self.n :]
        good = largest(np.ascontiguousarray(start), sizes=True) < 1e3  # not for NaN
        self.multipliers = _chosen(good, start, np.zeros_like(start))

    def _factorise(self, hessian: np.ndarray, diagonal: np.ndarray, rows: np.ndarray, some: np.ndarray) -> None:
        """Factors of some groups, one after the other so that they stay in the caches, and their negative pivots."""
        solver = self.solver
        for g in (slice(k, k + 1) for k in some.tolist()):
            matrix = solver.assemble(np.concatenate([hessian[g], diagonal[g], self.jacobian[g], rows[g]], axis=1))
            self.negative[g] = solver.factor.factorise(matrix, self.lower[g])

    def _lagrangian_slope(self) -> np.ndarray:
        """Derivative of the Lagrangian without bounds."""
        slope = np.empty_like(self.w)
        product = self.solver.functions.transposed_times(self.jacobian, self.multipliers)
        np.add(self.gradient, product, out=slope[:, : self.n])
        slope[:, self.n :] = -np.take(self.multipliers, self.solver.unequal, axis=1)
        return slope

    def _errors(self, slope: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The largest error of the conditions by barrier, relative to large multipliers."""
        z, of_rows = self.z, total(self.multipliers, sizes=True)
        pushes, bounds = total(z), max(1, z.shape[1])
        by_slopes = np.maximum(100.0, (of_rows + pushes) / (self.c.shape[1] + bounds)) / 100.0
        by_bounds = np.maximum(100.0, pushes / bounds) / 100.0
        product = z * self.d
        most, least = largest(product, least=-np.inf), -largest(-product, least=-np.inf)
        dual, off = largest(slope - self.bounds.signed(z), sizes=True) / by_slopes, largest(self.c, sizes=True)
        return lambda mu: np.maximum(np.maximum(dual, np.maximum(most - mu, mu - least) / by_bounds), off)

    def _lower_barriers(self, slope: np.ndarray) -> None:
        """Lower barriers whose problems are solved; programs with the last one are solved."""
        errors = self._errors(slope)
        for _ in range(4):
            error = errors(self.mu)
            last = self.mu <= _LAST
            self.solved |= last & (error <= _TOLERANCE)
            lower = ~last & (error <= _BARRIER_ERROR * self.mu)
            if not lower.any():
                return
            smaller = np.maximum(_LAST, np.minimum(_BARRIER_FACTOR * self.mu, self.mu**_BARRIER_POWER))
            self.mu = np.where(lower, smaller, self.mu)
            self.refusals[lower] = 0
            for theta, phi in self.filter:
                theta[lower] = phi[lower] = np.inf

    def _step(self, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Steps of variables and slacks, and of multipliers of rows."""
        solver, functions, n = self.solver, self.solver.functions, self.n
        hessian = functions.hessian(self._whole(), self.p, 1 / self.cost, self.multipliers)
        sigma = self.bounds.sums(self.z / self.d)
        shift = self._with_right_inertia(hessian, sigma)
        self.shift = np.where(shift > 0, shift, self.shift)
        sigma += shift[:, None]
        residual = slope - self.bounds.signed(self.mu[:, None] / self.d)
        right = np.concatenate([residual[:, :n], self.c], axis=1)
        right[:, n + solver.unequal] += residual[:, n:] / sigma[:, n:]
        solution = solver.factor.solve(self.lower, -right)
        by_rows = solution[:, n:]
        w = np.empty_like(self.w)
        w[:, :n] = solution[:, :n]
        w[:, n:] = (np.take(by_rows, solver.unequal, axis=1) - residual[:, n:]) / sigma[:, n:]
        return w, by_rows

    def _with_right_inertia(self, hessian: np.ndarray, sigma: np.ndarray) -> np.ndarray:
        """Factorise with as many negative pivots as rows; the necessary shifts of variables and slacks."""
        first, factor, first_factor, decrease, most = _SHIFTS
        shift, wanted, rows = np.zeros_like(self.mu), self.c.shape[1], np.full_like(self.c, -_EQUATION)
        again = np.arange(len(sigma))
        for _ in range(40):
            diagonal = sigma + shift[:, None]
            rows[:, self.solver.unequal] = -1.0 / diagonal[:, self.n :]
            self._factorise(hessian, diagonal[:, : self.n], rows, again)
            wrong = (self.negative != wanted) & ~self.solved & ~self.stuck
            if not wrong.any():
                break
            begin = np.where(self.shift > 0, np.maximum(_LEAST_SHIFT, decrease * self.shift), first)
            grown = shift * np.where(self.shift > 0, factor, first_factor)
            shift = np.where(wrong, np.where(shift > 0, grown, begin), shift)
            self.stuck |= wrong & (shift > most)
            again = np.flatnonzero(wrong.any(axis=1))
        return shift

    def _search(self, step: tuple[np.ndarray, np.ndarray], going: np.ndarray) -> None:
        """Step lengths by the filter, and the next iterates."""
        (w, by_rows), mu, tau = step, self.mu[:, None], np.maximum(_FRACTION, 1 - self.mu)
        relative = self.bounds.change(w) / self.d
        z = mu / self.d - self.z * (1 + relative)  # step of the multipliers of bounds
        primal, dual = _longest(relative, tau), _longest(z / self.z, tau)
        length, accepted, best = self._accepted(w, relative, primal, going)
        full, before, error = going & ~accepted, None, None
        if full.any():
            # Near an optimum rounding may hide that the barrier function falls: the conditions themselves decide.
            before, error = (*self._here(), self.multipliers, self.z), self._errors(self._lagrangian_slope())(self.mu)
            length = np.where(full, primal, length)
            best = self._at(_chosen(full, self.w + primal[:, None] * w, best.w))
        self.multipliers = self.multipliers + (length * going)[:, None] * by_rows
        self.z = self.z + (dual * going)[:, None] * z
        self._move(best)
        ideal = mu / self.d
        self.z = np.clip(self.z, ideal / _SLACK, ideal * _SLACK)
        if before is None or error is None:
            return
        worse = full & ~(self._errors(self._lagrangian_slope())(self.mu) < _DECREASE * error)
        self.stuck |= worse
        if worse.any():
            now = (*self._here(), self.multipliers, self.z)
            *point, self.multipliers, self.z = (_chosen(worse, a, b) for a, b in zip(before, now, strict=True))
            self._move(_Iterates(*point))

    def _accepted(
        self, w: np.ndarray, relative: np.ndarray, primal: np.ndarray, going: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, _Iterates]:
        """Step lengths, where the filter or Armijo's condition accepts one, and the iterates there."""
        theta, phi = self._infeasibility(self.c), self._barrier(self.f, self.d, self.mu)
        fall = total(self.gradient * w[:, : self.n]) - self.mu * total(relative)
        length, accepted, best = primal.copy(), ~going, self._here()
        tiny = largest(w, sizes=True) < _TINY
        rounding, by_filter = 1e-15 * np.abs(phi), np.zeros_like(accepted)
        for _ in range(_HALVINGS):
            some = np.flatnonzero(~accepted.all(axis=1))  # groups that go on
            if not some.size:
                break
            trial = self._at(self.w[some] + length[some, None] * w[some], some)
            t, v, a, drop, slack = theta[some], phi[some], length[some], fall[some], rounding[some]
            new_theta = self._infeasibility(trial.c)
            new_phi = self._barrier(trial.f, self.bounds.distances(trial.w), self.mu[some])
            switch = (drop < 0) & (a * np.abs(drop) ** _SWITCH > t**_LESS) & (t <= self.least[some])
            armijo = new_phi - v <= _ARMIJO * a * drop + 10 * slack
            better = (new_theta <= (1 - _GAIN) * t) | (new_phi - v <= -_FALL * t + slack)
            good = np.where(switch, armijo, better) & (new_theta <= self.largest[some])
            refused, was_by_filter = np.zeros_like(good), by_filter[some]
            for old_theta, old_phi in self.filter:
                refused |= (new_theta >= old_theta[some]) & (new_phi >= old_phi[some])
            by_filter[some] = np.where(accepted[some], by_filter[some], good & refused)
            good &= ~refused
            good = (good | tiny[some]) & np.isfinite(new_theta) & np.isfinite(new_phi)
            now = good & ~accepted[some]
            best.take(some, now, trial)
            self._reset_filters(some, now, was_by_filter)
            if (augment := now & ~(switch & armijo)).any():
                entry = np.full((2, *theta.shape), np.inf)
                entry[0, some] = np.where(augment, (1 - _GAIN) * t, np.inf)
                entry[1, some] = np.where(augment, v - _FALL * t, np.inf)
                self.filter.append((entry[0], entry[1]))
            accepted[some] |= good
            length = np.where(accepted, length, length / 2)
        return length, accepted, best

    def _reset_filters(self, some: np.ndarray, now: np.ndarray, by_filter: np.ndarray) -> None:
        """Empty filters that alone have refused longer steps in several iterations one after another.

        Parameters
        ----------
        some : ndarray of int
            Groups.
        now, by_filter : ndarray of bool, shape (len(some), lanes)
            Lanes whose step is accepted now; whether a filter has refused the one before.
        """
        count = np.where(now, np.where(by_filter, self.refusals[some] + 1, 0), self.refusals[some])
        reset = (count >= _REFUSALS) & (self.resets[some] < _RESETS)
        self.refusals[some], self.resets[some] = np.where(reset, 0, count), self.resets[some] + reset
        for values in (values for entry in self.filter for values in entry):
            values[some] = np.where(reset, np.inf, values[some])

    def _infeasibility(self, c: np.ndarray) -> np.ndarray:
        return total(c, sizes=True)

    def _barrier(self, f: np.ndarray, d: np.ndarray, mu: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return f - mu * total(np.log(d))


def _longest(relative: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """The longest step, up to one, that takes at most a share of positive values; from relative changes."""
    return tau / np.maximum(tau, largest(-relative))

"""A controller that solves a problem again at every tick, from the measured state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from colloc.control.horizon import MEASURED, from_measured_state, row_times, times_of_variables
from colloc.control.native import NativeStep, Settings
from colloc.problem import Problem
from colloc.solution import Solution
from colloc.solution.first_plan import first_plan
from colloc.support.checks import (
    InputError,
    count,
    finite_number,
    float_array,
    instance,
    spelt,
    unknown_name,
)
from colloc.support.display import short
from colloc.support.lazy import cached_property

_PRICE = 100.0  # of the excess of a limit by its natural size, in scales of the cost
_BARRIER, _TOLERANCE, _ITERATIONS = 0.1, 1e-8, 25  # of a quadratic program
_SMALL = 1e-6  # change of the plan, in natural sizes, below which no further step is made
_GAP, _EXCESS = 1e-3, 1e-2  # residuals of equations, and excess of limits, of a plan that is trusted
_FOREVER = 1e9  # s
_SOLVED, _TOO_MANY, _INDEFINITE, _NOT_FINITE, _LATE, _NO_NUMBERS = range(6)


@dataclass(frozen=True, eq=False)
class Tick:
    """The answer of a controller at one tick.

    Parameters
    ----------
    tau : ndarray, shape (n,) [N m, N]
        Torques to be held for one tick: those of the plan in the middle of the tick, within the stated torque limits.
    gains : ndarray, shape (n, state)
        Derivatives of `tau` by the measured state: q, qd, then `State` unknowns.
    trusted : bool
        Whether the plan meets its equations to 1e-3 and its limits after the start to 1e-2 of their natural sizes.
    message : str
        The reason why it is not trusted; empty if it is.
    steps, iterations : int
        Steps of the plan, and iterations of their quadratic programs.
    gap, excess : float
        Largest residual of an equation, and largest excess of a limit, relative to natural sizes.
    change : float
        Largest change of the plan in the last step, relative to natural sizes: below about 1e-3 the plan is optimal.
    cost : float
        Of the plan.
    seconds, processor : float
        Of the steps, by the clock and of the processor; without arguments and results of Python, about 0.2 ms.
    x, parameters : ndarray
        Decision vector of the plan, and its parameters.
    first : Solution
        The first plan, which has the program.

    Examples
    --------
    >>> still = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q))
    >>> hold = co.Problem(two_link(9.81), 0.5, still, [co.initial(q=0.0, qd=0.0)])
    >>> controller = co.control.receding(hold, co.BSpline(10), tick=0.02)
    >>> tick = controller(q=(0.1, 0.0), qd=(0.0, 0.0))
    >>> tick.trusted, tick.plan.at(0.5).q.shape
    (True, (2,))
    """

    tau: np.ndarray
    gains: np.ndarray
    trusted: bool
    message: str
    steps: int
    iterations: int
    gap: float
    excess: float
    change: float
    cost: float
    seconds: float
    processor: float
    x: np.ndarray
    parameters: np.ndarray
    first: Solution

    def __repr__(self) -> str:
        word = "trusted" if self.trusted else f"not trusted: {self.message}"
        return f"Tick({word}; {self.steps} steps, {self.iterations} iterations, {1e3 * self.seconds:.2f} ms)"

    @cached_property
    def plan(self) -> Solution:
        """The plan, from this tick on."""
        outcome = replace(self.first.outcome, x=self.x, iterations=self.iterations)
        return replace(self.first, outcome=outcome, parameters=self.parameters)


class Receding:
    """A controller that improves its plan at every tick; made by `receding`.

    Attributes
    ----------
    first : Solution
        The first plan.
    tick : float [s]
    settings : Settings
        Of its steps in C.
    price : float
        As in `receding`.

    Examples
    --------
    >>> still = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q))
    >>> hold = co.Problem(two_link(9.81), 0.5, still, [co.initial(q=0.0, qd=0.0)])
    >>> controller = co.control.receding(hold, co.BSpline(10), tick=0.02)
    >>> controller.first.status
    <Status.SOLVED: 'solved'>
    """

    def __init__(self, first: Solution, tick: float, settings: Settings, price: float):
        self.first, self.tick, self.settings, self.price = first, tick, settings, price
        self._native = NativeStep(first, tick, price)
        self._after_start = row_times(first) > 0, times_of_variables(first) > 0
        self._now = np.nan  # time of the last call
        problem = first.problem
        self._states = {state.name: state.size for state in problem.states}
        self._parameters = {name: place for name, place in problem.parameter_places.items() if name != MEASURED}

    def __repr__(self) -> str:
        return f"Receding: {self.first.problem.model.name}, tick of {short(1e3 * self.tick)} ms, {self.first.nlp.spy()}"

    def __call__(self, q: Any, qd: Any, *, t: float | None = None, **values: Any) -> Tick:
        """Torques for the measured state.

        Parameters
        ----------
        q, qd : shape (n_q,), (n,) [rad, m], [rad/s, m/s]
        t : float, optional [s]
            Time of the measurement: the plan moves on by the whole ticks since the last call. By default by one.
        **values
            Parameters of the problem by name, which keep their values until they are changed, and measured `State`
            unknowns, which are those of the plan by default.

        Returns
        -------
        Tick
            If numbers are not finite, or no step can be made, torques are those of the last plan, moved on.

        Raises
        ------
        InputError
            For unknown names and wrong shapes.
        """
        native, ticks = self._native, self._ticks(t)
        result = native.tick(self.settings, ticks, *self._arguments(q, qd, values))
        tau, gains = native.memory["tau"].copy(), native.memory["gains"].reshape(native.memory["tau"].size, -1).copy()
        message = self._doubt(result)
        numbers = (result.steps, result.iterations, result.gap, result.excess, result.change, result.cost)
        plan = native.memory["x"].copy(), native.memory["p"].copy(), self.first
        return Tick(tau, gains, not message, message, *numbers, result.seconds, result.processor, *plan)

    def _ticks(self, t: float | None) -> int:
        """Number of ticks since the last call, and the time of this one."""
        last = self._now
        self._now = (0.0 if np.isnan(last) else last + self.tick) if t is None else finite_number("t", t)
        if self._now < last:
            now, self._now = self._now, last
            raise InputError(f"t must not go back: it was {short(last)} s, got {short(now)} s")
        ticks = 0 if np.isnan(last) else round((self._now - last) / self.tick)
        return min(ticks, int(self.first.duration / self.tick) + 1)

    def _arguments(self, q: Any, qd: Any, values: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """The measured state, and all parameters."""
        model, memory = self.first.problem.model, self._native.memory
        p = memory["p"].copy()
        planned = self.first.nlp.grid.layout["states"]
        parts = [float_array("q", q, (model.n_q,)), float_array("qd", qd, (model.n,))]
        place = 0
        for name, size in self._states.items():
            value = values.get(name, memory["x"][planned[0, place : place + size]])
            parts.append(float_array(name, np.atleast_1d(value), (size,)))
            place += size
        for name, value in values.items():
            if name in self._states:
                continue
            if name not in self._parameters:
                raise unknown_name("parameter or state", name, [*self._parameters, *self._states])
            part = self._parameters[name]
            p[part] = float_array(name, np.atleast_1d(value), (part.stop - part.start,))
        return np.concatenate(parts), p

    def _doubt(self, result: Any) -> str:
        """The reason why a plan is not trusted, or nothing."""
        if not result.steps or result.status == _LATE:
            return _REASONS[result.status]
        if result.gap > _GAP:
            return f"equations are off by {result.gap:.2g} of their natural size"
        if result.excess > _EXCESS and (exceeded := self._exceeded()):
            return exceeded
        return _REASONS[result.status]

    def _exceeded(self) -> str:
        """The limit that is exceeded most after the start, where the measured state may be outside of its limits."""
        nlp, x, g = self.first.nlp, self._native.memory["x"], self._native.memory["g"]
        (lower, upper), (in_rows, in_variables) = nlp.bounds_g, self._after_start
        beyond = np.maximum(g - upper, lower - g) / self.first.outcome.scale.rows  # pyright: ignore[reportOptionalMemberAccess]
        beyond = np.where(in_rows & (lower < upper), beyond, 0.0)
        outside = np.maximum(x - nlp.upper, nlp.lower - x) / nlp.scale_x
        outside = np.where(in_variables, outside, 0.0)
        most = max(float(beyond.max(initial=0.0)), float(outside.max(initial=0.0)))
        if most <= _EXCESS:
            return ""
        of_variable = outside.max(initial=0.0) == most
        name = nlp.variable_name(int(outside.argmax()), x) if of_variable else nlp.row_name(int(beyond.argmax()), x)
        return f"limits are exceeded by {most:.2g} of their natural size: {name}"


_REASONS = {
    _SOLVED: "",
    _TOO_MANY: "a quadratic program has not converged",
    _INDEFINITE: "no step: the cost has no minimum nearby",
    _NOT_FINITE: "no step: a function is not finite",
    _LATE: "the deadline came before the last step",
    _NO_NUMBERS: "the state or a parameter is not finite",
}


@spelt
def receding(
    problem: Problem,
    curve: Any = None,
    *,
    tick: float,
    guess: Any = None,
    parameters: Mapping[str, Any] | None = None,
    steps: int = 1,
    deadline: float | None = None,
    price: float = _PRICE,
) -> Receding:
    """A controller that solves a problem again at every tick, from the measured state.

    The problem is stated as for `solve`, over the horizon. Values that it states at the start are replaced by the
    measured state. At every tick the last plan is moved on, and improved by one or a few steps of sequential quadratic
    programming: functions in machine code, a quadratic program by a primal-dual method, without Python. Limits of the
    problem may be exceeded at a high price, since reality may put a state outside; the answer says so. The first plan
    is that of one run of `Ipopt`.

    Parameters
    ----------
    problem : Problem
        Of fixed duration. Goals that move are its parameters.
    curve : Transcription, optional
        As in `solve`.
    tick : float [s]
        Time between two calls.
    guess : optional
        As in `solve`, such as a solution of the problem.
    parameters : mapping of str to value, optional
        As in `solve`; the controller can change them.
    steps : int
        Most steps at a tick.
    deadline : float, optional [s]
        Time after which a tick returns the last whole step.
    price : float
        Of the excess of a limit by its natural size, in scales of the cost: limits are met where it is larger than
        their multipliers.

    Returns
    -------
    Receding

    Raises
    ------
    InputError
        For a free duration, a tick that is not shorter than the horizon, a cost that no variable changes, and a first
        plan that does not exist.
    CompileError
        Without a C compiler.

    See Also
    --------
    time_varying_lqr : Feedback around one motion.

    Examples
    --------
    >>> goal = co.Parameter("goal", (1.0, 0.5))
    >>> near = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q - now.goal))
    >>> limits = co.bounds(tau=(-20.0, 20.0), qd=(-3.0, 3.0))
    >>> reach = co.Problem(two_link(9.81), 0.5, near, [co.initial(q=0.0, qd=0.0), limits], parameters=[goal])
    >>> controller = co.control.receding(reach, co.BSpline(10), tick=0.02)
    >>> tick = controller(q=(0.0, 0.1), qd=(0.0, 0.0), goal=(0.9, 0.5))
    >>> tick.tau.shape, tick.gains.shape, tick.trusted
    ((2,), (2, 4), True)
    """
    horizon = instance("problem", problem, Problem).horizon
    tick = finite_number("tick", tick, positive=True)
    if horizon.lower < horizon.upper:
        raise InputError("the duration of a horizon must be fixed: give a number of seconds")
    if tick >= horizon.lower:
        raise InputError(f"tick must be shorter than the horizon of {short(horizon.lower)} s, got {short(tick)} s")
    steps = count("steps", steps, at_least=1)
    late = _FOREVER if deadline is None else finite_number("deadline", deadline, positive=True)
    price = finite_number("price", price, positive=True)
    if problem.coordinates is not None or not problem.model.has_plain_velocities:
        raise InputError("a receding horizon is for trees without ball joints on quaternions")
    measured = from_measured_state(problem, tick / 2 / horizon.lower)
    first = first_plan(measured, curve, guess, parameters)
    if not first.outcome.status.name == "SOLVED":
        raise InputError(f"no first plan: {first.outcome.status}; look at co.solve(problem, curve)")
    if first.outcome.scale is None or first.outcome.scale.anchor is not None:
        raise InputError("no variable changes the cost: a receding horizon needs one, such as the effort")
    settings = Settings(_SMALL, _BARRIER, _TOLERANCE, late, steps, _ITERATIONS)
    return Receding(first, tick, settings, price)

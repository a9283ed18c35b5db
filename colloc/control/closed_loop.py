"""A receding horizon in a simulated loop: another mechanism, delay, noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from colloc.control.discrete import discretise
from colloc.control.horizon import held_joints
from colloc.control.receding import Receding, Tick
from colloc.control.state_space import StateSpace
from colloc.model import Model
from colloc.support.checks import (
    InputError,
    count,
    finite_array,
    finite_number,
    float_array,
    function,
    instance,
    mapping,
    pair,
    quoted,
    shortened,
    spelt,
)
from colloc.support.display import short

Plant = Callable[[np.ndarray, np.ndarray, np.ndarray, float], tuple[Any, Any]]  # q, qd, tau, dt -> q, qd
State = tuple[np.ndarray, np.ndarray]  # q, qd


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """A simulated motion under a controller; made by `closed_loop`.

    Parameters
    ----------
    t : ndarray, shape (K + 1,) [s]
        Times of the ticks, and the end.
    q, qd : ndarray, shape (K + 1, n_q), (K + 1, n) [rad, m], [rad/s, m/s]
        The true state at these times; NaN from where the motion diverges.
    tau : ndarray, shape (K, n) [N m, N]
        Torques that act from one time to the next.
    ticks : list of Tick
        The controller's answers.

    Examples
    --------
    >>> still = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q))
    >>> hold = co.Problem(two_link(), 0.5, still, [co.initial(q=0.0, qd=0.0)])
    >>> controller = co.control.receding(hold, co.BSpline(10), tick=0.02)
    >>> loop = co.control.closed_loop(controller, 0.2, q=(0.3, 0.0), qd=0.0, delay=0.01)
    >>> loop.q.shape, loop.untrusted
    ((11, 2), 0)
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    ticks: list[Tick]

    def __repr__(self) -> str:
        worst = 1e3 * self.seconds.max(initial=0.0)
        return (
            f"ClosedLoop: {len(self.ticks)} ticks in {short(float(self.t[-1]))} s, {self.untrusted} not trusted, steps "
            f"of {1e3 * float(np.median(self.seconds)):.2f} ms in the median and at most {worst:.2f} ms"
        )

    @property
    def seconds(self) -> np.ndarray:
        """Time of the controller's steps at every tick, shape (K,) [s]."""
        return np.array([tick.seconds for tick in self.ticks])

    @property
    def processor(self) -> np.ndarray:
        """Processor time of the controller's steps at every tick, shape (K,) [s]."""
        return np.array([tick.processor for tick in self.ticks])

    @property
    def untrusted(self) -> int:
        """Number of ticks whose plan was not trusted."""
        return sum(not tick.trusted for tick in self.ticks)


@spelt
def closed_loop(
    controller: Receding,
    duration: float,
    *,
    q: Any,
    qd: Any,
    plant: Model | Plant | None = None,
    parameters: Callable[[float], Mapping[str, Any]] | None = None,
    delay: float = 0.0,
    noise: tuple[Any, Any] = (0.0, 0.0),
    substeps: int = 10,
    seed: int = 0,
) -> ClosedLoop:
    """A controller in a simulated loop, with another mechanism, delay and noise.

    At every tick the state is measured with noise. The torques that follow act `delay` later, for one tick. The
    controller is given the state at that time, predicted by its own model, or by the change in its last plan if its
    problem has phases, loops or loads. It begins with its first plan, and its parameters keep their values.

    Parameters
    ----------
    controller : Receding
    duration : float [s]
    q, qd : float or shape (n_q,), (n,) [rad, m], [rad/s, m/s]
        State at the beginning.
    plant : Model or callable, optional
        The mechanism, with other numbers than the controller's, or a function (q, qd, tau, dt) -> (q, qd) of a step,
        such as one of another simulator. By default the controller's model. It must be a function where more acts than
        the model and the torques: contacts of phases, loops, loads, values of symbols, bounds that hold a joint.
    parameters : callable, optional
        Time [s] -> parameters of the controller, such as a goal that moves.
    delay : float [s]
        At most one tick.
    noise : (float or shape (n,), float or shape (n,)) [rad, m], [rad/s, m/s]
        Standard deviations of measured positions and velocities.
    substeps : int
        Steps of the plant in a tick; with a delay at least one before and one after it.
    seed : int

    Returns
    -------
    ClosedLoop

    Raises
    ------
    InputError
        For a delay beyond one tick, a plant with other joints, and a model as plant where more than that acts.

    See Also
    --------
    receding

    Examples
    --------
    >>> still = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q))
    >>> hold = co.Problem(two_link(), 0.5, still, [co.initial(q=0.0, qd=0.0)])
    >>> controller = co.control.receding(hold, co.BSpline(10), tick=0.02)
    >>> loop = co.control.closed_loop(controller, 1.0, q=(0.3, 0.0), qd=0.0, noise=(1e-3, 1e-2))
    >>> bool(abs(loop.q[-1]).max() < 0.02)
    True
    """
    model, tick = instance("controller", controller, Receding).first.problem.model, controller.tick
    more = _beside_model(controller)
    if more and (plant is None or isinstance(plant, Model)):
        raise InputError(f"plant must be a function of (q, qd, tau, dt), as no model has {more}")
    ticks = max(1, round(finite_number("duration", duration, positive=True) / tick))
    deviations = [
        finite_array("noise", part, (model.n,)) for part in pair("noise", noise, "(of positions, of velocities)")
    ]
    if any((part < 0).any() for part in deviations):
        raise InputError(f"noise must not be negative, got {quoted(noise)}")
    substeps = count("substeps", substeps, at_least=1)
    delay = finite_number("delay", delay)
    if not 0 <= delay <= tick:
        raise InputError(f"delay must lie in 0 to one tick, {short(tick)} s, got {short(delay)} s")
    if parameters is not None:
        function("parameters", parameters, "a function of time", "t")
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    late = max(1, round(delay / tick * substeps)) if delay > 0 else 0  # substeps while the earlier torques act
    rest = max(1, substeps - late) if delay < tick else 0
    before_delay, after_delay = _during(model, plant, delay, late), _during(model, plant, tick - delay, rest)
    predicted = None if more else _during(model, None, delay, late)
    state = finite_array("q", q, (model.n_q,)), finite_array("qd", qd, (model.n,))
    StateSpace.of(model).checked("q", np.concatenate(state))
    controller.restart()
    states, torques, answers, before = [state], [], [], None
    for k in range(ticks):
        errors = [by * rng.standard_normal(model.n) for by in deviations]
        true = np.isfinite(state[0]).all()
        measured = model.displaced(state[0], errors[0]) if true else state[0], state[1] + errors[1]
        given = {} if parameters is None else _named(parameters(k * tick))
        if before is not None:
            measured = (
                _predicted(model, measured, answers[-1], tick, delay)
                if predicted is None
                else predicted(measured, before)
            )
        answers.append(controller(*measured, t=k * tick, **given))
        torque = answers[-1].tau
        before = torque if before is None else before  # without earlier torques, the first ones act at once
        state = after_delay(before_delay(state, before), torque)
        states.append(state)
        torques.append((delay * before + (tick - delay) * torque) / tick)
        before = torque
    t, (qs, qds) = tick * np.arange(ticks + 1), map(np.array, zip(*states, strict=True))
    return ClosedLoop(t, qs, qds, np.array(torques), answers)


def _beside_model(controller: Receding) -> str:
    """A part of a controller's problem that acts on the mechanism, and that no model has; "" for none."""
    if controller.schedule is not None:
        return "the contacts of phases"
    problem: Any = controller.first.problem
    if problem.coordinates is not None:
        return "closed loops"
    if problem.model.symbols:
        return f"values of its symbols, such as {problem.model.symbols[0]}"
    if problem.wrenches:
        body = problem.wrenches[0].body
        return f"the load on {body!r} (as in co.control.discretise(model, dt, loads=[...]).step)"
    if held := held_joints(problem):
        return f"the bounds that hold {held[0]!r} in place"
    return ""


def _named(values: Any) -> Mapping[str, Any]:
    """Values of parameters by name, as arguments of a controller."""
    given = mapping("values of the function parameters", values)
    if strange := [name for name in given if not isinstance(name, str) or name in ("q", "qd", "t")]:
        raise InputError(f"parameters must return values by the names of parameters, got {quoted(strange[0])}")
    return given


def _during(model: Model, plant: Model | Plant | None, seconds: float, steps: int) -> Callable[[State, Any], State]:
    """The state after some seconds with constant torques, by so many steps."""
    if not steps:
        return lambda state, tau: state
    step = _plant(model, plant, seconds / steps)

    def after(state: State, tau: np.ndarray) -> State:
        with np.errstate(all="ignore"):
            for _ in range(steps):
                state = step(*state, tau)
        return state

    return after


def _plant(model: Model, plant: Model | Plant | None, dt: float) -> Callable[..., State]:
    """A step (q, qd, tau) -> (q, qd)."""
    if plant is None or isinstance(plant, Model):
        other = model if plant is None else plant
        if (other.joint_names, other.position_names) != (model.joint_names, model.position_names):
            names, others = (shortened(m.position_names) or "none" for m in (model, other))
            raise InputError(f"plant must have the {model.n} joints of the controller's model, {names}; got {others}")
        system = discretise(other, dt)

        def step(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> State:
            after = system.step(0, np.concatenate([q, qd]), tau)
            return after[: model.n_q], after[model.n_q :]

        return step
    made = function("plant", plant, "a function", "q", "qd", "tau", "dt")

    def called(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> State:
        ends = pair("a plant's answer", made(q.copy(), qd.copy(), tau.copy(), dt), "(q, qd)")
        names, sizes = ("q of the plant", "qd of the plant"), (model.n_q, model.n)
        columns = (np.atleast_1d(float_array(name, end)) for name, end in zip(names, ends, strict=True))
        after, speeds = (float_array(n, c, (size,)) for n, c, size in zip(names, columns, sizes, strict=True))
        return after, speeds

    return called


def _predicted(model: Model, measured: Any, last: Tick, tick: float, delay: float) -> State:
    """The state when the next torques act: the plan begins when the last ones do."""
    now, then = (last.state(t) for t in (tick - delay, tick))
    return model.displaced(measured[0], model.displacement(now[0], then[0])), measured[1] + then[1] - now[1]

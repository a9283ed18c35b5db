"""A receding horizon in a simulated loop: another mechanism, delay, noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from colloc.control.discrete import discretise
from colloc.control.receding import Receding, Tick
from colloc.model import Model
from colloc.support.checks import InputError, count, finite_array, finite_number, function, instance, pair, spelt
from colloc.support.display import short

Plant = Callable[[np.ndarray, np.ndarray, np.ndarray, float], tuple[Any, Any]]  # q, qd, tau, dt -> q, qd


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
    controller is given the state that its own model predicts for that time, in phases by the change in its last plan.

    Parameters
    ----------
    controller : Receding
    duration : float [s]
    q, qd : float or shape (n_q,), (n,) [rad, m], [rad/s, m/s]
        State at the beginning.
    plant : Model or callable, optional
        The mechanism, with other numbers than the controller's, or a function (q, qd, tau, dt) -> (q, qd) of a step,
        such as one of another simulator. By default the controller's model. A function for a controller of phases,
        whose contacts are not part of the model.
    parameters : callable, optional
        Time [s] -> parameters of the controller, such as a goal that moves.
    delay : float [s]
        At most one tick.
    noise : (float or shape (n,), float or shape (n,)) [rad, m], [rad/s, m/s]
        Standard deviations of measured positions and velocities.
    substeps : int
        Steps of the plant in a tick.
    seed : int

    Returns
    -------
    ClosedLoop

    Raises
    ------
    InputError
        For a delay beyond one tick, a plant with another number of joints, and phases without a plant.

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
    if controller.schedule is not None and (plant is None or isinstance(plant, Model)):
        raise InputError("plant must be a function of (q, qd, tau, dt): a controller of phases has contacts of its own")
    ticks = max(1, round(finite_number("duration", duration, positive=True) / tick))
    deviations = [finite_array("noise", part, (model.n,)) for part in pair("noise", noise)]
    substeps = count("substeps", substeps, at_least=1)
    delay = finite_number("delay", delay)
    if not 0 <= delay <= tick:
        raise InputError(f"delay must lie in 0 to one tick, {short(tick)} s, got {short(delay)} s")
    if parameters is not None:
        function("parameters", parameters, "a function of time", "t")
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    step = _plant(model, plant, tick / substeps)
    own = None if controller.schedule is not None else _plant(model, None, tick / substeps)
    late = round(delay / tick * substeps)  # substeps during which the earlier torques act
    state = finite_array("q", q, (model.n_q,)), finite_array("qd", qd, (model.n,))
    states, torques, answers, before = [state], [], [], None
    for k in range(ticks):
        errors = [by * rng.standard_normal(model.n) for by in deviations]
        true = np.isfinite(state[0]).all()
        measured = model.displaced(state[0], errors[0]) if true else state[0], state[1] + errors[1]
        given = {} if parameters is None else parameters(k * tick)
        if before is not None:
            measured = (
                _predicted(model, measured, answers[-1], tick, delay)
                if own is None
                else _after(own, measured, before, late)
            )
        answers.append(controller(*measured, t=k * tick, **given))
        torque = answers[-1].tau
        before = torque if before is None else before  # without earlier torques, the first ones act at once
        state = _after(step, _after(step, state, before, late), torque, substeps - late)
        states.append(state)
        torques.append((late * before + (substeps - late) * torque) / substeps)
        before = torque
    t, (qs, qds) = tick * np.arange(ticks + 1), map(np.array, zip(*states, strict=True))
    return ClosedLoop(t, qs, qds, np.array(torques), answers)


def _plant(model: Model, plant: Model | Plant | None, dt: float) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """A step (q, qd, tau) -> (q, qd)."""
    if plant is None or isinstance(plant, Model):
        other = model if plant is None else plant
        if other.n != model.n:
            raise InputError(f"plant must have the {model.n} joints of the controller's model, got {other.n}")
        system = discretise(other, dt)
        return lambda q, qd, tau: _halves(system.step(0, np.concatenate([q, qd]), tau), model.n)
    made = function("plant", plant, "a function", "q", "qd", "tau", "dt")
    return lambda q, qd, tau: _halves(np.concatenate(made(q, qd, tau, dt)), model.n)


def _halves(x: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    return x[:-n], x[-n:]


def _predicted(model: Model, measured: Any, last: Tick, tick: float, delay: float) -> tuple[np.ndarray, np.ndarray]:
    """The state when the next torques act: the plan begins when the last ones do."""
    now, then = (last.state(t) for t in (tick - delay, tick))
    return model.displaced(measured[0], model.displacement(now[0], then[0])), measured[1] + then[1] - now[1]


def _after(step: Callable[..., Any], state: Any, tau: np.ndarray, steps: int) -> Any:
    with np.errstate(all="ignore"):
        for _ in range(steps):
            state = step(*state, tau)
    return state

"""Models in which joints follow others: computed on the whole tree, and reduced to its coordinates.

All joints of the tree move as q_t = c(q), qd_t = C qd and qdd_t = C qdd + C' qd, with C = dc/dq and C' its time
derivative. By virtual work the torques of the coordinates are tau = C'tau_t (here the transpose). Derivatives follow by
the chain rule: d(q_t, qd_t, qdd_t)/d(q, qd, qdd) is

    C     0    0
    C'    C    0
    C''   2C'  C

and C itself changes with q. Where joints follow linearly C is constant, and all terms with its derivatives are
structurally zero. The recursions themselves do not depend on couplings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import BoundArguments, signature
from typing import Any, ParamSpec, TypeVar

import casadi as ca

from colloc.model import CoupledMotion, Model

P = ParamSpec("P")
R = TypeVar("R")

Slopes = tuple[ca.SX, ca.SX, ca.SX]  # derivatives by q, qd and qdd


def of_tree(reduced: Callable[[Any, CoupledMotion], Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function of `model`, q and some of qd, qdd and multipliers, which is called with the tree without couplings.

    `reduced`, a function of its result, SX or (named) tuples of these, and of the motion of the tree, returns the
    result for the coordinates.
    """

    def decorated(fn: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(fn)

        @wraps(fn)
        def on_tree(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = parameters.bind(*args, **kwargs)
            if not bound.arguments["model"].couplings:
                return fn(*args, **kwargs)
            motion, symbols, values = _to_tree(bound)
            return _substituted(reduced(fn(*bound.args, **bound.kwargs), motion), symbols, values)

        return on_tree

    return decorated


def hessian_of_tree(slopes: Callable[..., Any]) -> Callable[[Callable[P, ca.SX]], Callable[P, ca.SX]]:
    """A function of `model`, q, qd, qdd, `multipliers` and loads that returns the Hessian of multipliers' torque.

    As `of_tree`. Where joints follow by curves the Hessian takes the torque and its first derivatives too, which are
    those of `slopes`, a function of the model, q, qd, qdd and loads that returns tau, dq, dqd, dqdd.
    """

    def decorated(fn: Callable[P, ca.SX]) -> Callable[P, ca.SX]:
        parameters = signature(fn)

        @wraps(fn)
        def on_tree(*args: P.args, **kwargs: P.kwargs) -> ca.SX:
            bound = parameters.bind(*args, **kwargs)
            model: Model = bound.arguments["model"]
            if not model.couplings:
                return fn(*args, **kwargs)
            multipliers: Any = bound.arguments["multipliers"]
            motion, symbols, values = _to_tree(bound)
            hessian = fn(*bound.args, **bound.kwargs)
            reduced = _chain(motion).T @ hessian @ _chain(motion)
            if model.curved:
                given = bound.arguments
                tree = slopes(given["model"], given["q"], given["qd"], given["qdd"], given.get("loads", ()))
                reduced += _coupling_curvature(tree, motion, multipliers)
            return _substituted(reduced, symbols, values)

        return on_tree

    return decorated


def unreduced(result: R, motion: CoupledMotion) -> R:
    """A result that is the same for tree and coordinates, such as an energy."""
    return result


def by_rows(vector: ca.SX, motion: CoupledMotion) -> ca.SX:
    """Torques."""
    return motion.C.T @ vector


def by_both(matrix: ca.SX, motion: CoupledMotion) -> ca.SX:
    """Derivatives of torques by accelerations."""
    return motion.C.T @ matrix @ motion.C


def by_state(slopes: Slopes, motion: CoupledMotion) -> Slopes:
    """Derivatives by q, qd and qdd of a result that is the same for tree and coordinates."""
    (by_q, by_qd, by_qdd), C, rate = slopes, motion.C, motion.C_rate
    return (
        ca.sparsify(by_q @ C + by_qd @ rate + by_qdd @ motion.C_second),
        ca.sparsify(by_qd @ C + 2 * (by_qdd @ rate)),
        by_qdd @ C,
    )


def torque_slopes(tau: ca.SX, slopes: Slopes, motion: CoupledMotion) -> Slopes:
    """Derivatives by q, qd and qdd of torques, from the tree's."""
    by_q, by_qd, by_qdd = (motion.C.T @ slope for slope in by_state(slopes, motion))
    return ca.sparsify(by_q + ca.diag(motion.bends[1].T @ tau)), by_qd, by_qdd


def _chain(motion: CoupledMotion) -> ca.SX:
    """Derivatives of q, qd and qdd of the tree, one below the other, by those of the coordinates."""
    C, rate, zero = motion.C, motion.C_rate, ca.SX(*motion.C.shape)
    return ca.blockcat([[C, zero, zero], [rate, C, zero], [motion.C_second, 2 * rate, C]])


def _coupling_curvature(tree: Any, motion: CoupledMotion, multipliers: ca.SX) -> ca.SX:
    """Terms of the Hessian of multipliers' torque with derivatives of C, SX, shape (3n, 3n).

    With m = C mu the multipliers of the tree's torques: derivatives of m, on one side, of the torques on the other;
    second derivatives of m; and the tree's derivatives of m'tau_t times the second derivatives of q_t, qd_t, qdd_t.
    """
    tau, by_q, by_qd, by_qdd = tree
    C, second, third, fourth = motion.bends
    qd, qdd = motion.qd, motion.qdd
    n = C.shape[1]
    changing = (second @ ca.diag(multipliers)).T @ ca.horzcat(by_q, by_qd, by_qdd) @ _chain(motion)
    crossed = ca.vertcat(changing, ca.SX(2 * n, 3 * n))
    m = C @ multipliers
    at_q, at_qd, at_qdd = (slope.T @ m for slope in (by_q, by_qd, by_qdd))
    q_q = second.T @ at_q + (third.T @ at_qd) * qd + (third.T @ at_qdd) * qdd + (fourth.T @ at_qdd) * qd**2
    q_q += (third.T @ tau) * multipliers
    q_qd = second.T @ at_qd + 2 * (third.T @ at_qdd) * qd
    q_qdd, qd_qd = second.T @ at_qdd, 2 * (second.T @ at_qdd)
    blocks = [[ca.diag(part) for part in row] for row in ((q_q, q_qd, q_qdd), (q_qd, qd_qd), (q_qdd,))]
    zero = ca.SX(n, n)
    curvature = ca.blockcat([blocks[0], [*blocks[1], zero], [*blocks[2], zero, zero]])
    return ca.sparsify(crossed + crossed.T + curvature)


def _to_tree(bound: BoundArguments) -> tuple[CoupledMotion, list[ca.SX], list[ca.SX]]:
    """Replace the arguments by those of the tree: symbols, by which some functions differentiate, and their values."""
    arguments = bound.arguments
    model: Model = arguments["model"]
    motion = model.coupled_motion(arguments["q"], arguments.get("qd"), arguments.get("qdd"))
    on_tree = {"q": motion.positions, "qd": motion.rates, "qdd": motion.accelerations}
    if "multipliers" in arguments:
        on_tree["multipliers"] = motion.C @ arguments["multipliers"]
    symbols, values = [], []
    for name in on_tree.keys() & arguments.keys():
        values.append(ca.densify(on_tree[name]))
        symbols.append(ca.SX.sym(name, values[-1].shape[0]))
        arguments[name] = symbols[-1]
    arguments["model"] = model.tree
    return motion, symbols, values


def _substituted(result: Any, symbols: list[ca.SX], values: list[ca.SX]) -> Any:
    """A result, SX or (named) tuples of these, with values for symbols."""
    return _rebuilt(result, iter(ca.substitute(list(_parts(result)), symbols, values)))


def _parts(result: Any) -> Iterator[ca.SX]:
    if isinstance(result, tuple):
        for item in result:
            yield from _parts(item)
    else:
        yield result


def _rebuilt(result: Any, parts: Iterator[ca.SX]) -> Any:
    if not isinstance(result, tuple):
        return next(parts)
    items: Iterable[Any] = [_rebuilt(item, parts) for item in result]
    return type(result)(*items) if hasattr(result, "_fields") else tuple(items)

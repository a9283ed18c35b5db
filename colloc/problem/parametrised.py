"""A model whose numbers are parameters, so that one program serves other bodies, loads and lengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from colloc.model import Body, Friction, Joint, Model, Passive
from colloc.problem.unknowns import Parameter
from colloc.support.checks import InputError, instance, quoted, spelt
from colloc.support.pickling import Portable

_PASSIVE = ("damping", "stiffness", "rest", "armature")
_LOWER = [(i, j) for j in range(3) for i in range(j, 3)]  # entries of a symmetric tensor


@dataclass(frozen=True, eq=False)
class Parametrised(Portable):
    """A model whose numbers are symbols, and the parameter that holds them; see `parametrised`.

    Parameters
    ----------
    model : Model
        To be used in a problem.
    numbers : Parameter
        To be listed among the problem's parameters.
    original : Model
        The model whose numbers are the parameter's default.

    Examples
    --------
    >>> arm = co.problem.parametrised(two_link())
    >>> arm.values(two_link())["numbers"].size == arm.numbers.value.size
    True
    """

    model: Model
    numbers: Parameter
    original: Model

    def __repr__(self) -> str:
        return f"Parametrised({self.original.name}: {self.numbers.value.size} numbers)"

    @property
    def names(self) -> tuple[str, ...]:
        """Name of every number, such as "mass of body 'rod'" or "com of body 'rod' [x]".

        The place of a joint is in the parent's frame, that of a link frame in the frame of its joint: there a DH row
        has the length of the link.
        """
        varying = zip(_numbers(self.original), _components(self.original), strict=True)
        return tuple(
            what + (f" [{component}]" if component else "")
            for (what, part), (_, components) in varying
            for k, component in enumerate(components)
            if _varies(part[k])
        )

    @property
    def units(self) -> tuple[str, ...]:
        varying = zip(_numbers(self.original), _components(self.original), strict=True)
        return tuple(unit for (_, part), (units, _) in varying for k, unit in enumerate(units) if _varies(part[k]))

    def values(self, model: Model) -> dict[str, np.ndarray]:
        """Numbers of another model of the same structure, as parameters for `solve`.

        Parameters
        ----------
        model : Model
            With the same bodies, joints and axes. Its joint limits and its gravity are ignored.

        Returns
        -------
        dict of str to ndarray
            With one entry, named as the parameter.

        Raises
        ------
        InputError
            Naming the place: for bodies, joints or axes of another kind, or a nonzero number where the parametrised
            model has zero.
        """
        instance("model", model, Model)
        _check_alike(self.original, model)
        values = []
        for (what, part), (_, new) in zip(_numbers(self.original), _numbers(model), strict=True):
            for k in range(part.numel()):
                if not new[k].is_constant():
                    raise InputError(f"{what} must be numbers, got {new}")
                if _varies(part[k]):
                    values.append(float(new[k]))
                elif part[k].is_constant() and not new[k].is_zero():
                    raise InputError(
                        f"{what} is {new}, where the parametrised model has {part}: zeros stay zero, so parametrise "
                        "a model in which this is not"
                    )
        return {self.numbers.name: np.array(values)}


@spelt
def parametrised(model: Model, name: str = "numbers") -> Parametrised:
    """A model whose masses, lengths, inertias and passive parts are parameters, so that they may change between solves.

    A program with such a model is built and compiled once and serves every model of the same structure. Every nonzero
    number becomes an entry of one parameter: masses, centres of mass, inertias, places of joints, tips and markers,
    damping, springs, armature and friction. Zeros stay constant, which keeps the dynamics sparse, as do rotations,
    joint axes, joint limits and gravity.

    Parameters
    ----------
    model : Model
        Its numbers are the parameter's default; symbols in it are kept.
    name : str
        Name of the parameter.

    Raises
    ------
    InputError
        For a model without numbers.

    See Also
    --------
    Parameter, sweep

    Examples
    --------
    >>> rod = co.Body("rod", co.revolute(), mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    >>> arm = co.problem.parametrised(co.Model([rod], gravity=(0, -9.81, 0)))
    >>> turn = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> nlp = co.transcribe(co.Problem(arm.model, 1.0, effort, turn, parameters=[arm.numbers]), co.BSpline(10))
    >>> heavy = co.Model([co.Body("rod", co.revolute(), mass=2.0, com=(0.5, 0, 0), inertia=(0, 0.2, 0.2))])
    >>> light, twice = co.solve(nlp), co.solve(nlp, parameters=arm.values(heavy))
    >>> round(twice.cost / light.cost, 6)
    4.0
    """
    instance("model", model, Model)
    columns = [part for _, part in _numbers(model)]
    values = [float(part[k]) for part in columns for k in range(part.numel()) if _varies(part[k])]
    if not values:
        raise InputError(f"{model!r} has no numbers to be parameters")
    numbers = Parameter(name, values)
    symbols = iter(ca.vertsplit(numbers.symbol))
    parts = iter([_with_symbols(part, symbols) for part in columns])
    bodies = [_body(body, parts) for body in model.bodies]
    markers = {key: (body, next(parts)) for key, (body, _) in model.markers.items()}
    return Parametrised(replace(model, bodies=bodies, markers=markers), numbers, model)


def _varies(entry: ca.SX) -> bool:
    """Whether an entry becomes a parameter."""
    return entry.is_constant() and not entry.is_zero()


def _with_symbols(part: ca.SX, symbols: Iterator[ca.SX]) -> ca.SX:
    entries = [next(symbols) if _varies(part[k]) else part[k] for k in range(part.numel())]
    return ca.sparsify(ca.vertcat(*entries))


def _numbers(model: Model) -> Iterator[tuple[str, ca.SX]]:
    """The numbers of a model as columns, each with its name, in the order in which `_body` takes them."""
    for body in model.bodies:
        of, joint = f"of body {body.name!r}", body.joint
        yield f"mass {of}", body.mass
        yield f"com {of}", body.com
        yield f"inertia {of}", ca.vertcat(*(body.inertia[i, j] for i, j in _LOWER))
        yield f"joint place {of}", joint.before[:3, 3]
        yield f"frame place {of}", joint.after[:3, 3]
        for name in _PASSIVE:
            yield f"{name} of joint {body.joint_name!r}", getattr(joint.passive, name)
        if (friction := joint.passive.friction) is not None:
            yield f"friction of joint {body.joint_name!r}", ca.vertcat(friction.level, friction.velocity)
        if body.tip is not None:
            yield f"tip {of}", body.tip
    for name, (_, point) in model.markers.items():
        yield f"point of marker {name!r}", point


def _components(model: Model) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Units and components of the columns of `_numbers`; a component without a name is the only one."""
    place = ("m",) * 3, tuple("xyz")
    for body in model.bodies:
        slides = body.joint.moves and not body.joint.turns
        force, travel, inertia = ("N", "m", "kg") if slides else ("N m", "rad", "kg m2")
        yield ("kg",), ("",)
        yield place
        yield ("kg m2",) * 6, tuple("xyz"[i] + "xyz"[j] for i, j in _LOWER)
        yield place
        yield place
        passive = {"damping": f"{force} s/{travel}", "stiffness": f"{force}/{travel}", "rest": travel}
        passive["armature"] = inertia
        for name in _PASSIVE:
            yield (passive[name],), ("",)
        if body.joint.passive.friction is not None:
            yield (force, f"{travel}/s"), ("level", "velocity")
        if body.tip is not None:
            yield place
    for _ in model.markers:
        yield place


def _body(body: Body, parts: Iterator[ca.SX]) -> Body:
    mass, com, lower = next(parts), next(parts), next(parts)
    inertia = ca.SX(3, 3)
    for k, (i, j) in enumerate(_LOWER):
        inertia[i, j] = inertia[j, i] = lower[k]
    joint = _joint(body.joint, parts)
    tip = None if body.tip is None else next(parts)
    return replace(body, joint=joint, mass=mass, com=com, inertia=ca.sparsify(inertia), tip=tip)


def _joint(joint: Joint, parts: Iterator[ca.SX]) -> Joint:
    before, after = ca.SX(joint.before), ca.SX(joint.after)
    before[:3, 3], after[:3, 3] = next(parts), next(parts)
    numbers = {name: next(parts) for name in _PASSIVE}
    friction = None if joint.passive.friction is None else Friction(*ca.vertsplit(next(parts)))
    passive = Passive(**numbers, friction=friction)
    return replace(joint, before=ca.sparsify(before), after=ca.sparsify(after), passive=passive)


def _check_alike(first: Model, second: Model) -> None:
    """InputError unless two models differ in numbers alone."""
    lists = (
        ("bodies", _names),
        ("parents", _parents),
        ("tips", _tipped),
        ("markers", _marked),
        ("couplings", _coupled),
    )
    for what, of in lists:
        if of(first) != of(second):
            raise InputError(f"{what} must be {', '.join(of(first)) or 'none'}, got {', '.join(of(second)) or 'none'}")
    for a, b in zip(first.bodies, second.bodies, strict=True):
        if not a.joint.alike(b.joint):
            raise InputError(f"joint of body {a.name!r} must be of the same kind, {a.joint!r}, got {quoted(b.joint)}")
        for what, numbers in (("joint axis", _axes), ("rotation", _turns)):
            if not np.allclose(numbers(a), numbers(b), rtol=0, atol=1e-9):
                raise InputError(f"{what} of body {a.name!r} must be {numbers(a).tolist()}, got {numbers(b).tolist()}")


def _names(model: Model) -> list[str]:
    return [f"{body.name} ({body.joint_name})" for body in model.bodies]


def _parents(model: Model) -> list[str]:
    return [str(body.parent) for body in model.bodies]


def _tipped(model: Model) -> list[str]:
    return [body.name for body in model.bodies if body.tip is not None]


def _marked(model: Model) -> list[str]:
    return [f"{name} on {body}" for name, (body, _) in model.markers.items()]


def _coupled(model: Model) -> list[str]:
    return [f"{joint} = {coupling!r}" for joint, coupling in model.couplings.items()]


def _axes(body: Body) -> np.ndarray:
    return np.concatenate(body.joint.screw)


def _turns(body: Body) -> np.ndarray:
    both: list[Any] = [body.joint.before[:3, :3], body.joint.after[:3, :3]]
    return np.concatenate([np.array(ca.evalf(part)).ravel() for part in both])

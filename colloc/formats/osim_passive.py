"""Laws of passive torques in OpenSim's files: limits of coordinates, and expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from colloc.formats.numbers import parse_number
from colloc.support.checks import InputError, quoted
from colloc.support.pickling import Portable

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "exp": ca.exp, "log": ca.log, "sqrt": ca.sqrt, "abs": ca.fabs, "sin": ca.sin, "cos": ca.cos, "tan": ca.tan,
    "asin": ca.asin, "acos": ca.acos, "atan": ca.atan, "sinh": ca.sinh, "cosh": ca.cosh, "tanh": ca.tanh,
    "min": ca.fmin, "max": ca.fmax, "square": lambda x: x**2, "cube": lambda x: x**3, "recip": lambda x: 1 / x,
    "step": lambda x: x >= 0,
}  # fmt: skip
_OPERATIONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}
_LONGEST = 1000  # characters


@dataclass(frozen=True)
class LimitTorque(Portable):
    """A torque that sets in beyond two limits, as OpenSim's CoordinateLimitForce.

    Stiffness and damping rise from zero at a limit to their values where it is exceeded by the transition, as the
    polynomial of degree five whose first two derivatives are zero at both ends.
    """

    lower: float  # rad or m
    upper: float
    lower_stiffness: float  # N m/rad or N/m
    upper_stiffness: float
    damping: float  # N m s/rad or N s/m
    transition: float  # rad or m

    def __call__(self, q: Any, qd: Any) -> Any:
        above, below = q - self.upper, q - self.lower
        up, down = self._share(above), self._share(-below)
        spring = self.upper_stiffness * up * above + self.lower_stiffness * down * below
        return -spring - self.damping * (up + down) * qd

    def _share(self, beyond: Any) -> Any:
        if not self.transition:
            return beyond > 0
        s = ca.fmin(ca.fmax(beyond / self.transition, 0), 1)
        return s**3 * (10 - 15 * s + 6 * s**2)


@dataclass(frozen=True)
class ExpressionTorque(Portable):
    """A torque by an expression of q and qdot, as OpenSim's ExpressionBasedCoordinateForce.

    Raises
    ------
    InputError
        For text that is no such expression.
    """

    expression: str

    def __post_init__(self):
        q, qd = ca.SX.sym("q"), ca.SX.sym("qd")
        self(q, qd)

    def __call__(self, q: Any, qd: Any) -> Any:
        try:
            if len(self.expression) > _LONGEST:
                raise SyntaxError
            tree = ast.parse("".join(self.expression.split()).replace("^", "**"), mode="eval")
            return _value(tree.body, {"q": q, "qdot": qd})
        except (SyntaxError, ValueError, TypeError, KeyError, RecursionError):
            known = ", ".join(sorted(_FUNCTIONS))
            raise InputError(
                f"expression must be of q and qdot, with + - * / ^ and {known}, got {quoted(self.expression)}"
            ) from None


def _value(node: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return parse_number(str(node.value))
    if isinstance(node, ast.Name):
        return variables[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand, variables)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        return _OPERATIONS[type(node.op)](_value(node.left, variables), _value(node.right, variables))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _FUNCTIONS[node.func.id](*(_value(argument, variables) for argument in node.args))
    raise SyntaxError

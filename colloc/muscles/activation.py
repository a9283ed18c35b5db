"""From excitations to activations, with time constants of rise and fall (De Groote et al. 2009, 2016; Thelen 2003)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from colloc.support.arguments import elementwise, number, validated
from colloc.support.checks import InputError

# OpenSim recommends 10 where the time constants are to be reached; as published 0.1.
SHARPNESS = 10.0


@validated(
    excitation=elementwise(),
    activation=elementwise(),
    rise=elementwise(),
    fall=elementwise(),
    sharpness=number(),
)
def activation_rate(excitation: Any, activation: Any, rise: Any, fall: Any, sharpness: float = SHARPNESS) -> Any:
    """Time derivative of activations, explicit (De Groote et al. 2016, equations 1 and 2).

    Parameters
    ----------
    excitation, activation : SX, DM or float, shape (m,)
    rise, fall : SX, DM or float, shape (m,) [s]
        Time constants of activation and of deactivation.
    sharpness : float
        Of the transition between the two as the excitation passes the activation.

    Returns
    -------
    SX, DM or float, shape (m,) [1/s]
    """
    _check_sizes(excitation=excitation, activation=activation, rise=rise, fall=fall)
    share = 0.5 * ca.tanh(sharpness * (excitation - activation))
    slowing = 0.5 + 1.5 * activation
    return ((share + 0.5) / (rise * slowing) + (0.5 - share) * slowing / fall) * (excitation - activation)


@validated(rate=elementwise(), activation=elementwise(), rise=elementwise(), fall=elementwise())
def activation_rows(rate: Any, activation: Any, rise: Any, fall: Any) -> ca.SX:
    """Rows that are nonnegative where some excitation from 0 to 1 has this rate (De Groote et al. 2009, equation 8).

    They are linear in rate and activation, without an excitation: no muscle falls faster than by deactivation, or rises
    faster than by activation.

    Parameters
    ----------
    rate, activation : SX or DM, shape (m,) [1/s], [1]
    rise, fall : SX, DM or float, shape (m,) [s]

    Returns
    -------
    SX, shape (2 m,) [1/s]
    """
    _check_sizes(rate=rate, activation=activation, rise=rise, fall=fall)
    return ca.vertcat(ca.SX(rate + activation / fall), ca.SX((1 - activation) / rise - rate))


def _check_sizes(**values: Any) -> None:
    """InputError unless all values that are no scalars have the same shape."""
    shapes = {name: (1, 1) if isinstance(value, float) else value.shape for name, value in values.items()}
    if len({shape for shape in shapes.values() if shape != (1, 1)}) > 1:
        raise InputError(f"muscles must be as many everywhere, got {', '.join(f'{n} {s}' for n, s in shapes.items())}")

"""Activation: rest, time constants, and the rows that stand for an excitation."""

import casadi as ca
import numpy as np
import pytest

from colloc.muscles.activation import activation_rate, activation_rows

RISE, FALL = 0.015, 0.060


def test_it_rests_where_excitation_and_activation_are_one():
    for level in (0.01, 0.4, 1.0):
        assert activation_rate(level, level, RISE, FALL) == 0.0


@pytest.mark.parametrize(("excitation", "activation"), [(1.0, 0.2), (0.9, 0.05), (0.0, 0.9), (0.05, 0.8)])
def test_far_from_rest_it_is_the_equation_of_thelen(excitation: float, activation: float):
    """Thelen 2003, equations 1 and 2, which jump where the two meet."""
    slowing = 0.5 + 1.5 * activation
    time = RISE * slowing if excitation > activation else FALL / slowing
    rate = activation_rate(excitation, activation, RISE, FALL, sharpness=50.0)
    assert rate == pytest.approx((excitation - activation) / time, rel=1e-12)


def test_rows_are_zero_at_the_fastest_changes():
    activation = np.array([0.1, 0.5, 0.9])
    falling, rising = -activation / FALL, (1 - activation) / RISE
    for rate, zero in ((falling, slice(0, 3)), (rising, slice(3, 6))):
        rows = ca.evalf(activation_rows(ca.DM(rate), ca.DM(activation), RISE, FALL)).full().ravel()
        np.testing.assert_allclose(rows[zero], 0.0, atol=1e-12)
        assert (np.delete(rows, zero) > 0).all()

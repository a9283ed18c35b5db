"""Curves against OpenSim's and against their own integrals, slopes and inverses."""

import casadi as ca
import numpy as np
import pytest

import colloc as co

SETS = [co.muscles.OPENSIM, co.muscles.PUBLISHED, co.muscles.PUBLISHED.with_tendon(growth=20.0)]


def test_they_are_those_of_opensim():
    """OpenSim 4.6, DeGrooteFregly2016Muscle with its default numbers."""
    curves = co.muscles.OPENSIM
    assert curves.active_force(0.9) == pytest.approx(0.9371228431634, rel=1e-12)
    assert curves.force_velocity(-0.2) == pytest.approx(0.5449524957437, rel=1e-12)
    assert curves.passive_force(1.2) == pytest.approx(0.0694011611698, rel=1e-11)
    assert curves.tendon_force(1.03) == pytest.approx(0.3990307665305, rel=1e-11)


def test_opensims_pass_through_their_end_points():
    curves = co.muscles.OPENSIM
    points = [
        (curves.active_force, 1.0, 1.0), (curves.force_velocity, 0.0, 1.0), (curves.force_velocity, -1.0, 0.0),
        (curves.passive_force, 0.2, 0.0), (curves.passive_force, 1.6, 1.0), (curves.tendon_force, 1.0, 0.0),
        (curves.tendon_force, 1.049, 1.0),
    ]  # fmt: skip
    for curve, x, y in points:
        assert curve(x) == pytest.approx(y, abs=1e-14)


def test_the_published_ones_are_near():
    """De Groote et al. 2016, table 1: the same curves to 1.5 % of the maximal force."""
    x, v = ca.DM(np.linspace(0.5, 1.5, 50)), ca.DM(np.linspace(-1.0, 0.5, 50))
    a, b = co.muscles.PUBLISHED, co.muscles.OPENSIM
    for name, points in (("active_force", x), ("force_velocity", v), ("passive_force", x)):
        difference = getattr(a, name)(points) - getattr(b, name)(points)
        assert float(ca.norm_inf(difference)) < 0.015, name


@pytest.mark.parametrize("curves", SETS)
def test_tendons_know_their_inverse_their_slope_and_their_integral(curves: co.muscles.MuscleCurves):
    force = np.linspace(0.01, 2.0, 7)
    length = curves.tendon_length(ca.DM(force))
    np.testing.assert_allclose(curves.tendon_force(length).full().ravel(), force, rtol=1e-12)
    h = 1e-6
    slope = (curves.tendon_force(length + h) - curves.tendon_force(length - h)) / (2 * h)
    np.testing.assert_allclose(curves.tendon_stiffness(ca.DM(force)).full(), slope.full(), rtol=1e-8)
    x, weights = np.polynomial.legendre.leggauss(30)
    start = curves.tendon_length(0.0)
    for f, end in zip(force, length.full().ravel(), strict=True):
        middle, half = (start + end) / 2, (end - start) / 2
        work = half * weights @ curves.tendon_force(ca.DM(middle + half * x)).full().ravel()
        assert curves.tendon_energy(f) == pytest.approx(work, rel=1e-10)


@pytest.mark.parametrize("curves", SETS)
def test_tendons_of_another_stiffness(curves: co.muscles.MuscleCurves):
    softer = curves.with_tendon(strain=0.1)
    assert softer.tendon_length(1.0) == pytest.approx(1.1, abs=1e-13)
    assert softer.tendon_force(1.0) == pytest.approx(curves.tendon_force(1.0), abs=1e-14)
    assert softer.tendon_stiffness(1.0) < curves.tendon_stiffness(1.0)


def test_a_published_tendon_of_another_stiffness():
    """Falisse et al. 2019: the force at slack length is that of a growth of 35."""
    shift = (np.exp(35 * 0.005) - np.exp(20 * 0.005)) / 5
    length = np.log(5 * (0.3 + 0.25 - shift)) / 20 + 0.995
    assert SETS[2].tendon_length(0.3) == pytest.approx(length, rel=1e-14)


def test_an_active_force_over_a_wider_range():
    """As OpenSim's `active_force_width_scale`, that of the length brought nearer to the optimal."""
    lengths = np.linspace(0.4, 1.8, 29)
    wide = co.muscles.OPENSIM.with_active(width=1.5)
    expected = [co.muscles.OPENSIM.active_force((length - 1) / 1.5 + 1) for length in lengths]
    np.testing.assert_allclose([wide.active_force(length) for length in lengths], expected, rtol=1e-12)


def test_a_passive_force_of_another_strain():
    stiff, none = (co.muscles.OPENSIM.with_passive(strain=strain) for strain in (0.4, None))
    assert stiff.passive_force(1.4) == pytest.approx(1.0, rel=1e-14)
    assert stiff.passive_force(0.2) == pytest.approx(0.0, abs=1e-14)
    assert co.muscles.OPENSIM.with_passive(strain=0.6).passive == pytest.approx(co.muscles.OPENSIM.passive, rel=1e-14)
    assert none.passive_force(1.4) == 0.0
    length = ca.SX.sym("length")
    assert ca.evalf(ca.substitute(ca.jacobian(none.passive_force(length), length), length, 1.4)) == 0


def test_misuse():
    with pytest.raises(co.InputError, match="width of the active force must be finite and positive"):
        co.muscles.OPENSIM.with_active(width=0.0)
    with pytest.raises(co.InputError, match="strain of passive fibers must be finite and positive"):
        co.muscles.OPENSIM.with_passive(strain=-0.1)
    for arguments in ({}, {"strain": 0.05, "growth": 35.0}):
        with pytest.raises(co.InputError, match="with_tendon needs strain or growth"):
            co.muscles.OPENSIM.with_tendon(**arguments)
    with pytest.raises(co.InputError, match="strain of the tendon must be finite and positive"):
        co.muscles.OPENSIM.with_tendon(strain=-0.1)

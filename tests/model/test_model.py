"""Bodies, joints, limits, loads and models: what they compute and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import colloc as co
from colloc.model import check_loads
from colloc.models.two_link import two_link
from tests.support.random_trees import evaluate, numbers, point_cloud_inertia, random_tree


def body(name: str = "link", parent: str | None = None, **properties: Any) -> co.Body:
    """A body on a hinge."""
    return co.Body(name, co.revolute(), parent, **properties)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("points", [1, 2, 3, 20])
def test_pseudo_inertia_is_the_sum_over_particles(seed, points):
    """Integral of r r' over the mass with r = (x, y, z, 1), about the frame's origin, from data about the com."""
    rng = np.random.default_rng(seed)
    masses, positions = rng.uniform(0.1, 2, points), rng.normal(size=(points, 3)) + rng.normal(size=3)
    homogeneous = np.column_stack([positions, np.ones(points)])
    expected = (homogeneous.T * masses) @ homogeneous
    result = numbers(body(**point_cloud_inertia(masses, positions)).pseudo_inertia)
    assert result == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_pseudo_inertia_of_a_box_is_its_integral():
    """A homogeneous box, integrated by Gauss-Legendre quadrature, which is exact for second moments."""
    sides, corner, density = np.array([0.2, 0.5, 0.3]), np.array([0.1, -0.2, 0.4]), 700.0
    mass = density * sides.prod()
    inertia = mass / 12 * ((sides @ sides) - sides**2)
    nodes, weights = np.polynomial.legendre.leggauss(2)
    x, y, z = (c + s * (nodes + 1) / 2 for c, s in zip(corner, sides, strict=True))
    cell = np.array([[a, b, c, 1] for a in x for b in y for c in z])
    w = np.array([a * b * c for a in weights for b in weights for c in weights]) * mass / 8
    result = numbers(body(mass=mass, com=corner + sides / 2, inertia=inertia).pseudo_inertia)
    assert result == pytest.approx((cell.T * w) @ cell, rel=1e-12)


def test_pseudo_inertia_of_symbols_evaluates_to_that_of_numbers():
    m, c, tensor = ca.SX.sym("m"), ca.SX.sym("c", 3), ca.SX.sym("I", 3, 3)
    rng = np.random.default_rng(0)
    numeric = point_cloud_inertia(rng.uniform(1, 2, 5), rng.normal(size=(5, 3)))
    symbolic = body(mass=m, com=c, inertia=tensor).pseudo_inertia
    result = evaluate([symbolic], [m, c, tensor], [numeric["mass"], numeric["com"], numeric["inertia"]])[0]
    assert result == pytest.approx(numbers(body(**numeric).pseudo_inertia), rel=1e-14)


@pytest.mark.parametrize(
    "given",
    [
        (1, 2, 2.5),
        [1, 2, 2.5],
        np.array([1, 2, 2.5]),
        ca.SX([1, 2, 2.5]),
        ca.DM([1, 2, 2.5]),
    ],
)
def test_three_inertias_are_a_diagonal_tensor(given):
    assert numbers(body(mass=1, inertia=given).inertia).tolist() == np.diag([1, 2, 2.5]).tolist()


def test_three_symbolic_inertias_are_a_diagonal_tensor():
    i = ca.SX.sym("i")
    tensor = body(mass=1, inertia=(i, 2 * i, 2)).inertia
    assert evaluate([tensor], [i], [0.7])[0] == pytest.approx(np.diag([0.7, 1.4, 2]))


@pytest.mark.parametrize("bad", [np.full((3, 3), np.nan), [[1, 0, 0], [0, 1, 0], [0, 0, np.inf]]])
def test_inertia_that_is_not_finite_is_refused_for_that(bad):
    with pytest.raises(co.InputError, match="inertia of body 'link' must be finite"):
        body(mass=1, inertia=bad)


def test_numbers_among_symbols_must_be_finite():
    i = ca.SX.sym("i")
    with pytest.raises(co.InputError, match="inertia of body 'link' must be finite"):
        body(mass=1, inertia=(i, 2 * i, np.inf))


def test_a_body_keeps_its_own_copy_of_an_expression():
    com = ca.vertcat(ca.SX.sym("x"), 0.2, 0.0)
    link = body(mass=1, com=com)
    com[1] = 5.0
    assert float(link.com[1]) == 0.2


def test_a_mass_may_be_a_quotient_of_symbols():
    """A symbol in a denominator is legal; zero need not be a legal value."""
    total, parts = ca.SX.sym("total"), ca.SX.sym("parts")
    mass = body(mass=total / parts).mass
    assert evaluate([mass], [total, parts], [6.0, 2.0])[0] == pytest.approx(3.0)


def rotated(principal: Any, rpy: Any) -> np.ndarray:
    """Tensor with given principal moments in turned axes."""
    axes = Rotation.from_euler("xyz", rpy).as_matrix()
    tensor = axes @ np.diag(principal) @ axes.T
    return (tensor + tensor.T) / 2


def random_cases(seed: int) -> Iterator[tuple[np.random.Generator, np.ndarray]]:
    """Sixty generators of random numbers, each with three angles, multiples of right angles among them."""
    for k in range(60):
        rng = np.random.default_rng([seed, k])
        yield rng, np.where(rng.random(3) < 0.3, rng.integers(-2, 3, 3) * np.pi / 2, rng.uniform(-np.pi, np.pi, 3))


def test_every_inertia_of_a_mass_distribution_is_accepted():
    """Any non-negative second moments (a, b, c) belong to a body, of principal inertias b + c, c + a, a + b."""
    for rng, rpy in random_cases(0):
        a, b, c = 10.0 ** rng.uniform(rng.choice([-310, -3]), 3, 3) * (rng.random(3) < 0.8)
        tensor = rotated((b + c, c + a, a + b), rpy)
        assert numbers(body(mass=1, inertia=tensor).inertia) == pytest.approx(tensor, abs=0)


def test_every_inertia_beyond_the_triangle_inequality_is_refused():
    for rng, rpy in random_cases(1):
        small = 10 ** rng.uniform(-3, 3, 2)
        tensor = rotated((*small, small.sum() * (1 + 10 ** rng.uniform(-6, 1))), rpy)
        with pytest.raises(co.InputError, match="inertia of body 'link' is physically impossible: principal moments"):
            body(mass=1, inertia=tensor)


def test_every_inertia_with_a_negative_principal_moment_is_refused():
    for rng, rpy in random_cases(2):
        small, large = 10 ** rng.uniform(-6, 0), 10 ** rng.uniform(0, 3)
        with pytest.raises(co.InputError, match="physically impossible"):
            body(mass=1, inertia=rotated((-small * large, large, large), rpy))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mass": -1}, r"mass of body 'link' must not be negative, got -1\.0"),
        ({"mass": np.nan}, r"mass of body 'link' must be finite, got nan"),
        ({"mass": np.inf}, r"mass of body 'link' must be finite, got inf"),
        ({"mass": "heavy"}, r"mass of body 'link' must be a scalar, numbers or SX symbols, got 'heavy'"),
        ({"mass": (1, 2)}, r"mass of body 'link' must be a scalar, got \(1, 2\)"),
        ({"com": (0, 1)}, r"com of body 'link' must be of shape \(3,\), got \(0, 1\)"),
        ({"com": 0}, r"com of body 'link' must be of shape \(3,\), got 0"),
        ({"com": (0, np.nan, 0)}, r"com of body 'link' must be finite, got \(0, nan, 0\)"),
        (
            {"com": (0, ca.MX.sym("x"), 0)},
            r"com of body 'link' must be of shape \(3,\), numbers or SX symbols, got \(0, MX\(x\), 0\)",
        ),
        ({"inertia": 2.0}, r"inertia of body 'link' must be of shape \(3, 3\), got 2\.0"),
        ({"inertia": (1, 1)}, r"inertia of body 'link' must be of shape \(3, 3\), got \(1, 1\)"),
        ({"inertia": (1, 1, np.inf)}, r"inertia of body 'link' must be finite, got \(1, 1, inf\)"),
        ({"inertia": np.eye(3) + np.eye(3, k=1) / 9}, r"inertia of body 'link' must be symmetric, got \[\[1\.0, 0\.11"),
        (
            {"inertia": (1, 1, 2.1)},
            r"inertia of body 'link' is physically impossible: principal moments \[1\. +1\. +2\.1",
        ),
        ({"inertia": (-1, 1, 1)}, r"principal moments \[-1\. +1\. +1\.\] must be >= 0 and no one may exceed the sum"),
        ({"mass": 0, "inertia": (1, 1, 1)}, r"inertia of body 'link' must be zero because its mass is zero"),
    ],
)
def test_body_refuses(arguments, message):
    with pytest.raises(co.InputError, match=message):
        body(**{"mass": 1, **arguments})


@pytest.mark.parametrize("name", ["", None, 7])
def test_body_refuses_a_name_that_is_not_a_word(name):
    with pytest.raises(co.InputError, match=rf"body name must be a non-empty string, got {name!r}"):
        co.Body(name, co.revolute())


def test_body_refuses_a_joint_of_another_type_and_says_how_to_make_one():
    joint: Any = "revolute"
    with pytest.raises(
        co.InputError, match=r"joint of body 'link' must be a Joint \(see co\.revolute\), got 'revolute'"
    ):
        co.Body("link", joint)


@pytest.mark.parametrize("make", [co.revolute, co.prismatic])
@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ((0, 0, 0), r"axis must be a non-zero vector of shape \(3,\), got \(0, 0, 0\)"),
        (1, r"axis must be a vector of shape \(3,\), got 1"),
        ((0, 1), r"axis must have shape \(3,\), got shape \(2,\): \(0, 1\)"),
        ((0, np.nan, 1), r"axis must be finite, got \(0, nan, 1\)"),
        ("z", r"axis must be numbers of shape \(3,\), got 'z'"),
    ],
)
def test_joint_refuses_an_axis_without_direction(make, axis, message):
    with pytest.raises(co.InputError, match=message):
        make(axis)


def _scaled() -> np.ndarray:
    return np.diag([2.0, 2.0, 2.0, 1.0])


def _mirrored() -> np.ndarray:
    return np.diag([1.0, 1.0, -1.0, 1.0])


def _projective() -> np.ndarray:
    return np.eye(4) + 0.1 * np.eye(4, k=-1)[[0, 1, 2, 3]] * np.array([[0], [0], [0], [1]])


def _sheared() -> np.ndarray:
    return np.eye(4) + 1e-6 * np.eye(4, k=1)


@pytest.mark.parametrize("matrix", [_scaled(), _mirrored(), _projective(), _sheared()])
@pytest.mark.parametrize("make", [lambda p: co.revolute(placement=p), lambda p: co.prismatic(placement=p), co.fixed])
def test_joint_refuses_a_placement_that_is_not_rigid(make, matrix):
    with pytest.raises(co.InputError, match=r"placement must be a rigid homogeneous transform, got \[\["):
        make(matrix)


def test_joint_refuses_a_placement_of_another_shape():
    with pytest.raises(co.InputError, match=r"placement must be of shape \(4, 4\), got"):
        co.fixed(np.eye(3))


@pytest.mark.parametrize("make", [co.revolute, co.prismatic, co.dh_revolute, co.dh_prismatic])
def test_joint_refuses_limits_of_another_type(make):
    with pytest.raises(co.InputError, match=r"limits must be a Limits, got \(0, 1\)"):
        make(limits=(0, 1))


@pytest.mark.parametrize("make", [co.dh_revolute, co.dh_prismatic])
@pytest.mark.parametrize("name", ["theta", "d", "a", "alpha"])
def test_dh_row_refuses_what_is_not_one_finite_number(make, name):
    with pytest.raises(co.InputError, match=rf"DH {name} must be finite, got nan"):
        make(**{name: np.nan})
    with pytest.raises(co.InputError, match=rf"DH {name} must be a scalar, numbers or SX symbols, got 'long'"):
        make(**{name: "long"})
    with pytest.raises(co.InputError, match=rf"DH {name} must be a scalar, got \(1, 2\)"):
        make(**{name: (1, 2)})


def test_placement_refuses_wrong_shapes_and_infinite_angles():
    with pytest.raises(co.InputError, match=r"translation must be of shape \(3,\), got \(1, 2\)"):
        co.placement((1, 2))
    with pytest.raises(co.InputError, match=r"rpy must be finite, got \(0, inf, 0\)"):
        co.placement(rpy=(0, np.inf, 0))


@pytest.mark.parametrize("quantity", ["position", "velocity", "torque", "acceleration"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((1, 0), r"{}: lower bound exceeds upper bound, got lower=1, upper=0"),
        ((0, np.nan), r"{} bounds must not be NaN, got lower=0, upper=nan"),
        ((np.inf, np.inf), r"{}: no value satisfies lower=inf, upper=inf"),
        (3, r"{} must be \(lower, upper\), got 3"),
        ((1, 2, 3), r"{} must be \(lower, upper\), got \(1, 2, 3\)"),
        (("a", 1), r"{} lower must be numbers of shape \(\), got 'a'"),
    ],
)
def test_limits_refuse(quantity, value, message):
    with pytest.raises(co.InputError, match=message.format(f"limits {quantity}")):
        co.Limits(**{quantity: value})


def test_limits_may_meet_or_be_open():
    assert co.Limits(position=(0.5, 0.5), velocity=(-math.inf, 2)).velocity == (-math.inf, 2)


@pytest.mark.parametrize("quantity", ["force", "moment", "point"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((1, 2), r"{} of the load on 'hand' must be of shape \(3,\), got \(1, 2\)"),
        ((1, 2, np.inf), r"{} of the load on 'hand' must be finite, got \(1, 2, inf\)"),
        ("up", r"{} of the load on 'hand' must be of shape \(3,\), numbers or SX symbols, got 'up'"),
    ],
)
def test_load_refuses(quantity, value, message):
    with pytest.raises(co.InputError, match=message.format(quantity)):
        co.Load("hand", **{quantity: value})


@pytest.mark.parametrize(
    ("bodies", "message"),
    [
        ([], r"a model needs at least one body"),
        (["thigh"], r"bodies must be Body objects, got 'thigh'"),
        ([body("a"), body("b", "a"), body("a", "b")], r"two bodies are named 'a'; names must be unique"),
        (
            [body("thigh"), body("shank", "thih")],
            r"no parent of body 'shank' among the bodies named 'thih'; did you mean 'thigh'\? \(known: thigh\)",
        ),
        ([body("a", "c"), body("b", "a"), body("c", "b")], r"the bodies form a cycle: a -> c -> b -> a"),
        ([body("a", "a")], r"the bodies form a cycle: a -> a"),
        ([body("b", "a"), body("a")], r"body 'b' is listed before its parent 'a'; list parents first"),
        ([co.Body("a", co.fixed())], r"model 'leg' has no joint that moves"),
    ],
)
def test_model_refuses(bodies, message):
    with pytest.raises(co.InputError, match=message):
        co.Model(bodies, name="leg")


def test_cycle_beside_a_good_tree_is_named_without_it():
    bodies = [body("root"), body("a", "b"), body("b", "c"), body("c", "b")]
    with pytest.raises(co.InputError, match=r"the bodies form a cycle: b -> c -> b$"):
        co.Model(bodies)


@pytest.mark.parametrize(
    ("gravity", "message"),
    [
        ((0, -9.81), r"gravity must have shape \(3,\), got shape \(2,\): \(0, -9\.81\)"),
        ((0, np.nan, 0), r"gravity must be finite, got \(0, nan, 0\)"),
        ("down", r"gravity must be numbers of shape \(3,\), got 'down'"),
        (-9.81, r"gravity must be a vector of shape \(3,\), got -9\.81"),
    ],
)
def test_model_refuses_a_gravity_that_is_no_vector(gravity, message):
    with pytest.raises(co.InputError, match=message):
        co.Model([body()], gravity=gravity)


def test_index_refuses_an_unknown_body_and_guesses_what_was_meant():
    model = two_link()
    assert [model.index("shoulder"), model.index("elbow")] == [0, 1]
    with pytest.raises(co.InputError, match=r"no body named 'sholder'; did you mean 'shoulder'\? \(known: shoulder, e"):
        model.index("sholder")


def test_check_loads_refuses_an_unknown_body_and_another_type():
    with pytest.raises(co.InputError, match=r"no body named 'wrist' \(known: shoulder, elbow\)"):
        check_loads(two_link(), [co.Load("elbow"), co.Load("wrist")])
    loads: Any = [(0, 0, 1)]
    with pytest.raises(co.InputError, match=r"loads must be Load objects, got \(0, 0, 1\)"):
        check_loads(two_link(), loads)


def three_joints() -> co.Model:
    """A hinge, a weld and a slide, the slide on a DH row."""
    return co.Model(
        [
            co.Body("base", co.dh_revolute(0.5, 0.1, 0.3, np.pi / 2, co.Limits((-1, 2), (-3, 3), (-50, 40))), mass=2),
            co.Body("weld", co.fixed(), "base", mass=0.25),
            co.Body("rail", co.dh_prismatic(theta=1.0, d=-0.2), "weld", mass=1),
            co.Body("wrist", co.revolute((1, 0, 0), co.placement((0, 1, 0))), "rail", mass=1),
        ],
        gravity=(0, 0, -9.81),
        name="robot",
    )


def test_only_joints_that_move_are_coordinates():
    model = three_joints()
    assert (model.n, model.dofs, model.parents) == (3, (0, None, 1, 2), (-1, 0, 1, 2))
    assert model.joint_names == ("base", "rail", "wrist")


@pytest.mark.parametrize("seed", range(2))
def test_parents_are_the_numbers_of_the_bodies_that_are_named(seed: int):
    model = random_tree(np.random.default_rng(seed))
    names = [body.name for body in model.bodies]
    assert model.parents == tuple(-1 if body.parent is None else names.index(body.parent) for body in model.bodies)


def test_units_follow_the_kind_of_the_joint():
    model = three_joints()
    assert model.position_units == ("rad", "m", "rad")
    assert model.torque_units == ("N m", "N", "N m")


@pytest.mark.parametrize(("quantity", "first"), [("position", (-1, 2)), ("velocity", (-3, 3)), ("torque", (-50, 40))])
def test_limits_are_gathered_over_the_joints_that_move(quantity, first):
    lower, upper = three_joints().limits(quantity)
    assert lower.tolist() == [first[0], -math.inf, -math.inf]
    assert upper.tolist() == [first[1], math.inf, math.inf]


def test_symbols_are_those_of_masses_lengths_and_inertias():
    m, c, i, a, x = (ca.SX.sym(name) for name in ("m", "c", "i", "a", "x"))
    model = co.Model(
        [
            co.Body("one", co.dh_revolute(a=a), mass=m, com=(c, 0, 0)),
            co.Body("two", co.revolute(placement=co.placement((x, 0, 0))), "one", mass=1, inertia=(i, i, i)),
        ]
    )
    assert {s.name() for s in model.symbols} == {"m", "c", "i", "a", "x"}
    assert three_joints().symbols == []


def test_repr_shows_the_dh_table():
    """The joint variable stands where it enters the row; a joint that is no DH row has dashes."""
    lines = repr(three_joints()).splitlines()
    assert lines[0] == "robot: 3 DOF, 4 bodies, gravity (0, 0, -9.81) m/s2"
    header = ["body", "parent", "joint", "theta [rad]", "d [m]", "a [m]", "alpha [rad]", "mass [kg]", "q", "tau"]
    assert lines[1].split(maxsplit=3)[:3] == header[:3]
    assert [h for h in header if h in lines[1]] == header
    assert [[cell.strip() for cell in line.split("  ") if cell] for line in lines[2:]] == [
        ["base", "world", "revolute", "q + 0.5", "0.1", "0.3", "1.571", "2", "[-1, 2]", "[-50, 40]"],
        ["weld", "base", "fixed", "-", "-", "-", "-", "0.25", "free", "free"],
        ["rail", "weld", "prismatic", "1", "q - 0.2", "0", "0", "1", "free", "free"],
        ["wrist", "rail", "revolute", "-", "-", "-", "-", "1", "free", "free"],
    ]


def test_repr_shows_symbols_by_name():
    assert "payload" in repr(co.Model([body(mass=ca.SX.sym("payload"))]))


def test_html_shows_the_same_cells_escaped():
    html = co.Model([body("<link>", mass=2)], name="a & b")._repr_html_()
    assert "&lt;link&gt;" in html
    assert "a &amp; b" in html
    assert "<td style='text-align:left'>revolute</td>" in html


@pytest.mark.parametrize("seed", range(3))
def test_repr_has_one_row_for_every_body(seed):
    model = random_tree(np.random.default_rng(seed))
    assert [line.split()[0] for line in repr(model).splitlines()[2:]] == [b.name for b in model.bodies]

"""Written URDF files as Pinocchio and MuJoCo read them: the same dynamics."""

from typing import Any

import mujoco
import numpy as np
import pytest

import colloc as co

pinocchio: Any = pytest.importorskip("pinocchio")
mj: Any = mujoco


def random_tree(seed: int) -> co.Model:
    """Hinges and slides, fixed links, rods in any direction, links without mass, transforms behind joints."""
    rng = np.random.default_rng(seed)
    bodies: list[co.Body] = []
    for k in range(7):
        place = co.placement(rng.normal(size=3), rng.normal(size=3))
        kind = rng.choice(["hinge", "hinge", "slide", "fixed"]) if k else "hinge"
        joint = co.fixed(place)
        if kind != "fixed":
            make, axis = co.revolute if kind == "hinge" else co.prismatic, rng.normal(size=3)
            joint = make((axis / np.linalg.norm(axis)).tolist(), place, name=f"j{k}")
        if k == 3:
            joint = co.dh_revolute(d=0.3, a=0.4, alpha=0.5)
        parent = None if k == 0 else f"b{rng.integers(max(0, k - 3), k)}"
        numbers: dict[str, Any] = {}
        if k != 2:
            points = rng.normal(size=(3 if k % 2 else 1, 3))  # a rod is a line of mass through its centre
            second = 0.02 * points.T @ points
            numbers = {
                "mass": rng.uniform(0.5, 2.0), "com": rng.normal(size=3),
                "inertia": np.trace(second) * np.eye(3) - second,
            }  # fmt: skip
        bodies.append(co.Body(f"b{k}", joint, parent, **numbers))
    tip = co.Body("tip", co.revolute((0, 1, 0)), "b6", mass=0.4, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    return co.Model([*bodies, tip], (0.0, 0.0, -9.81), markers={"mark": ("b4", (0.1, 0.2, 0.3))})


@pytest.mark.parametrize("seed", range(8))
def test_written_models_have_the_same_dynamics_elsewhere(tmp_path, seed):
    model = random_tree(seed)
    assert co.formats.to_urdf(model, tmp_path / "robot.urdf") == ()
    assert co.formats.from_urdf(tmp_path / "robot.urdf").left_out == ()
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.normal(size=(3, model.n))
    torques = dict(zip(model.joint_names, co.Evaluator(model).torque(q, qd, qdd), strict=True))
    scale = np.abs(list(torques.values())).max()
    for elsewhere in (in_pinocchio, in_mujoco):
        there = elsewhere(
            tmp_path / "robot.urdf", dict(zip(model.joint_names, zip(q, qd, qdd, strict=True), strict=True))
        )
        assert there.keys() == torques.keys()
        for joint, torque in torques.items():
            assert there[joint] == pytest.approx(torque, abs=1e-10 * scale), (elsewhere, joint)


def in_pinocchio(path, motion) -> dict[str, float]:
    model = pinocchio.buildModelFromUrdf(str(path))
    q, qd, qdd = pinocchio.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    for name, (place, rate, change) in motion.items():
        joint = model.joints[model.getJointId(name)]
        angles = [np.cos(place), np.sin(place)] if joint.nq == 2 else [place]
        q[joint.idx_q : joint.idx_q + joint.nq], qd[joint.idx_v], qdd[joint.idx_v] = angles, rate, change
    tau = pinocchio.rnea(model, model.createData(), q, qd, qdd)
    return {name: tau[model.joints[model.getJointId(name)].idx_v] for name in motion}


def in_mujoco(path, motion) -> dict[str, float]:
    model = mj.MjModel.from_xml_path(str(path))
    data = mj.MjData(model)
    model.opt.disableflags |= 1  # no constraints
    for name, (place, rate, change) in motion.items():
        joint = model.joint(name)
        data.qpos[joint.qposadr[0]], data.qvel[joint.dofadr[0]], data.qacc[joint.dofadr[0]] = place, rate, change
    mj.mj_inverse(model, data)
    return {name: data.qfrc_inverse[model.joint(name).dofadr[0]] for name in motion}


def test_models_that_mujoco_reads_without_help_have_no_element_for_it(tmp_path):
    rod = co.Body("rod", co.revolute((0, 0, 1)), mass=1.0, com=(0.0, -0.5, 0.0), inertia=(0.1, 0.01, 0.1))
    assert co.formats.to_urdf(co.Model([rod], (0.0, 0.0, -9.81)), tmp_path / "rod.urdf") == ()
    assert "mujoco" not in (tmp_path / "rod.urdf").read_text(encoding="utf-8")
    assert mj.MjModel.from_xml_path(str(tmp_path / "rod.urdf")).nv == 1


def test_a_mimic_is_a_constraint_in_mujoco(tmp_path):
    numbers = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    pair = [co.Body("a", co.revolute((0, 0, 1)), **numbers), co.Body("b", co.revolute((0, 0, 1)), "a", **numbers)]
    model = co.Model(pair, (0.0, 0.0, -9.81), couplings={"b": co.model.Coupling("a", -1.0, 0.2)})
    assert co.formats.to_urdf(model, tmp_path / "pair.urdf") == ()
    compiled = mj.MjModel.from_xml_path(str(tmp_path / "pair.urdf"))
    np.testing.assert_allclose(compiled.eq_data[0][:3], (0.2, -1.0, 0.0))

"""The human of Falisse et al. 2022 (PLOS ONE 17), from a copy of its file, or the built-in one in its place.

The file, Falisse_et_al_2022.osim, comes with PredSim (github.com/KULeuvenNeuromechanics/PredSim, in
Subjects/Falisse_et_al_2022) under a licence of its own. It has bodies, joints, muscles and contact spheres. Missing
values are given here as numbers: specific tensions and shares of slow fibers (Uchida et al. 2016, PLOS ONE 11), limits
of walking and natural sizes of accelerations, motors, stiffness of the toes, all of them as PredSim uses them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.muscle_human import muscle_human, recorded_posture

FILE = "Falisse_et_al_2022.osim"
PLACE = "github.com/KULeuvenNeuromechanics/PredSim, in Subjects/Falisse_et_al_2022"
TOES = 25.0, 2.0  # N m/rad and N m s/rad between foot and toes
MOTOR, LAG = 150.0, 0.035  # N m and s
TENSION = 0.6e6  # Pa of the built-in human's muscles (Rajagopal et al. 2016)
LENGTHS = {"length_tolerance": 3e-3, "moment_arm_tolerance": 3e-3, "min_degree": 3, "thin": False, "postures": 5000}
TURNED = ("pelvis_tz", "pelvis_list", "pelvis_rotation", "lumbar_bending", "lumbar_rotation")  # in the mirror
SIDES = {"_r": "_l", "_l": "_r"}

# Specific tension [MPa] and share of slow fibers, by muscle.
FIBERS = {
    "glut_med1": (0.74455, 0.55), "glut_med2": (0.75395, 0.55), "glut_med3": (0.75057, 0.55),
    "glut_min1": (0.75, 0.55), "glut_min2": (0.75, 0.55), "glut_min3": (0.75116, 0.55),
    "semimem": (0.62524, 0.4925), "semiten": (0.62121, 0.425), "bifemlh": (0.62222, 0.5425),
    "bifemsh": (1.005, 0.529), "sar": (0.74286, 0.5), "add_long": (0.74643, 0.5), "add_brev": (0.75263, 0.5),
    "add_mag1": (0.55217, 0.552), "add_mag2": (0.55323, 0.552), "add_mag3": (0.54831, 0.552), "tfl": (0.75161, 0.5),
    "pect": (0.76, 0.5), "grac": (0.73636, 0.5), "glut_max1": (0.75395, 0.55), "glut_max2": (0.74455, 0.55),
    "glut_max3": (0.74595, 0.55), "iliacus": (1.2477, 0.5), "psoas": (1.5041, 0.5), "quad_fem": (0.74706, 0.5),
    "gem": (0.74545, 0.5), "peri": (0.75254, 0.5), "rect_fem": (0.74936, 0.3865), "vas_med": (0.49961, 0.503),
    "vas_int": (0.55263, 0.543), "vas_lat": (0.50027, 0.455), "med_gas": (0.69865, 0.566), "lat_gas": (0.69694, 0.507),
    "soleus": (0.62703, 0.803), "tib_post": (0.6252, 0.6), "flex_dig": (0.5, 0.6), "flex_hal": (0.50313, 0.6),
    "tib_ant": (0.75417, 0.7), "per_brev": (0.62143, 0.6), "per_long": (0.6245, 0.6), "per_tert": (1.0, 0.75),
    "ext_dig": (0.75294, 0.75), "ext_hal": (0.73636, 0.75), "ercspn": (0.25, 0.6), "intobl": (0.25, 0.56),
    "extobl": (0.25, 0.58),
}  # fmt: skip

# Limits of the coordinate [rad, m] and natural size of its acceleration [rad/s2, m/s2]: those of a person who walks.
WALKING = {
    "pelvis_tilt": (-0.34907, 0.067285, 19.787), "pelvis_list": (-0.41618, 0.41618, 92.032),
    "pelvis_rotation": (-0.25977, 0.25977, 61.549), "pelvis_tx": (0.0, 2.0, 61.365),
    "pelvis_ty": (0.46989, 1.12773, 16.872), "pelvis_tz": (-0.1, 0.1, 5.9118),
    "hip_flexion": (-1.91812, 2.11902, 201.445), "hip_adduction": (-0.63881, 0.71872, 145.548),
    "hip_rotation": (-0.50745, 0.47159, 136.868), "knee_angle": (-3.05479, 1.69794, 441.782),
    "ankle_angle": (-1.41742, 1.35481, 430.343), "subtalar_angle": (-0.82023, 0.90422, 232.899),
    "mtp_angle": (-0.5, 1.05, 500.0), "lumbar_extension": (-0.279631, 0.0662674, 52.835),
    "lumbar_bending": (-0.53084, 0.53084, 109.745), "lumbar_rotation": (-0.66543, 0.66543, 38.749),
    "arm_flex": (-0.605174, 0.550257, 66.738), "arm_add": (-0.743894, -0.234742, 39.437),
    "arm_rot": (-0.229649, 0.338379, 114.880), "elbow_flex": (0.0, 2.00635, 94.277),
}  # fmt: skip

# Ranges over which lengths of muscles are fitted [degrees].
POSTURES = {
    "hip_flexion": (-50, 50), "hip_adduction": (-30, 30), "hip_rotation": (-30, 30), "knee_angle": (-90, 0),
    "ankle_angle": (-30, 30), "subtalar_angle": (-30, 30), "mtp_angle": (-20, 50), "lumbar_extension": (-30, 30),
    "lumbar_bending": (-30, 30), "lumbar_rotation": (-30, 30),
}  # fmt: skip

TISSUE = {  # joint: entry of HUMAN_JOINTS
    "hip_flexion": "hip flexion", "hip_adduction": "hip adduction", "hip_rotation": "hip rotation",
    "knee_angle": "knee", "ankle_angle": "ankle", "subtalar_angle": "subtalar", "mtp_angle": "toes",
    "lumbar_extension": "lumbar extension", "lumbar_bending": "lumbar bending", "lumbar_rotation": "lumbar rotation",
}  # fmt: skip


@dataclass(frozen=True)
class Walker:
    """A model with what drives it and what it stands on.

    Parameters
    ----------
    label : str
    model : Model
    muscles : tuple of Muscle
    tissue : dict of str to PassiveTorque
        By joint, torque at the ends of its range.
    springs, dampers : dict of str to float [N m/rad, N m s/rad]
        By joint, beside these.
    motors : dict of str to float [N m]
        By joint that no muscle moves.
    contact : GroundContact
    limits : dict of str to (float, float)
        By joint, narrower than those of the model.
    accelerations : ndarray, shape (n,)
        Natural sizes.
    knee : float
        Sign of the coordinate of a knee that is bent.
    """

    label: str
    model: co.Model
    muscles: tuple[co.muscles.Muscle, ...]
    tissue: dict[str, co.muscles.PassiveTorque]
    springs: dict[str, float]
    dampers: dict[str, float]
    motors: dict[str, float]
    contact: co.problem.GroundContact
    limits: dict[str, tuple[float, float]]
    accelerations: np.ndarray
    knee: float

    @property
    def across(self) -> list[int]:
        """Numbers of the muscles' counterparts on the other side."""
        names = [muscle.name for muscle in self.muscles]
        return [names.index(opposite(name)) for name in names]

    @property
    def mirrored(self) -> tuple[list[int], np.ndarray]:
        """Numbers of the coordinates that take each other's places in the mirror, and their signs there."""
        names = self.model.joint_names
        return [names.index(opposite(name)) for name in names], np.array([-1.0 if n in TURNED else 1.0 for n in names])

    @property
    def mass(self) -> float:
        """Of the whole body [kg]."""
        return float(co.dynamics.total_mass(self.model))


def opposite(name: str) -> str:
    """Of a joint, muscle or body, its counterpart on the other side."""
    return name[:-2] + SIDES.get(name[-2:], name[-2:])


def side_free(name: str) -> str:
    """Name without its side."""
    return name[:-2] if name[-2:] in SIDES else name


def falisse(file: str) -> Walker:
    """The published human: 31 degrees of freedom, 92 muscles and 12 balls.

    Lengths of muscles are polynomials in the coordinates that they cross, of the lowest degree from 3 on whose errors
    are below 3 mm, with all of its terms: the published ones to 0.1 mm of moment arm. Close to the limit, 2.99 mm, is
    the lateral vastus of degree 3. Those of the left side are the mirror images of those of the right.

    Parameters
    ----------
    file : str

    Raises
    ------
    InputError
        For a file that is not there, or not that of this human.
    """
    wanted = f"--osim needs your own copy of {FILE}, which comes with PredSim ({PLACE})"
    if not Path(file).is_file():
        raise co.InputError(f"{wanted}; there is no file {file!r}")
    reading = co.formats.from_osim(file)
    model, names = reading.model, {side_free(record.name) for record in reading.muscle_data}
    joints = {side_free(joint) for joint in model.joint_names}
    if names != set(FIBERS) or joints != set(WALKING):
        raise co.InputError(f"{wanted}; {file!r} has other muscles or joints")
    ranges = {
        joint: tuple(np.radians(POSTURES[side_free(joint)]))
        for joint in model.joint_names
        if side_free(joint) in POSTURES
    }
    right = [_fibers(record) for record in reading.muscle_data if record.name.endswith("_r")]
    right = co.muscles.fit_lengths(model, right, ranges, **LENGTHS)
    return Walker(
        label="human of Falisse et al. 2022, 92 muscles",
        model=model,
        muscles=(*right, *(reflected(muscle) for muscle in right)),
        tissue={j: co.muscles.HUMAN_JOINTS[TISSUE[side_free(j)]] for j in ranges},
        springs={joint: TOES[0] for joint in ("mtp_angle_r", "mtp_angle_l")},
        dampers={joint: TOES[1] if "mtp" in joint else 0.1 for joint in model.joint_names[6:]},
        motors={joint: MOTOR for joint in model.joint_names if joint.startswith(("arm_", "elbow_"))},
        contact=reading.contact,
        limits={joint: WALKING[side_free(joint)][:2] for joint in model.joint_names},
        accelerations=np.array([WALKING[side_free(joint)][2] for joint in model.joint_names]),
        knee=-1.0,
    )


def built_in() -> Walker:
    """The human of `colloc.models.muscle_human` with the same cost: other bones, 80 muscles, motors in the trunk."""
    human = muscle_human()
    model = human.model
    tissue = {joint: torque for joint, torque in human.passive.items() if isinstance(torque, co.muscles.PassiveTorque)}
    sizes = [WALKING.get(side_free(joint), WALKING["elbow_flex"])[2] for joint in model.joint_names]
    return Walker(
        label="built-in human, 80 muscles",
        model=model,
        muscles=tuple(replace(muscle, specific_tension=TENSION) for muscle in human.muscles),
        tissue=tissue,
        springs={joint: TOES[0] for joint in ("mtp_angle_r", "mtp_angle_l")},
        dampers={j: TOES[1] if "mtp" in j else getattr(tissue.get(j), "damping", 0.1) for j in model.joint_names[6:]},
        motors={joint: MOTOR for joint in human.motors},
        contact=human.contact,
        limits={},
        accelerations=np.array(sizes),
        knee=1.0,
    )


def posture(walker: Walker, stride: Any) -> ca.SX:
    """How a subject walked who was recorded, as far as this one has the same joints, SX, shape (n,) [rad, m].

    Parameters
    ----------
    walker : Walker
    stride : float or SX
        Fraction of the stride.
    """
    known = dict(zip(muscle_human().model.joint_names, ca.vertsplit(recorded_posture(stride)), strict=True))
    signs = {"knee_angle": walker.knee}
    return ca.vertcat(*(signs.get(side_free(j), 1.0) * known.get(j, ca.SX(0)) for j in walker.model.joint_names))


def _fibers(record: co.formats.MuscleData) -> co.muscles.Muscle:
    tension, slow = FIBERS[side_free(record.name)]
    return co.muscles.from_file(
        record, activation_time=0.015, deactivation_time=0.060, specific_tension=1e6 * tension, slow_fraction=slow,
        curves=co.muscles.PUBLISHED, damping=0.01,  # PredSim's, whatever the file has
    )  # fmt: skip


def reflected(muscle: co.muscles.Muscle) -> co.muscles.Muscle:
    """The muscle of the left side, whose coordinates are those of the right but for those that turn in the mirror."""
    path = muscle.path
    assert isinstance(path, co.muscles.LengthPolynomial)
    joints = tuple(opposite(joint) for joint in path.joints)
    turned = [joint in TURNED for joint in path.joints]  # all of these over ranges about zero
    signs = np.where(path.powers[:, turned].sum(axis=1) % 2, -1.0, 1.0)
    return replace(
        muscle, name=opposite(muscle.name), path=replace(path, joints=joints, coefficients=signs * path.coefficients)
    )

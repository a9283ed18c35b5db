"""Force plates in tables, under the names that laboratories and programs give them."""

import numpy as np
import pytest

import colloc as co

T = np.linspace(0.0, 1.0, 11)
FORCE, POINT, TORQUE = np.random.default_rng(0).normal(size=(3, 11, 3))


def table(*stems: str) -> co.formats.TimeSeriesTable:
    """Columns stem + axis of the three vectors in turn."""
    vectors = zip(stems, (FORCE, POINT, TORQUE), strict=False)
    columns = {f"{stem}{axis}": values[:, k] for stem, values in vectors for k, axis in enumerate("xyz")}
    return co.formats.TimeSeriesTable(T, columns)


@pytest.mark.parametrize(
    ("stems", "name"),
    [
        (("ground_force_v", "ground_force_p", "ground_torque_"), "ground_force"),
        (("ground_force_1_v", "ground_force_1_p", "ground_force_1_m"), "ground_force_1"),
        (("1_ground_force_v", "1_ground_force_p", "1_ground_torque_"), "1_ground_force"),
        (("ground_force_r_v", "ground_force_r_p", "ground_moment_r_m"), "ground_force_r"),
        (("plate2_v", "plate2_p", "plate2_m"), "plate2"),
    ],
)
def test_names_of_programs_are_known(stems: tuple[str, str, str], name: str):
    ((found, plate),) = co.formats.force_plates(table(*stems)).items()
    assert found == name
    np.testing.assert_array_equal(plate.times, T)
    for read, written in zip(plate[1:], (FORCE, POINT, TORQUE), strict=True):
        np.testing.assert_array_equal(read, written)


def test_plates_keep_their_order():
    columns = {
        f"ground_force_{side}_{kind}{axis}": T for side in ("l", "r") for kind in ("v", "p", "m") for axis in "xyz"
    }
    assert list(co.formats.force_plates(co.formats.TimeSeriesTable(T, columns))) == ["ground_force_l", "ground_force_r"]


def test_a_plate_without_a_torque_is_named():
    with pytest.warns(co.support.InputWarning, match="force ground_force_v has no torque, which is taken as zero"):
        plate = co.formats.force_plates(table("ground_force_v", "ground_force_p"))["ground_force"]
    np.testing.assert_array_equal(plate.torque, 0.0)


def test_what_is_no_plate_is_refused():
    with pytest.raises(co.InputError, match="there must be columns of forces, such as ground_force_vx"):
        co.formats.force_plates(co.formats.TimeSeriesTable(T, {"knee": T}))
    with pytest.raises(co.InputError, match="force ground_force_v needs a point of application in columns"):
        co.formats.force_plates(table("ground_force_v"))
    with pytest.raises(co.InputError, match="table must be"):
        co.formats.force_plates("walk_grf.mot")  # pyright: ignore[reportArgumentType]

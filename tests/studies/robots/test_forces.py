"""Studies of robots that fly, roll and pull, in their quick forms, against closed forms and other simulations."""

import numpy as np
import pytest

from colloc.studies.robots import cable_robot, car, mobile_arm, quadrotor, satellite, two_arms
from tests.studies.quick import numbers_of


def test_a_satellite_turns_in_the_published_time(tmp_path):
    numbers = numbers_of(satellite.main, tmp_path)
    assert numbers["solved"] == 1
    assert numbers["T"] == pytest.approx(satellite.PUBLISHED, rel=2e-4)
    assert numbers["miss"] < 1e-6


def test_cables_move_a_plate_as_their_tensions_say(tmp_path):
    numbers = numbers_of(cable_robot.main, tmp_path)
    assert numbers["solved"] == 1
    assert max(numbers["effort.miss"], numbers["T.miss"]) < 1e-4
    assert numbers["slackest"] > cable_robot.SLACK - 1e-5


def test_a_quadrotor_turns_over_as_its_rotors_say(tmp_path):
    numbers = numbers_of(quadrotor.main, tmp_path)
    assert numbers["solved"] == 1
    assert numbers["miss"] < 1e-3
    assert numbers["length"] < 1e-6


def test_a_car_takes_the_way_of_dubins(tmp_path):
    numbers = numbers_of(car.main, tmp_path)
    assert numbers["solved"] == 1
    assert numbers["length"] == pytest.approx(numbers["dubins"], rel=1e-6)
    assert numbers["slip"] < 5e-3


def test_wheels_and_arm_move_a_hand_as_their_torques_say(tmp_path):
    numbers = numbers_of(mobile_arm.main, tmp_path)
    assert numbers["solved"] == 1
    assert numbers["miss"] < 1e-2
    assert numbers["slip"] < 1e-3
    assert 0.5 < numbers["driven"] < 2.0


def test_two_arms_press_a_box_hard_enough_to_lift_it(tmp_path):
    """The hands share its weight, so that each presses with half of it over the coefficient at least."""
    numbers = numbers_of(two_arms.main, tmp_path)
    assert numbers["friction_1.solved"] == 1
    assert numbers["friction_1.gap"] < 5e-3
    assert numbers["friction_1.balance"] < 0.5
    assert numbers["friction_1.press"] > two_arms.MASS * two_arms.GRAVITY / 2


def test_the_ways_of_dubins_end_at_their_goals():
    """Pieces of the closed form, put one behind the other."""
    rng, kinds = np.random.default_rng(1), set()
    for _ in range(200):
        goal = np.array([*rng.uniform(-4, 4, 2), rng.uniform(-3, 3)])
        _, kind, pieces = car.dubins(*goal)
        place, heading = np.zeros(2), 0.0
        for turn, way in zip(kind, pieces, strict=True):
            side = {"L": 1, "R": -1, "S": 0}[turn]
            end = heading + side * way
            place = place + (
                side * np.array([np.sin(end) - np.sin(heading), np.cos(heading) - np.cos(end)])
                if side
                else way * np.array([np.cos(heading), np.sin(heading)])
            )
            heading = end
        np.testing.assert_allclose([*place, np.sin((heading - goal[2]) / 2)], [*goal[:2], 0.0], atol=1e-9)
        kinds.add(kind)
    assert len(kinds) == 6

"""Every signal of a motion has a name, components, a unit and bounds."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.problem.signals import signals_of
from colloc.solution import Solution


def _tank(count: int = 2) -> co.Problem:
    """Two pumps that fill a tank: no joints, a signal with names and a state."""
    pumps = co.Unknown("pump", names=("left", "right"), unit="l/s", lower=(0.0, 0.1), upper=(0.0, 2.0))
    level = co.State("level", rate=lambda now: ca.sum1(now.pump) - 0.2 * now.level, unit="l", lower=0.0)
    cost = co.integral(lambda now: ca.sumsqr(now.pump))
    ends = [co.initial(states={"level": 0.5}), co.final(states={"level": 1.0})]
    return co.Problem(co.Model.empty(), 2.0, cost, ends, unknowns=[pumps, level])


@pytest.fixture(scope="module")
def tank() -> Solution:
    return co.solve(_tank(), co.Radau(8))


@pytest.fixture(scope="module")
def phases() -> co.solution.PhasesSolution:
    first = _tank()
    rest = co.State("level", rate=lambda now: -0.2 * now.level, unit="l", lower=0.0)
    drains = co.Problem(co.Model.empty(), 1.0, co.integral(lambda now: now.level**2), [], unknowns=[rest])
    return co.solve(co.Phases({"fill": first, "drain": drains}), co.Radau(6))


class TestUnknowns:
    def test_names_give_the_size(self):
        unknown = co.Unknown("activation", names=["biceps", "triceps"], lower=0.0, upper=(1.0, 0.5), unit="")
        assert unknown.size == 2
        assert unknown.labels == ("activation[biceps]", "activation[triceps]")
        assert repr(unknown) == "Unknown('activation', biceps, triceps, in [(0, 0), (1, 0.5)])"

    def test_labels_without_names(self):
        assert co.Unknown("u").labels == ("u",)
        assert co.Unknown("u", 2).labels == ("u[0]", "u[1]")
        assert co.State("x", names=("only",), rate=lambda now: now.x).labels == ("x[only]",)

    def test_each_component_has_a_unit(self):
        assert co.Unknown("u", 2, unit="N").units == ("N", "N")
        assert co.Unknown("u", names=("push", "turn"), unit=("N", "N m")).units == ("N", "N m")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"size": 3, "names": ("a", "b")}, "names of unknown 'u' must be 3 different ones"),
            ({"names": ("a", "a")}, "must be 2 different ones"),
            ({"names": ("a", 1)}, "name of a component of unknown 'u'"),
            ({"names": "ab"}, "names of unknown 'u'"),
            ({"size": 2, "unit": ("N",)}, "unit of unknown 'u' must be a text, or 2 of them"),
            ({"lower": (0, 0), "upper": (1, 1)}, "has one component, and bounds or a guess for 2: give size=2"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, arguments, message):
        with pytest.raises(co.InputError, match=message):
            co.Unknown("u", **arguments)

    def test_rows_and_variables_have_the_names(self, tank):
        names = {tank.nlp.variable_name(k, tank.x).partition(" at")[0] for k in range(tank.nlp.n_x)}
        assert {"pump[left]", "pump[right]", "level"} <= names
        states = co.State("level", names=("upper", "lower"), rate=lambda now: -now.level, unit="l")
        rows = co.Problem(co.Model.empty(), 1.0, unknowns=[states]).rows["equation of level"].rows
        assert rows.labels == ("equation of level[upper]", "equation of level[lower]")
        assert rows.units == ("l/s", "l/s")


class TestList:
    def test_the_list_of_a_problem_without_joints(self):
        signals = signals_of(_tank())
        assert list(signals) == ["pump", "level"]
        assert signals["pump"].units == ("l/s", "l/s")
        np.testing.assert_array_equal(signals["pump"].zero, [True, False])
        np.testing.assert_array_equal(signals["pump"].upper, [0.0, 2.0])

    def test_joints_come_first_with_their_units(self):
        push = co.Unknown("push", names=("x", "y"), unit="N")
        load = co.Load("elbow", force=ca.vertcat(push.symbol, 0))
        problem = co.Problem(two_link(), 1.0, unknowns=[push], loads=[load])
        signals = signals_of(problem)
        assert list(signals) == ["q", "qd", "qdd", "tau", "push", "force on elbow"]
        assert signals["qd"].units == ("rad/s", "rad/s")
        assert signals["tau"].names == ("shoulder", "elbow")

    def test_a_constant_load_does_not_vary(self):
        problem = co.Problem(two_link(), 1.0, loads=[co.Load("elbow", force=(0, -9.81, 0))])
        assert "force on elbow" not in signals_of(problem)

    @pytest.mark.parametrize("factor", [1.0, -1.0, 3 / 7])
    def test_rows_at_zero_hold_a_signal_there(self, factor):
        passive = co.path(lambda now: factor * now.tau[1], equals=0.0)
        assert signals_of(co.Problem(two_link(), 1.0, subject_to=[passive]))["tau"].zero.tolist() == [False, True]
        other = co.path(lambda now: factor * now.tau[1] - 1, equals=0.0)
        assert not signals_of(co.Problem(two_link(), 1.0, subject_to=[other]))["tau"].zero.any()
        later = co.path(lambda now: now.tau[1], equals=0.0, during=(0.5, 1.0))
        assert not signals_of(co.Problem(two_link(), 1.0, subject_to=[later]))["tau"].zero.any()
        bound = co.bounds(tau={"shoulder": (0.0, 0.0)})
        assert signals_of(co.Problem(two_link(), 1.0, subject_to=[bound]))["tau"].zero.tolist() == [True, False]

    def test_phases_have_all_that_any_of_them_has(self, phases):
        signals = phases.signals
        assert list(signals) == ["pump", "level"]
        assert signals["pump"].shape == (phases.t.size, 2)
        assert np.isnan(signals["pump"][-1]).all()
        assert np.isfinite(signals["level"]).all()

    def test_phases_whose_components_differ_are_joined_by_name(self):
        def phase(*names: str) -> co.Problem:
            return co.Problem(
                co.Model.empty(),
                1.0,
                co.integral(lambda now: ca.sumsqr(now.u)),
                unknowns=[co.Unknown("u", names=names)],
            )

        solution = co.solve(co.Phases({"a": phase("x", "y"), "b": phase("y", "z")}), co.Radau(2))
        assert signals_of(solution.problem)["u"].names == ("x", "y", "z")
        sample = solution.at([0.5, 1.5])
        np.testing.assert_array_equal(np.isnan(sample.u), [[False, False, True], [True, False, False]])
        np.testing.assert_array_equal(sample.u["y"], solution.signals.at([0.5, 1.5], "u")["u"]["y"])

    def test_rows_between_phases_have_the_names_of_components(self):
        def phase() -> co.Problem:
            state = co.State("level", names=("upper", "lower"), rate=lambda now: -now.level)
            return co.Problem(
                co.Model.empty(), 1.0, subject_to=[co.initial(states={"level": (2.0, 1.0)})], unknowns=[state]
            )

        first, second = phase(), phase()
        assert first.rows["initial"].rows.labels == ("initial level[upper]", "initial level[lower]")
        phases = co.Phases({"a": first, "b": second}, [co.connect("a", "b")])
        (labels,) = (entry.rows.labels for entry in phases.rows.values())
        assert [label.rpartition(", ")[2] for label in labels] == ["level[upper]", "level[lower]"]


class TestAccess:
    def test_by_attribute_and_by_component(self, tank):
        assert tank.pump.shape == (tank.t.size, 2)
        np.testing.assert_array_equal(tank.pump["right"], tank.pump[:, 1])
        assert "pump" in dir(tank)
        np.testing.assert_array_equal(tank.at(1.0).pump["right"], tank.at([1.0]).pump[0, 1])

    def test_the_closed_form_is_met(self, tank):
        # A linear state with a quadratic cost: the costate grows like exp(0.2 t), and so does the pump.
        np.testing.assert_allclose(tank.pump["right"], tank.pump["right"][0] * np.exp(0.2 * tank.t), rtol=1e-5)

    def test_a_name_that_is_taken_stands_in_brackets(self):
        state = co.State("x", rate=lambda now: -now.x)
        problem = co.Problem(co.Model.empty(), 1.0, subject_to=[co.initial(states={"x": 1.0})], unknowns=[state])
        solution = co.solve(problem, co.Radau(4))
        np.testing.assert_allclose(solution.signals["x"][:, 0], np.exp(-solution.t), rtol=1e-5)
        assert solution.x.size == solution.nlp.n_x

    def test_wrong_names_list_the_right_ones(self, tank):
        with pytest.raises(co.InputError, match=r"no component of pump named 'middle' \(known: left, right\)"):
            tank.pump["middle"]
        with pytest.raises(co.InputError, match="no signal of the motion named 'flow'"):
            tank.signals["flow"]
        with pytest.raises(co.InputError, match="no signal of the motion named 'flow'"):
            tank.signals.at(0.5, "flow")
        with pytest.raises(co.InputError, match="a component of level has no name here"):
            tank.level["a"]
        with pytest.raises(AttributeError, match=r"flow.*known: .*pump"):
            _ = tank.flow

    def test_the_table_says_what_varies(self, tank):
        lines = repr(tank.signals).splitlines()
        assert lines[1].split() == ["name", "components", "unit", "bounds", "range"]
        assert lines[2].startswith("  pump   left, right  l/s   [0, 0], [0.1, 2]")
        assert lines[3].split()[:2] == ["level", "l"]

    def test_joints_are_signals_too(self, tank):
        del tank
        effort = co.integral(lambda now: ca.sumsqr(now.tau))
        problem = co.Problem(two_link(), 0.5, effort, [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)])
        solution = co.solve(problem, co.BSpline(6))
        np.testing.assert_array_equal(solution.signals["tau"]["elbow"], solution.tau["elbow"])
        at = solution.signals.at(0.25)
        np.testing.assert_array_equal(at["qd"], solution.at(0.25).qd)
        assert type(solution.q[:, 0]) is np.ndarray

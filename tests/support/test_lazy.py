"""Attributes computed on first use: once, in any thread, and objects do not wait for each other."""

import ast
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from colloc.support.lazy import LateTuple, cached_property, kept_by

ROOT = Path(__file__).parents[2]


class Slow:
    """Takes its time to make a value, and counts how often it did."""

    def __init__(self) -> None:
        self.made = 0

    @cached_property
    def value(self) -> object:
        """An object of its own."""
        self.made += 1
        time.sleep(0.05)
        return object()

    @cached_property
    def twice(self) -> tuple[object, object]:
        return self.value, self.value

    @cached_property
    def failing(self) -> int:
        self.made += 1
        if self.made == 1:
            raise ValueError("not yet")
        return 7


def test_a_value_is_made_once_by_one_of_many_threads():
    slow = Slow()
    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(lambda _: slow.twice, range(16)))
    assert slow.made == 1
    assert len({id(value) for pair in values for value in pair}) == 1


def test_objects_of_a_class_do_not_wait_for_each_other():
    together = threading.Barrier(2)

    class Meeting:
        @cached_property
        def value(self) -> int:
            return together.wait(timeout=10)  # is never reached by both if the second waits for the first

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(lambda _: Meeting().value, range(2))) == [0, 1]


def test_a_value_that_could_not_be_made_is_tried_again():
    slow = Slow()
    with pytest.raises(ValueError, match="not yet"):
        _ = slow.failing
    assert slow.failing == 7


def test_what_another_object_keeps_is_made_once_for_all_that_share_it():
    class Keeper:
        """An empty place."""

    class Sharing:
        def __init__(self, keeper: Keeper):
            self.keeper = keeper

        @kept_by("keeper")
        def value(self) -> object:
            return object()

    keeper = Keeper()
    first, second, other = Sharing(keeper), Sharing(keeper), Sharing(Keeper())
    assert first.value is second.value is first.value
    assert vars(keeper) == {"value": first.value}
    assert "value" not in vars(first)
    assert other.value is not first.value


def test_a_late_tuple_is_made_once_when_it_is_asked():
    made = []
    late = LateTuple(lambda: made.append("made") or (1, 2, 3))
    assert not made
    assert (len(late), late[1], late[1:], tuple(late), 3 in late) == (3, 2, (2, 3), (1, 2, 3), True)
    assert not LateTuple(tuple)
    assert made == ["made"]


def test_the_class_has_the_docstring():
    assert Slow.value.__doc__ == "An object of its own."


@pytest.mark.parametrize("folder", ["colloc", "models"])
def test_nothing_is_cached_without_a_lock(folder: str):
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "functools":
                assert "cached_property" not in [alias.name for alias in node.names], path

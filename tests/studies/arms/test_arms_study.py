"""The fastest motions of industrial arms, quickly: none slower than the straight line, numbers by the agreed names."""

import json
from pathlib import Path

import colloc.studies.arms.point_to_point as study


def test_no_arm_is_slower_than_its_straight_line(tmp_path: Path):
    figure, file = tmp_path / "figure.png", tmp_path / "numbers.json"
    study.main(["--quick", "--pairs", "1", "--figure", str(figure), "--json", str(file)])
    assert figure.stat().st_size > 20_000
    numbers = json.loads(file.read_text(encoding="utf-8"))
    for key in ("slower_than_line", "median_gain", "seconds.median", "solved"):
        assert {key, *(f"{key}.{arm}" for arm in study.ARMS)} <= numbers.keys()
    assert numbers["slower_than_line"] == 0
    assert 0 < numbers["median_gain"] < 0.2
    assert numbers["seconds.median"] > 0

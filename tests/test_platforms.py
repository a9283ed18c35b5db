"""Time limits of tests grow where Python starts slowly."""

import pytest

from tests import platforms


@pytest.mark.parametrize(("start", "limit"), [(0.03, 60.0), (0.1, 60.0), (2.0, 1200.0)])
def test_a_time_limit_grows_with_the_time_of_a_start(start: float, limit: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(platforms, "_seconds_to_start", lambda: start)
    assert platforms.patience(60.0) == pytest.approx(limit)

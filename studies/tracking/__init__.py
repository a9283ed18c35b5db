"""Motion found from measurements: markers and a force plate."""

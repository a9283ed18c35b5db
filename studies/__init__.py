"""Studies: one question a file, run as ``python -m studies.NAME``."""

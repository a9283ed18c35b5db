"""Humans of any stature and mass, and what they are made of: segments, anatomy, the same human seen from a foot."""

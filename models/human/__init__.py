"""Humans of any stature and mass, with their segments, anatomy and strength, also as trees whose root is a foot."""

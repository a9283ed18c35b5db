"""Recursive derivatives of the inverse dynamics: are they right, and what do they cost?"""

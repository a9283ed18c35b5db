"""Dynamics on SE(3), with first and second derivatives."""

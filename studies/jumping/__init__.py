"""Jumps of a human: motion without the ground."""

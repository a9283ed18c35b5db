"""Feedback around a predicted motion, and iLQR beside IPOPT."""

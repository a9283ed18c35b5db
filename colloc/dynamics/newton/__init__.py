"""Newton-Euler dynamics in moving coordinates, with joint reactions, and its sensitivities."""

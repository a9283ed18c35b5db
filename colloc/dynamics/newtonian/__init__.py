"""Newton-Euler dynamics in the axes of the moving links: recursion, sensitivities, and what the world must support."""

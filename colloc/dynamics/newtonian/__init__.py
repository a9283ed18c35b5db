"""Newton-Euler dynamics in the axes of the moving links: recursion, sensitivities, and the wrench at the root."""

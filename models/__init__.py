"""Ready-made mechanisms: numbers with their sources, no optimisation."""

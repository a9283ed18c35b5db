"""A predicted step of a human: the problem (step, contacts, forces, problem), its report and its pictures."""

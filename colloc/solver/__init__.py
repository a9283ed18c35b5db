"""Handing an NLP to IPOPT, watching it, and reading what came back."""

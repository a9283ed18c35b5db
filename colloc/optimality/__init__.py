"""How good an answer is, and what it hangs on."""

__all__: list[str] = []

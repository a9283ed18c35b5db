"""Kernels say nothing but errors: their warnings of unencrypted ports stand between those of the pages."""

c.IPKernelApp.log_level = "ERROR"  # noqa: F821

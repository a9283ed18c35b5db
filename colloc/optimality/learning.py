"""Optima as functions of parameters in PyTorch and JAX, which differentiate through them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from colloc.optimality.optimum_function import OptimumFunction
from colloc.support.checks import InputError, instance


def torch_function(of: OptimumFunction) -> Callable[[Any], Any]:
    """A function of a tensor that PyTorch differentiates once.

    Parameters
    ----------
    of : OptimumFunction

    Returns
    -------
    callable
        Tensor of parameters, shape (n,) -> tensor of the numbers, of the same type and on the same device. It solves in
        double precision.

    Raises
    ------
    InputError
        Without PyTorch; it is not installed with colloc.

    Examples
    --------
    A mass that a recorded motion reveals:

    >>> angles = co.optimality.optimum_function(solution, lambda now: now.q, "mass", times)  # doctest: +SKIP
    >>> layer, mass = co.optimality.torch_function(angles), torch.tensor([1.0], requires_grad=True)  # doctest: +SKIP
    >>> torch.sum((layer(mass) - recorded) ** 2).backward()  # doctest: +SKIP
    """
    instance("of", of, OptimumFunction, "see co.optimality.optimum_function")
    torch = _package("torch", "torch_function")

    class Optimum(torch.autograd.Function):
        """One call, with its pull-back."""

        @staticmethod
        def forward(ctx: Any, parameters: Any) -> Any:
            value, ctx.pullback = of.with_pullback(parameters.detach().cpu().double().numpy())
            return parameters.new_tensor(value)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, weights: Any) -> Any:
            return weights.new_tensor(ctx.pullback(weights.cpu().double().numpy()))

    return Optimum.apply


def jax_function(of: OptimumFunction) -> Callable[[Any], Any]:
    """A function of an array that JAX differentiates once, in reverse mode.

    Parameters
    ----------
    of : OptimumFunction

    Returns
    -------
    callable
        Array of parameters, shape (n,) -> array of the numbers, of the same type. It may be compiled by ``jax.jit``,
        and solves one after the other under ``jax.vmap``.

    Raises
    ------
    InputError
        Without JAX; it is not installed with colloc.

    Examples
    --------
    A mass that a recorded motion reveals, with ``jax.config.update("jax_enable_x64", True)``:

    >>> angles = co.optimality.optimum_function(solution, lambda now: now.q, "mass", times)  # doctest: +SKIP
    >>> layer = co.optimality.jax_function(angles)  # doctest: +SKIP
    >>> jax.grad(lambda mass: jnp.sum((layer(mass) - recorded) ** 2))(jnp.array([1.0]))  # doctest: +SKIP
    """
    instance("of", of, OptimumFunction, "see co.optimality.optimum_function")
    jax = _package("jax", "jax_function")
    shape = of(of.base).shape

    def called(fn: Callable[..., np.ndarray], shape: tuple[int, ...], *arguments: Any) -> Any:
        like = jax.ShapeDtypeStruct(shape, arguments[0].dtype)

        def values(*arrays: Any) -> np.ndarray:
            return np.asarray(fn(*(np.asarray(array, dtype=float) for array in arrays)), dtype=like.dtype)

        return jax.pure_callback(values, like, *arguments, vmap_method="sequential")

    @jax.custom_vjp
    def optimum(parameters: Any) -> Any:
        return called(of, shape, parameters)

    def forward(parameters: Any) -> tuple[Any, Any]:
        return optimum(parameters), parameters

    def backward(parameters: Any, weights: Any) -> tuple[Any]:
        return (called(lambda p, w: of.with_pullback(p)[1](w), of.base.shape, parameters, weights),)

    optimum.defvjp(forward, backward)
    return optimum


def _package(name: str, function: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"{function} needs the package {name}, which is not installed: pip install 'colloc[{name}]'"
        ) from None

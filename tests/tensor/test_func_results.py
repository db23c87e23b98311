"""What functions may return in `compat.func`, and what transforms take and refuse."""

from __future__ import annotations

from typing import Any

import pytest

import compat

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


FLOATING = ["linalg.eigh", "linalg.qr", "linalg.svd", "linalg.slogdet"]
WITH_INDICES = ["sort", "mode", "kthvalue", "topk", "max", "cummax", "median"]


def named(torch: Any, name: str) -> Any:
    """A function whose results have names."""
    if name.startswith("linalg."):
        return getattr(torch.linalg, name.removeprefix("linalg."))
    if name in ("kthvalue", "topk"):
        return lambda x: getattr(torch, name)(x, 2, 0)
    return lambda x: getattr(torch, name)(x, 0)


@pytest.mark.parametrize("name", FLOATING + WITH_INDICES)
def test_results_with_names(torch: Any, name: str) -> None:
    F, f = torch.func, named(torch, name)
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]]).double()
    expected = f(a)
    mapped = F.vmap(f)(torch.stack([a, 2 * a]))
    out, dots = F.jvp(f, (a,), (a,))
    _, aux = F.grad(lambda a: (a.sum(), f(a)), has_aux=True)(a)
    assert {type(x) for x in (mapped, out, dots, aux, F.jacfwd(f)(a))} == {type(expected)}
    for i, part in enumerate(expected):
        torch.testing.assert_close(mapped[i][0], part)
        torch.testing.assert_close(out[i], part)
        torch.testing.assert_close(aux[i], part)
        assert dots[i].dtype == part.dtype
    if name in WITH_INDICES:
        for transform in (F.vjp, lambda f, x: F.jacrev(f)(x)):
            with pytest.raises(RuntimeError, match="must be floating-point or complex"):
                transform(f, a)
        return
    out, pull = F.vjp(f, a)
    assert type(out) is type(expected)
    assert pull(out)[0].shape == a.shape
    assert type(F.jacrev(f)(a)) is type(F.jacrev(f, chunk_size=1)(a)) is type(expected)
    assert type(F.linearize(f, a)[1](a)) is type(expected)


REFUSED = [
    ("vjp(lambda a: None, x)", "non-empty output|only tensors"),
    ("vjp(lambda a: 3, x)", "only tensors, got unsupported type"),
    ("vjp(torch.sin, x)[1]((x,))", "Expected pytree structure of cotangents to be the same"),
    ("jvp(lambda a: 3, (x,), (x,))", "only tensors, got unsupported type"),
    ("jvp(lambda a: x, (x,), (x,), strict=True)", "The output of f is independent of the inputs"),
    ("jvp(lambda: x, (), ())", "Expected primals to contain at least one Tensor"),
    ("jacrev(lambda a: ())(x)", "non-empty output"),
    ("jacfwd(lambda a: ())(x)", "non-empty output"),
    ("jacrev(lambda a: (a, 1))(x)", "only tensors, got unsupported type"),
    ("jacrev(lambda a: a.long())(x)", "must be floating-point or complex"),
    ("grad(torch.sum, argnums=())(x)", "must be non-empty"),
    ("jacfwd(torch.sum, argnums=())(x)", "must be non-empty"),
    ("linearize(torch.sin, x)[1](x.double())", "doesn't match the dtype"),
    ("linearize(torch.sin, x)[1](x[:1])", "doesn't match the shape"),
    ("linearize(torch.sin, x)[1](x, x)", "same argspec as the primals"),
    ("functionalize(torch.sin, remove='all')", "received invalid argument for remove=all"),
]


@pytest.mark.parametrize(("expression", "words"), REFUSED)
def test_refused(torch: Any, expression: str, words: str) -> None:
    scope = {name: getattr(torch.func, name) for name in compat.func.__all__}
    scope |= {"torch": torch, "x": torch.ones(2)}
    with pytest.raises(RuntimeError, match=words):
        eval(expression, scope)


def test_strict_jvp_of_what_depends_on_the_primals(torch: Any) -> None:
    x = torch.ones(2)
    _, dots = torch.func.jvp(lambda a: (a * 2, a + x), (x,), (x,), strict=True)
    assert [t.tolist() for t in dots] == [[2.0, 2.0], [1.0, 1.0]]


def test_one_axis_in_a_tuple(torch: Any) -> None:
    rows = torch.ones(3, 2)
    assert torch.func.vmap(torch.sin, out_dims=(1,))(rows).shape == (2, 3)
    assert torch.func.vmap(lambda a: (a,), out_dims=(1,))(rows)[0].shape == (2, 3)


def test_options_of_pullbacks(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        _, made_without = torch.func.vjp(torch.sin, x)
    _, pull = torch.func.vjp(torch.sin, x)
    ones = torch.ones(2)
    assert pull(ones, retain_graph=True)[0].requires_grad
    assert made_without(ones)[0].requires_grad
    assert not pull(ones, create_graph=False)[0].requires_grad
    with torch.no_grad():
        assert not pull(ones)[0].requires_grad
        assert pull(ones, create_graph=True)[0].requires_grad


def function_with(torch: Any, **rules: Any) -> Any:
    rules = {"forward": lambda x: (x.sin(), x.cos()), "setup_context": lambda *_: None, **rules}
    names = {k: v if isinstance(v, bool) else staticmethod(v) for k, v in rules.items()}
    return type("Mine", (torch.autograd.Function,), names)


def test_the_vmap_of_a_function(torch: Any) -> None:
    x, vmap = torch.ones(3, 2), torch.func.vmap
    seen = []

    def rule(info: Any, dims: Any, x: Any) -> Any:
        seen.append((info.batch_size, info.randomness))
        return (x.sin(), x.cos().t()), (dims[0], -1)

    a, b = vmap(function_with(torch, vmap=rule).apply, randomness="same")(x)
    torch.testing.assert_close(a, x.sin())
    torch.testing.assert_close(b, x.cos())
    assert seen == [(3, "same")]
    with pytest.raises(RuntimeError, match="generate_vmap_rule"):
        vmap(function_with(torch, vmap=rule, generate_vmap_rule=True).apply)(x)
    for wrong in (lambda info, dims, x: x, lambda info, dims, x: (x, (0, 0))):
        with pytest.raises(RuntimeError, match="vmap staticmethod"):
            vmap(function_with(torch, vmap=wrong).apply)(x)


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd"])
def test_the_residuals_of_least_squares(torch: Any, driver: str) -> None:
    a = (torch.arange(24.0) ** 2).reshape(2, 4, 3).sin()

    def residuals(a: Any, b: Any) -> Any:
        return torch.linalg.lstsq(a, b, driver=driver).residuals

    found = torch.func.vmap(residuals)(a, a.cos())
    assert found.shape == ((2, 0) if driver == "gelsy" else (2, 3))
    torch.testing.assert_close(found[0], residuals(a[0], a[0].cos()))


PLACES = [
    lambda torch, x: torch.as_strided(x[1:], (2, 2), (1, 2)),  # from where the part begins
    lambda torch, x: torch.as_strided(x[::2], (2,), (2,)),
    lambda torch, x: torch.as_strided(x.reshape(2, 3).t()[1:], (2, 2), (1, 2)),
    lambda torch, x: torch.as_strided(x, (2, 2), x.stride() * 2),
    lambda _, x: x[:2] * float(x.reshape(2, 3).stride(0) + 10 * x[3:].storage_offset()),
]


@pytest.mark.parametrize("f", PLACES, ids=range(len(PLACES)))
def test_places_in_memory_are_those_of_each_entry(torch: Any, f: Any) -> None:
    x = torch.arange(24.0).reshape(4, 6) + 1.0
    alone = torch.stack([f(torch, row.clone()) for row in x])
    assert torch.func.vmap(lambda row: f(torch, row))(x).tolist() == alone.tolist()
    slopes = torch.func.vmap(torch.func.grad(lambda row: f(torch, row).pow(2).sum()))(x)
    expected = torch.autograd.functional.vjp(
        lambda x: torch.stack([f(torch, row.clone()) for row in x]), x, 2 * alone
    )[1]
    assert slopes.tolist() == expected.tolist()


NAN = {
    "grad": lambda F, x: F.grad(lambda x: x.sqrt().sum())(x),
    "vmap": lambda F, x: F.vmap(F.grad(lambda x: x.sqrt()))(x),
    "vjp": lambda F, x: F.vjp(lambda x: x.sqrt(), x)[1](x),
    "jacrev": lambda F, x: F.jacrev(lambda x: x.sqrt())(x),
    "hessian": lambda F, x: F.hessian(lambda x: x.sqrt().sum())(x),
}


@pytest.mark.filterwarnings("ignore:.*Anomaly Detection", "ignore:.*Error detected in")
@pytest.mark.parametrize("which", NAN)
def test_anomaly_detection_is_about_transforms_too(torch: Any, which: str) -> None:
    x = torch.tensor([-1.0, 2.0])
    with (
        torch.autograd.detect_anomaly(),
        pytest.raises(RuntimeError, match="returned nan values in its 0th output"),
    ):
        NAN[which](torch.func, x)
    NAN[which](torch.func, x)
    with torch.autograd.detect_anomaly(check_nan=False):
        NAN[which](torch.func, x)
    with torch.autograd.detect_anomaly():
        NAN[which](torch.func, x.abs())

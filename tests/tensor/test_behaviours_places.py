"""Last row of section 7 of the table of behaviours: every error names the user's own file and line.

A program has comments `# made`, `# saved`, `# changed`, `# freed`, `# applied` on the lines that its
error must name, as ``test_behaviours_places.py:12: <the line>``. On `compat` only.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import compat as torch

FILE = Path(__file__).name
MODIFIED = "modified by an inplace operation"
SECOND = "Trying to backward through the graph a second time"


class Case(NamedTuple):
    """A program, and what its error must say."""

    program: Callable[[], Any]
    words: str
    marks: tuple[str, ...]


CASES: list[Case] = []


def case(words: str, *marks: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def noted(program: Callable[[], Any]) -> Callable[[], Any]:
        CASES.append(Case(program, words, marks))
        return program

    return noted


def place(program: Callable[[], Any], mark: str) -> str:
    """``file:line: text`` of the line of a program with a mark."""
    lines, start = inspect.getsourcelines(program)
    found = [i for i, line in enumerate(lines) if line.rstrip().endswith(f"# {mark}")]
    assert len(found) == 1, f"{program.__name__} marks {len(found)} lines with {mark}"
    return f"{FILE}:{start + found[0]}: {lines[found[0]].strip()}"


def message(error: BaseException) -> str:
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.program.__name__)
def test_error_names_its_places(case: Case) -> None:
    """Every error says where the tensor was made, saved, changed or freed."""
    assert case.marks
    with pytest.raises((RuntimeError, TypeError)) as caught:
        case.program()
    text = message(caught.value)
    assert case.words in text
    for mark in case.marks:
        assert place(case.program, mark) in text, f"not named: {mark}"


def leaf(data: Any) -> Any:
    return torch.tensor(data, requires_grad=True)


# ---------------------------------------------------------------- flags and leaves


@case(SECOND, "saved", "freed")
def second_backward() -> None:
    x = leaf(3.0)
    y = x * x  # saved
    z = y + 1
    z.backward()  # freed
    z.backward()


@case(SECOND, "saved", "freed")
def second_grad() -> None:
    x = leaf(3.0)
    y = torch.exp(x)  # saved
    torch.autograd.grad(y, x)  # freed
    torch.autograd.grad(y, x)


@case(SECOND, "saved", "freed")
def reading_what_was_freed() -> None:
    y = leaf(3.0).pow(2)  # saved
    y.backward()  # freed
    y.grad_fn._saved_self  # noqa: B018


@case("can require gradients", "made")
def integer_requires_grad() -> None:
    x = torch.tensor([1, 2])  # made
    x.requires_grad_()


@case("you can only change requires_grad flags of leaf variables", "made")
def flag_of_a_non_leaf() -> None:
    b = leaf([1.0]) * 2  # made
    b.requires_grad_(False)


@case("grad can be implicitly created only for scalar outputs", "made")
def backward_of_a_vector() -> None:
    b = leaf([1.0, 2.0]) * 2  # made
    c = b
    c.backward()


@case("Can't call numpy() on Tensor that requires grad", "made")
def numpy_of_a_result() -> None:
    b = leaf([1.0, 2.0]) * 2  # made
    b.numpy()


@case("Can't call numpy() on Tensor that requires grad", "made")
def numpy_of_a_leaf() -> None:
    a = torch.tensor([1.0], requires_grad=True)  # made
    a.numpy()


@case("Only Tensors created explicitly by the user", "made")
def deepcopy_of_a_result() -> None:
    b = leaf([1.0, 2.0]) * 2  # made
    copy.deepcopy(b)


# ---------------------------------------------------------------- cutting, inference


@case("element 0 of tensors does not require grad", "made")
def backward_of_what_was_detached() -> None:
    x = leaf(3.0)
    w = (x * x).detach()  # made
    w.backward()


@case("element 0 of tensors does not require grad", "made")
def backward_of_a_constant() -> None:
    x = torch.ones(())  # made
    x.backward()


@case("element 1 of tensors does not require grad", "made")
def grad_of_a_constant() -> None:
    x = leaf(3.0)
    y = torch.tensor(3.0)  # made
    torch.autograd.grad([x * x, y], x)


@case("Inference tensors cannot be saved for backward", "saved")
def inference_tensor_is_saved() -> None:
    a = leaf([1.0, 2.0])
    with torch.inference_mode():
        d = torch.ones(2)
    d * a  # saved


@case("Setting requires_grad=True on inference tensor outside InferenceMode", "made")
def inference_tensor_requires_grad() -> None:
    with torch.inference_mode():
        d = torch.ones(2)  # made
    d.requires_grad_()


@case("appears to not have been used in the graph", "made")
def unused_input() -> None:
    x = leaf(3.0)
    u = torch.tensor(3.0, requires_grad=True)  # made
    torch.autograd.grad(x * x, [x, u])


@case("does not require grad", "made")
def constant_input() -> None:
    x = leaf(3.0)
    u = torch.tensor(3.0)  # made
    torch.autograd.grad(x * x, [x, u])


# ---------------------------------------------------------------- writing


@case("in-place operation. Write under torch.no_grad(), or into x.clone(). It was made", "made")
def leaf_is_written() -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)  # made
    a.add_(1)


@case("a leaf Variable that requires grad is being used in an in-place operation", "made")
def leaf_is_added_to() -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)  # made
    a += 5


@case("leaf Variable that requires grad is being used in an in-place operation", "made")
def leaf_is_assigned_to() -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)  # made
    a[0] = 7


@case("in-place operation. Write under torch.no_grad(), or into a view of x.clone(). The", "made")
def view_of_a_leaf_is_written() -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)  # made
    a.view(1, 2).add_(1)


@case("more than one element of the written-to tensor", "made")
def expanded_tensor_is_written() -> None:
    e = (leaf([1.0, 2.0]) * 1).expand(3, 2)  # made
    e.add_(1)


@case("more than one element of the written-to tensor", "made")
def expanded_constant_is_written() -> None:
    e = torch.ones(2).expand(3, 2)  # made
    e.add_(1)


@case("A view was created in no_grad mode and is being modified inplace", "made")
def view_made_under_no_grad_is_written() -> None:
    b = leaf([1.0, 2.0]) * 1  # made
    with torch.no_grad():
        view = b[:1]
    view.add_(1)


@case("This view is the output of a function that returns multiple views", "made")
def one_of_several_views_is_written() -> None:
    b = leaf([1.0, 2.0]) * 1
    first, _ = b.unbind()  # made
    first.add_(1)


@case(MODIFIED, "saved", "changed")
def saved_operand_is_written() -> None:
    b = leaf([1.0, 2.0]) * 2
    c = b**2  # saved
    b.add_(1)  # changed
    c.sum().backward()


@case(MODIFIED, "saved", "changed")
def saved_result_is_written() -> None:
    b = leaf([1.0, 2.0]).exp()  # saved
    b += 1  # changed
    b.sum().backward()


@case(MODIFIED, "saved", "changed")
def saved_leaf_is_written_under_no_grad() -> None:
    a = leaf([1.0, 2.0])
    y = (a * a).sum()  # saved
    with torch.no_grad():
        a.mul_(2)  # changed
    y.backward()


@case(MODIFIED, "saved", "changed")
def saved_leaf_is_written_through_data() -> None:
    a = leaf([1.0, 2.0])
    y = (a * a).sum()  # saved
    a.data.sub_(1)  # changed
    y.backward()


@case(MODIFIED, "saved", "changed")
def saved_result_is_written_through_detach() -> None:
    y = torch.exp(leaf([1.0, 2.0]))  # saved
    y.detach().zero_()  # changed
    y.sum().backward()


@case(MODIFIED, "saved", "changed")
def saved_operand_is_written_through_a_view() -> None:
    b = leaf([1.0, 2.0]) * 1
    view = b[:1]
    y = (b * b).sum()  # saved
    view.fill_(3.0)  # changed
    y.backward()


@case(MODIFIED, "saved", "changed")
def saved_view_is_written_through_its_base() -> None:
    b = leaf([1.0, 2.0]) * 1
    view = b[:1]
    y = (view * view).sum()  # saved
    b[1] = 3.0  # changed
    y.backward()


@case(MODIFIED, "saved", "changed")
def saved_operand_is_copied_into() -> None:
    b = leaf([1.0, 2.0]) * 1
    y = torch.sin(b).sum()  # saved
    b.copy_(torch.ones(2))  # changed
    y.backward()


@case(MODIFIED, "saved", "changed")
def parameters_are_stepped_before_backward() -> None:
    layer = torch.nn.Linear(2, 2)
    last = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(last.parameters(), lr=0.1)
    for p in last.parameters():
        p.grad = torch.ones_like(p)
    y = last(layer(torch.ones(3, 2))).sum()  # saved
    optimizer.step()  # changed
    y.backward()


@case(MODIFIED, "saved", "changed")
def parameter_is_initialised_before_backward() -> None:
    p = torch.nn.Parameter(torch.ones(2, 2))
    y = (p * p).sum()  # saved
    torch.nn.init.xavier_uniform_(p)  # changed
    y.backward()


@case(MODIFIED, "saved", "changed")
def saved_gradient_is_accumulated_into() -> None:
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (x * x).sum().backward()
    y = (x.grad * w).sum()  # saved
    (x * x).sum().backward()  # changed
    y.backward()


@case(MODIFIED, "saved", "changed")
def saved_value_is_written_between_derivatives() -> None:
    x = leaf([1.0, 2.0])
    b = x * 1
    (g,) = torch.autograd.grad((b * b * b).sum(), x, create_graph=True)  # saved
    b.add_(1)  # changed
    g.sum().backward()


# ---------------------------------------------------------------- hooks, the graph


@case("cannot register a hook on a tensor that doesn't require gradient", "made")
def hook_on_a_constant() -> None:
    x = torch.tensor(1.0)  # made
    x.register_hook(print)


@case("has changed the size of value", "made")
def hook_returns_another_shape() -> None:
    b = leaf([1.0, 2.0]) * 1  # made
    b.register_hook(lambda g: torch.ones(5))
    b.sum().backward()


@case("has changed the size of value", "made")
def leaf_hook_returns_another_shape() -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)  # made
    a.register_hook(lambda g: torch.ones(5))
    (a * 1).sum().backward()


@case("cannot be registered on non-leaf tensors", "made")
def post_hook_on_a_result() -> None:
    b = leaf(1.0) * 1  # made
    b.register_post_accumulate_grad_hook(print)


@case("can't retain_grad on Tensor that has requires_grad=False", "made")
def constant_retains_grad() -> None:
    x = torch.tensor(1.0)  # made
    x.retain_grad()


@case("not possible to get the gradient edge", "made")
def edge_of_a_constant() -> None:
    x = torch.tensor(1.0)  # made
    torch.autograd.graph.get_gradient_edge(x)


# ---------------------------------------------------------------- custom functions


class Wrong(torch.autograd.Function):
    """Returns from backward what it is told to."""

    @staticmethod
    def forward(ctx: Any, x: Any, found: Any) -> Any:
        ctx.found = found
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return ctx.found


@case("returned an incorrect number of gradients", "applied")
def wrong_number_of_gradients() -> None:
    y = Wrong.apply(leaf([1.0, 2.0]), ())  # applied
    y.sum().backward()


@case("returned an invalid gradient at index 0", "applied")
def wrong_shape_of_a_gradient() -> None:
    y = Wrong.apply(leaf([1.0, 2.0]), (torch.ones(3), None))  # applied
    y.sum().backward()


@case("expected Variable or None (got float)", "applied")
def gradient_that_is_no_tensor() -> None:
    y = Wrong.apply(leaf([1.0, 2.0]), (3.0, None))  # applied
    y.sum().backward()


class Once(torch.autograd.Function):
    """Is differentiable once; saves its operand and writes into it if it is told to."""

    @staticmethod
    def forward(ctx: Any, x: Any, written: bool) -> Any:
        ctx.save_for_backward(x)
        if written:
            ctx.mark_dirty(x)
            return x.mul_(2)
        return x * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 2 * x, None


@case(SECOND, "applied", "freed")
def second_backward_of_a_function() -> None:
    y = Once.apply(leaf(1.0), False)  # applied
    y.backward()  # freed
    y.backward()


@case("marked with @once_differentiable", "applied")
def second_derivative_of_a_function() -> None:
    x = leaf(1.0)
    y = Once.apply(x, False) * x  # applied
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    g.backward()


@case(MODIFIED, "applied", "changed")
def value_saved_by_a_function_is_written() -> None:
    b = leaf([1.0, 2.0]) * 1
    y = Once.apply(b, False)  # applied
    b.zero_()  # changed
    y.sum().backward()


@case("a leaf Variable that requires grad has been used in an in-place operation", "made")
def function_writes_into_a_leaf() -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)  # made
    Once.apply(a, True)


class Kept(torch.autograd.Function):
    """Keeps what is neither input nor output."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.kept = torch.exp(x)
        return ctx.kept * 1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.kept


@case("kept it on ctx", "applied")
def tensor_kept_on_ctx() -> None:
    x = leaf(1.0)
    y = Kept.apply(x) * x  # applied
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    g.backward()


# ---------------------------------------------------------------- warnings


def test_warning_names_its_place() -> None:
    """Reading `.grad` of a non-leaf: the warning is at the reader's line and says where it was made."""
    b = leaf([1.0, 2.0]) * 2  # made
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        b.grad  # noqa: B018
    assert place(test_warning_names_its_place, "made") in str(caught[0].message)
    assert caught[0].filename == __file__
    assert caught[0].lineno == int(place(test_warning_names_its_place, "made").split(":")[1]) + 3


def _full_hook() -> None:
    m = torch.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda *_: None)
    m(torch.ones(1, 2)).sum().backward()


def _no_output() -> None:
    m = torch.nn.Module()
    m.forward = lambda x: None
    m.register_full_backward_hook(lambda *_: None)
    m(torch.ones(1, requires_grad=True))


def _twice_in_a_group() -> None:
    w = torch.ones(2, requires_grad=True)
    torch.optim.SGD([w, w], lr=0.1)


def _anomaly() -> None:
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="nan"):
        torch.tensor(-1.0, requires_grad=True).sqrt().backward()


WARNINGS = [
    _full_hook,
    _no_output,
    _twice_in_a_group,
    _anomaly,
    lambda: torch.ones(2, requires_grad=True).sum().backward(create_graph=True),
    lambda: torch.nn.Softmax()(torch.ones(2)),
    lambda: torch.nn.functional.mse_loss(torch.ones(2), torch.ones(1)),
    lambda: torch.nn.init.kaiming_uniform_(torch.ones(0, 2)),
    lambda: torch.ones(2)[[[0]]],
    lambda: torch.ones(2).T,
]


@pytest.mark.parametrize("warns", WARNINGS)
def test_warnings_are_about_the_users_line(warns: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warns()
    lines = range(warns.__code__.co_firstlineno, warns.__code__.co_firstlineno + 8)
    assert all(w.filename == __file__ and w.lineno in lines for w in caught)
    assert {w.category for w in caught} == {UserWarning}


def test_a_warning_is_given_once_for_a_line() -> None:
    reverse = lambda: torch.ones(2).T  # noqa: E731
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            reverse()
    assert len(caught) == 1

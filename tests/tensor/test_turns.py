"""Backward passes after an interrupt, and in children of a process in which one runs."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

import pytest

import compat


def gradient() -> Any:
    w = compat.ones(2, requires_grad=True)
    y = w * w
    y.register_hook(lambda g: None)
    y.sum().backward()
    return w.grad.tolist()


@pytest.mark.parametrize("name", ["begin", "_lay", "lay_back", "called", "_take_again"])
def test_an_interrupt_leaves_nothing_behind(name: str) -> None:
    """At the first line of what takes and gives up turns."""
    before = sys.gettrace()

    def interrupt(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_name == name and event == "line":
            sys.settrace(before)
            raise KeyboardInterrupt
        return interrupt

    sys.settrace(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            gradient()
    finally:
        sys.settrace(before)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(gradient()), daemon=True)
    thread.start()
    thread.join(10)
    assert [*found, gradient()] == [[2.0, 2.0]] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_children_of_a_process_that_runs_backward() -> None:
    """A fork waits for the turn, so that no child is born with it taken."""
    over = threading.Event()

    def work() -> None:
        w = compat.ones(1000, requires_grad=True)
        while not over.is_set():
            (w.sin() * w).sum().backward()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if not child:
                gradient()
                os._exit(0)
            end = time.monotonic() + 10
            found = (0, 0)
            while found == (0, 0) and time.monotonic() < end:
                found = os.waitpid(child, os.WNOHANG)
                time.sleep(0.001)
            if found == (0, 0):
                os.kill(child, 9)
                os.waitpid(child, 0)
            assert found == (child, 0)
    finally:
        over.set()
        thread.join()

"""What all tests share."""

import signal
from typing import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def interrupts() -> Iterator[None]:
    """Interrupts raise KeyboardInterrupt, as on a terminal: a shell that runs the tests in the background has them ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

"""Kernels are compiled before a stream begins, for the arrays that receivers yield."""

from __future__ import annotations

from typing import Any

import pytest

from railfab.telemetry import decode
from railfab.telemetry.kernel import take as kernel
from railfab.telemetry.receive.grpcio import _batch
from railfab.telemetry.warm import compile_kernels


def test_buffers_of_receivers_have_the_type_that_is_compiled_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    buffers = [_batch(0, [b"message"], 0.0).buffer]

    def take(buffer: Any, *rest: Any) -> Any:
        buffers.append(buffer)
        return kernel.take(buffer, *rest)

    monkeypatch.setattr(decode, "take", take)
    compile_kernels()
    assert len(buffers) > 1
    assert all(buffer.flags.writeable for buffer in buffers)

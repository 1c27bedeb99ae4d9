"""Differences of the compiled kernel from numba's code: no negative indices, and prefetches. Needs numba.

Imported only to compile; numba's functions are not registered in a process that has compiled code from earlier.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.cgutils import do_boundscheck, get_or_insert_function, raw_memmove, unpack_tuple, voidptr_t
from numba.core.datamodel.models import ArrayModel
from numba.core.errors import TypingError
from numba.core.types.containers import NamedTuple
from numba.extending import lower_builtin, register_model
from numba.np.arrayobj import load_item, store_item

_PREFETCH = ir.FunctionType(ir.VoidType(), [voidptr_t, *[ir.IntType(32)] * 3])
_READ, _KEEP, _DATA = (ir.Constant(ir.IntType(32), value) for value in (0, 3, 1))


class FromStart(types.Array):
    """An array of one dimension whose indices count from its start only, as with Cython's `wraparound=False`.

    Raises TypingError for an array whose elements do not lie side by side, since its strides would be ignored.
    """

    def __init__(self, array: Any) -> None:
        if array.ndim != 1 or array.layout != "C":
            raise TypingError(f"from_start() takes contiguous arrays of one dimension, not {array}")
        name = f"from_start({array.name})"
        super().__init__(array.dtype, 1, "C", readonly=not array.mutable, aligned=array.aligned, name=name)


register_model(FromStart)(ArrayModel)


def from_start(kind: Any) -> Any:
    """The type of an array, or of a named tuple of arrays, without negative indices. In memory it is the same."""
    if isinstance(kind, types.Array):
        return FromStart(kind)
    return NamedTuple([FromStart(part) for part in kind], kind.instance_class)


def same(_context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
    """The argument as it is, with another type."""
    return arguments[0]


def _pointer(context: Any, builder: Any, kind: Any, array: Any, index_kind: Any, index: Any, *, size: int = 1) -> Any:
    """The place of an element. NUMBA_BOUNDSCHECK=1 has it checked that `size` elements are there, if any are read."""
    values, place = (
        context.make_array(kind)(context, builder, array),
        context.cast(builder, index, index_kind, types.intp),
    )
    if context.enable_boundscheck and size:
        (length,) = unpack_tuple(builder, values.shape)
        do_boundscheck(context, builder, place, length)
        do_boundscheck(context, builder, builder.add(place, place.type(size - 1)), length)
    return builder.gep(values.data, [place], inbounds=True)


@lower_builtin(operator.getitem, FromStart, types.Integer)  # type: ignore[untyped-decorator]
def _get(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, index_kind = signature.args
    return load_item(context, builder, kind, _pointer(context, builder, kind, arguments[0], index_kind, arguments[1]))


@lower_builtin(operator.setitem, FromStart, types.Integer, types.Any)  # type: ignore[untyped-decorator]
def _set(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    kind, index_kind, value_kind = signature.args
    value = context.cast(builder, arguments[2], value_kind, kind.dtype)
    pointer = _pointer(context, builder, kind, arguments[0], index_kind, arguments[1])
    store_item(context, builder, kind, value, pointer)


def prefetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """LLVM's prefetch of an element for reading, into all caches."""
    kind, index_kind = signature.args
    pointer = _pointer(context, builder, kind, arguments[0], index_kind, arguments[1], size=0)
    function = get_or_insert_function(builder.module, _PREFETCH, "llvm.prefetch.p0")
    builder.call(function, [builder.bitcast(pointer, voidptr_t), _READ, _KEEP, _DATA])
    return context.get_dummy_value()


def load64(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """One unaligned load of 64 bits from an array of bytes."""
    kind, index_kind = signature.args
    pointer = _pointer(context, builder, kind, arguments[0], index_kind, arguments[1], size=8)
    loaded = builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()))
    loaded.align = 1
    return loaded


def copy(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """LLVM's memmove of bytes, whose ends are checked as indices are."""
    source_kind, _, size_kind, out_kind, _ = signature.args
    source, start, size, out, at = arguments
    count = context.cast(builder, size, size_kind, types.intp)
    begin = _range(context, builder, source_kind, source, signature.args[1], start, count)
    into = _range(context, builder, out_kind, out, signature.args[4], at, count)
    raw_memmove(builder, into, begin, count, 1)
    return builder.add(context.cast(builder, at, signature.args[4], types.intp), count)


def _range(context: Any, builder: Any, kind: Any, array: Any, index_kind: Any, index: Any, count: Any) -> Any:
    """The first of so many elements, which may be none."""
    values, place = (
        context.make_array(kind)(context, builder, array),
        context.cast(builder, index, index_kind, types.intp),
    )
    if context.enable_boundscheck:
        (length,) = unpack_tuple(builder, values.shape)
        behind = builder.add(length, length.type(1))
        do_boundscheck(context, builder, place, behind)
        do_boundscheck(context, builder, builder.add(place, count), behind)
    return builder.gep(values.data, [place], inbounds=True)

"""Python's operators, for classes with one method for all operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from cubed._core import Operation


class Operators:
    """Binary operators, by the names of their functions in the standard."""

    __slots__ = ()

    __hash__: ClassVar[None]  # type: ignore[assignment]
    __hash__ = None

    def _operate(self, name: Operation, other: Any, reflected: bool = False) -> Self:
        """Returns the result, or NotImplemented. `reflected`: `other` is the left operand."""
        raise NotImplementedError

    def __add__(self, other: Any, /) -> Self:
        return self._operate("add", other)

    def __radd__(self, other: Any, /) -> Self:
        return self._operate("add", other, True)

    def __sub__(self, other: Any, /) -> Self:
        return self._operate("subtract", other)

    def __rsub__(self, other: Any, /) -> Self:
        return self._operate("subtract", other, True)

    def __mul__(self, other: Any, /) -> Self:
        return self._operate("multiply", other)

    def __rmul__(self, other: Any, /) -> Self:
        return self._operate("multiply", other, True)

    def __truediv__(self, other: Any, /) -> Self:
        return self._operate("divide", other)

    def __rtruediv__(self, other: Any, /) -> Self:
        return self._operate("divide", other, True)

    def __floordiv__(self, other: Any, /) -> Self:
        return self._operate("floor_divide", other)

    def __rfloordiv__(self, other: Any, /) -> Self:
        return self._operate("floor_divide", other, True)

    def __mod__(self, other: Any, /) -> Self:
        return self._operate("remainder", other)

    def __rmod__(self, other: Any, /) -> Self:
        return self._operate("remainder", other, True)

    def __pow__(self, other: Any, /) -> Self:
        return self._operate("pow", other)

    def __rpow__(self, other: Any, /) -> Self:
        return self._operate("pow", other, True)

    def __and__(self, other: Any, /) -> Self:
        return self._operate("bitwise_and", other)

    def __rand__(self, other: Any, /) -> Self:
        return self._operate("bitwise_and", other, True)

    def __or__(self, other: Any, /) -> Self:
        return self._operate("bitwise_or", other)

    def __ror__(self, other: Any, /) -> Self:
        return self._operate("bitwise_or", other, True)

    def __xor__(self, other: Any, /) -> Self:
        return self._operate("bitwise_xor", other)

    def __rxor__(self, other: Any, /) -> Self:
        return self._operate("bitwise_xor", other, True)

    def __lshift__(self, other: Any, /) -> Self:
        return self._operate("bitwise_left_shift", other)

    def __rlshift__(self, other: Any, /) -> Self:
        return self._operate("bitwise_left_shift", other, True)

    def __rshift__(self, other: Any, /) -> Self:
        return self._operate("bitwise_right_shift", other)

    def __rrshift__(self, other: Any, /) -> Self:
        return self._operate("bitwise_right_shift", other, True)

    def __eq__(self, other: Any, /) -> Self:  # type: ignore[override]
        return self._operate("equal", other)

    def __ne__(self, other: Any, /) -> Self:  # type: ignore[override]
        return self._operate("not_equal", other)

    def __lt__(self, other: Any, /) -> Self:
        return self._operate("less", other)

    def __le__(self, other: Any, /) -> Self:
        return self._operate("less_equal", other)

    def __gt__(self, other: Any, /) -> Self:
        return self._operate("greater", other)

    def __ge__(self, other: Any, /) -> Self:
        return self._operate("greater_equal", other)

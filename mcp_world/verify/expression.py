"""An expression of a rule: CEL, checked when it is read, bounded when it is run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import cel

from mcp_world.core.types import Json

VARIABLES: Final = frozenset({"args", "result", "text", "is_error", "ledger", "step", "previous", "tool", "record"})
"""What an expression may speak of; `docs/verifiers.md` says what each holds."""

_FUNCTIONS = frozenset({
    "size", "contains", "startsWith", "endsWith", "matches", "int", "uint", "double", "string", "bool", "bytes", "type",
    "dyn", "timestamp", "duration", "getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear",
    "getHours", "getMinutes", "getSeconds", "getMilliseconds", "min", "max",
})  # fmt: skip
_TYPES = frozenset({"string", "int", "uint", "double", "bool", "bytes", "list", "map", "null_type", "type"})
_MACRO = re.compile(r"\.\s*(?:all|exists|exists_one|map|filter)\s*\(\s*([A-Za-z_]\w*)")
_PLACE = re.compile(r"<input>:(\d+):(\d+): *([^\n|]*)")
_LONGEST = 2_000
_MACROS = 4
_BUDGET = 2_000_000
"""How often the inside of a macro may run: the longest list to the power of the number of macros."""

NOTHING: Final = object()
"""The value of an expression that speaks of something that is not there."""


class ExpressionError(Exception):
    """An expression cannot be used.

    Args:
        reason: Why.
        column: Where in the expression, from 1.
        line: Which line of it, from 1.
    """

    def __init__(self, reason: str, column: int = 1, line: int = 1) -> None:
        self.reason = reason
        self.column = column
        self.line = line
        super().__init__(reason)


class Expression:
    """A CEL expression (https://cel.dev).

    Args:
        source: Its text.

    Raises:
        ExpressionError: It is too long, no CEL, or speaks of a variable or a function that there is none of.
    """

    __slots__ = ("_macros", "_program", "source", "uses")

    def __init__(self, source: str) -> None:
        if len(source) > _LONGEST:
            raise ExpressionError(f"longer than {_LONGEST} characters")
        own = {found.group(1) for found in _MACRO.finditer(source)}
        self._macros = len(_MACRO.findall(source))
        if self._macros > _MACROS:
            raise ExpressionError(f"more than {_MACROS} macros (all, exists, exists_one, map, filter)")
        try:
            self._program = cel.compile(source)
        except ValueError as error:
            raise _syntax(error) from None
        used = set(self._program.variables()) - own
        for name in sorted(used - VARIABLES - _TYPES):
            raise ExpressionError(
                f"there is no variable {name!r}; there are {', '.join(sorted(VARIABLES))}", _column(source, name)
            )
        for name in sorted(n for n in self._program.functions() if n[:1].isalpha() and n not in _FUNCTIONS):
            raise ExpressionError(f"there is no function {name!r}", _column(source, name))
        self.source = source
        self.uses = frozenset(used & VARIABLES)
        """The variables that it speaks of."""

    def value(self, variables: Mapping[str, Json]) -> Any:
        """Its value; `NOTHING` where it speaks of something that is not there, or of a value of another type.

        Args:
            variables: At least those of `uses`.

        Raises:
            TooMuch: There is so much data that it could run without end.
        """
        given = {name: variables[name] for name in self.uses}
        if self._macros > 1 and _widest(given) ** self._macros > _BUDGET:
            raise TooMuch(self.source)
        try:
            return self._program.execute(given)
        except (KeyError, RuntimeError, TypeError, ValueError, ArithmeticError, IndexError):
            return NOTHING


class TooMuch(Exception):
    """An expression was not run, for it could run without end."""


def _syntax(error: ValueError) -> ExpressionError:
    found = _PLACE.search(str(error))
    if found is None:
        return ExpressionError(str(error).splitlines()[0])
    reason = found.group(3).removeprefix("Syntax error: ")
    return ExpressionError(f"no CEL: {reason}", int(found.group(2)), int(found.group(1)))


def _column(source: str, name: str) -> int:
    found = re.search(rf"(?<![\w.]){re.escape(name)}\b", source) or re.search(rf"\b{re.escape(name)}\b", source)
    return found.start() + 1 if found else 1


def _widest(value: Json) -> int:
    """The length of the longest list or object in a value."""
    widest, stack = 1, [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict | list):
            widest = max(widest, len(node))
            stack.extend(node.values() if isinstance(node, dict) else node)
    return widest

"""The formulas inside a case's topology: `agg+'+'+v`, `(k,v)->(v,k)`, `v%2==0`, `k=="a"?(null,v):(v,v)`.

A formula is compiled to a function of an environment (names to values). `+` of two numbers adds; any other `+` joins
text, where null prints as `null`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Environment = Mapping[str, Any]
Code = Callable[[Environment], Any]

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+)|(?P<text>'[^']*'|"[^"]*")|(?P<name>[A-Za-z_]\w*)|(?P<op>->|==|!=|<=|>=|[-+*%?:()\[\],.<>]))"""
)
_CONSTANTS = {"null": None, "None": None, "true": True, "false": False}


def show(value: Any) -> str:
    """As Java prints it."""
    return "null" if value is None else str(value)


_FUNCTIONS: dict[str, Callable[..., Any]] = {"str": show, "int": int, "len": len}
_METHODS: dict[str, Callable[..., Any]] = {"split": str.split, "length": len, "startswith": str.startswith}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


def with_arguments(call: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The same function with two or three named arguments: penstock reads from the signature how many it takes."""

    def of_two(x: Any, y: Any) -> Any:
        return call(x, y)

    def of_three(x: Any, y: Any, z: Any) -> Any:
        return call(x, y, z)

    return of_two if count == 2 else of_three


@dataclass(frozen=True, slots=True)
class Formula:
    """A compiled formula. `parameters` are those of `(a,b)->...`; empty for a bare formula."""

    parameters: tuple[str, ...]
    code: Code

    def of(self, *names: str) -> Callable[..., Any]:
        """A Python function of these arguments; a lambda's own names take their place, from the right."""

        def call(*arguments: Any) -> Any:
            environment = dict(zip(names, arguments, strict=True))
            if self.parameters:
                own = arguments[len(arguments) - len(self.parameters) :]
                environment.update(zip(self.parameters, own, strict=True))
            return self.code(environment)

        return with_arguments(call, len(names))


def formula(text: str) -> Formula:
    """A formula that takes up the whole text.

    Raises:
        ValueError: The text is no formula.
    """
    parser = _Parser(text)
    found = parser.formula()
    if parser.kind:
        raise ValueError(f"cannot read {text[parser.start :].strip()!r} at the end of the formula {text!r}")
    return found


def leading_formula(text: str) -> Formula:
    """The longest formula at the beginning of a remark."""
    return _Parser(text).formula()


class _Parser:
    """Recursive descent, one method a level of precedence."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self.start = 0
        self.kind: str | None = None
        self._token = ""
        self._next()

    def formula(self) -> Formula:
        mark = self.start
        parameters = self._parameters()
        if not parameters:
            self._end = mark
            self._next()
        return Formula(parameters, self._conditional())

    def _parameters(self) -> tuple[str, ...]:
        """The names before an arrow; empty if there is no arrow."""
        names = []
        if self._accept("("):
            while self.kind == "name":
                names.append(self._take())
                if not self._accept(","):
                    break
            if not self._accept(")"):
                return ()
        elif self.kind == "name":
            names.append(self._take())
        return tuple(names) if names and self._accept("->") else ()

    def _conditional(self) -> Code:
        condition = self._comparison()
        if not self._accept("?"):
            return condition
        then = self._conditional()
        self._expect(":")
        otherwise = self._conditional()
        return lambda env: then(env) if condition(env) else otherwise(env)

    def _comparison(self) -> Code:
        left = self._sum()
        if self.kind != "op" or self._token not in _COMPARISONS:
            return left
        compare = _COMPARISONS[self._take()]
        right = self._sum()
        return lambda env: compare(left(env), right(env))

    def _sum(self) -> Code:
        code = self._product()
        while self.kind == "op" and self._token in {"+", "-"}:
            code = _binary(_plus if self._take() == "+" else operator.sub, code, self._product())
        return code

    def _product(self) -> Code:
        code = self._postfix()
        while self.kind == "op" and self._token in {"%", "*"}:
            code = _binary(operator.mod if self._take() == "%" else operator.mul, code, self._postfix())
        return code

    def _postfix(self) -> Code:
        code = self._primary()
        while True:
            if self._accept("["):
                index = self._conditional()
                self._expect("]")
                code = _binary(operator.getitem, code, index)
            elif self._accept("."):
                code = _call(_named(_METHODS, self._take_name()), [code, *self._arguments()])
            else:
                return code

    def _primary(self) -> Code:
        if self.kind == "number":
            return _constant(int(self._take()))
        if self.kind == "text":
            return _constant(self._take()[1:-1])
        if self.kind == "name":
            name = self._take()
            if self.kind == "op" and self._token == "(":
                return _call(_named(_FUNCTIONS, name), self._arguments())
            return _constant(_CONSTANTS[name]) if name in _CONSTANTS else _variable(name)
        self._expect("(")
        items = [self._conditional()]
        while self._accept(","):
            items.append(self._conditional())
        self._expect(")")
        return items[0] if len(items) == 1 else lambda env: tuple(item(env) for item in items)

    def _arguments(self) -> list[Code]:
        self._expect("(")
        found: list[Code] = []
        while not self._accept(")"):
            found.append(self._conditional())
            self._accept(",")
        return found

    def _next(self) -> None:
        self.start = self._end
        match = _TOKEN.match(self._text, self._end)
        if match is None:
            self.kind, self._token = None, ""
            return
        self.kind, self._end = match.lastgroup, match.end()
        self._token = match[self.kind or 0]

    def _take(self) -> str:
        token = self._token
        self._next()
        return token

    def _take_name(self) -> str:
        if self.kind != "name":
            raise ValueError(f"a name is missing after a dot in {self._text!r}")
        return self._take()

    def _accept(self, op: str) -> bool:
        if self.kind == "op" and self._token == op:
            self._next()
            return True
        return False

    def _expect(self, op: str) -> None:
        if not self._accept(op):
            raise ValueError(f"{op!r} is missing before {self._text[self.start :]!r} in {self._text!r}")


def _plus(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    return show(left) + show(right)


def _constant(value: Any) -> Code:
    return lambda _env: value


def _variable(name: str) -> Code:
    def look_up(env: Environment) -> Any:
        if name not in env:
            raise ValueError(f"the formula names {name!r}, but there are only {', '.join(env)}")
        return env[name]

    return look_up


def _binary(function: Callable[[Any, Any], Any], left: Code, right: Code) -> Code:
    return lambda env: function(left(env), right(env))


def _call(function: Callable[..., Any], arguments: list[Code]) -> Code:
    return lambda env: function(*(argument(env) for argument in arguments))


def _named(known: dict[str, Callable[..., Any]], name: str) -> Callable[..., Any]:
    if name not in known:
        raise ValueError(f"no function is called {name!r}; known are {', '.join(known)}")
    return known[name]

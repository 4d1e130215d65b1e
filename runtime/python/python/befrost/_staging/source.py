"""The syntax tree of a function: from its file, a notebook's cell, or the REPL, wherever `linecache` finds it.

A function is found by the line of its code object and its name, a lambda by the columns of its body.
"""

from __future__ import annotations

import ast
import linecache
import types
from typing import Union

from .errors import Refused

FunctionNode = Union[ast.FunctionDef, ast.Lambda]


class _Source:
    """The definitions in a file: functions by name and first line, lambdas by their first line."""

    def __init__(self, lines: tuple[str, ...], tree: ast.Module):
        self.lines = lines
        self.functions: dict[tuple[str, int], ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.lambdas: dict[int, list[ast.Lambda]] = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions.setdefault((node.name, _first_line(node)), node)
            elif isinstance(node, ast.Lambda):
                self.lambdas.setdefault(node.lineno, []).append(node)


_sources: dict[str, _Source] = {}


def _source(file: str, module_globals: dict[str, object]) -> _Source:
    linecache.checkcache(file)
    lines = tuple(linecache.getlines(file, module_globals))
    if not lines:
        raise Refused(
            f"the source of '{file}' is not there: define the function in a file, a notebook or the REPL, "
            "not by exec or eval"
        , code="P0101")
    known = _sources.get(file)
    if known is None or known.lines != lines:
        try:
            tree = ast.parse("".join(lines), file)
        except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
            raise Refused(f"the source of '{file}' cannot be parsed: {error}", code="P0101") from None
        known = _sources[file] = _Source(lines, tree)
    return known


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min(node.lineno, *(decorator.lineno for decorator in node.decorator_list), node.lineno)


def _contains(node: ast.AST, line: int, column: int) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return start <= (line, column) <= end


def function_node(function: types.FunctionType) -> FunctionNode:
    """The definition of a function.

    Raises Refused if there is no source, or the function is a coroutine or a generator.
    """
    code = function.__code__
    source = _source(code.co_filename, function.__globals__)
    found: FunctionNode | ast.AsyncFunctionDef | None
    if code.co_name == "<lambda>":
        found = _lambda_of(code, source.lambdas.get(code.co_firstlineno, []))
    else:
        found = source.functions.get((code.co_name, code.co_firstlineno))
    if isinstance(found, ast.AsyncFunctionDef):
        raise Refused(f"'{found.name}' is a coroutine; only plain functions are compiled", code="P0102")
    if found is None:
        raise Refused(f"the source of '{function.__qualname__}' in '{code.co_filename}' has changed, or is not there", code="P0101")
    return found


def _lambda_of(code: types.CodeType, found: list[ast.Lambda]) -> ast.Lambda | None:
    """Among the lambdas of a line the innermost one whose body contains the most positions of a code object: all, but
    those of instructions that belong to no expression."""
    places = [(line, column) for line, _, column, _ in code.co_positions() if line and column is not None]

    def order(node: ast.Lambda) -> tuple[int, int, int, int]:
        inside = sum(_contains(node.body, line, column) for line, column in places)
        return -inside, node.end_lineno or 0, node.end_col_offset or 0, -node.col_offset

    return min(found, key=order, default=None)


class Scope:
    """The names that the body of a function assigns, or declares as nonlocal or global."""

    def __init__(self, node: FunctionNode | ast.ListComp):
        self.assigned: set[str] = set()
        self.nonlocals: set[str] = set()
        self.globals: set[str] = set()
        self.is_generator = False
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
            self.assigned.update(a.arg for a in every)
            body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
            for statement in body:
                self._visit(statement)
        self.assigned -= self.nonlocals | self.globals

    def _visit(self, root: ast.AST) -> None:
        pending = [root]
        while pending:
            node = pending.pop()
            if isinstance(node, (ast.Name, ast.Constant)):
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                    self.assigned.add(node.id)
                continue
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.assigned.add(node.name)
                continue
            if isinstance(node, ast.Lambda):
                continue
            if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                # Its targets are its own; what `:=` assigns is not.
                pending.extend(n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
                continue
            if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
                self.is_generator = True
            if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
                self.assigned.add(node.name)
            elif isinstance(node, ast.MatchMapping) and node.rest:
                self.assigned.add(node.rest)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self.assigned.update((a.asname or a.name).split(".")[0] for a in node.names)
            elif isinstance(node, ast.Nonlocal):
                self.nonlocals.update(node.names)
            elif isinstance(node, ast.Global):
                self.globals.update(node.names)
            pending.extend(ast.iter_child_nodes(node))

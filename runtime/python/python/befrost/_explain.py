"""`explain`: what an error's code means, and what to do.

Codes of functions that cannot be compiled begin with P; `CompileError.code` has them, from the place that refuses. The
others are those of the runtime, by name.
"""

from __future__ import annotations

_REFUSED = {
    "P0100": "The function cannot be compiled as it is; the message says why, the traceback where.",
    "P0101": "The source of a function is read where `linecache` finds it: a file, a notebook's cell, the REPL. Functions made by "
             "`exec` or `eval`, and modules without source, cannot be compiled. Define the function in a file.",
    "P0102": "The statement has no meaning in a graph. Do this part outside of the compiled function, or with `bf.static(...)` while "
             "compiling. In place of `raise` under a condition that is only known when the function runs, write `assert`.",
    "P0103": "The function answers differently each time, so it would be called once, while compiling. If that is what you want, write "
             "`bf.static(f(...))`; otherwise give its result as an argument.",
    "P0104": "Both ways of a branch, and all iterations of a loop, must agree on a variable's dtype and rank if it is used afterwards: "
             "the graph has one place for it. Give the variable the same dtype on all ways, for instance `total = np.float32(0)` before "
             "a loop that adds float32.",
    "P0105": "The variable is not assigned on every way to its use. Assign it before the branch or loop; the note says which statement "
             "may skip the assignment.",
    "P0106": "Arrays have value semantics in a graph, and lists and objects have one name while they change. An element can be assigned "
             "if the function made the array and nothing else names it or a view of it. Make a copy first: `x = x.copy()`.",
    "P0107": "Loops whose trips are known while compiling are unrolled. Use `bf.range` to keep the loop in the graph, or give the "
             "decorator a larger `unroll`.",
    "P0108": "A result must be made of arrays, numbers, tuples, lists, dicts and dataclasses of these, and static values.",
    "P0109": "Something that shapes the graph (an axis, a dtype, a key, a length) depends on values that are only known when it runs. "
             "Make it a Python value, or name the argument in `static=`.",
    "P0110": "The function, or a value in it, is larger than the compiler accepts, so that time and memory stay bounded. Move parts into "
             "loops of the graph (`bf.range`), or into functions of their own.",
    "P0111": "A recursion must end while compiling: its depth must not depend on staged values. Write a loop.",
    "P0112": "The front end has no operation for it. Use a NumPy function of the table (FUNCTIONS.md), an operator `bf.tf.*`, or compute "
             "it outside of the function.",
    "P0113": "Types, shapes or values do not fit: the plain function would fail at this place, too. The message has NumPy's or Python's "
             "words where they were known.",
}
_RUNTIME = {
    "Cancelled": "The run was stopped, by Ctrl-C or by the caller.",
    "Unknown": "The error has no code of its own.",
    "InvalidArgument": "A dtype, a shape, a size or an attribute does not fit. The message has the given and the expected one.",
    "DeadlineExceeded": "The time limit was reached: `timeout=`, or `with bf.timeout(...)`. Results are lost.",
    "NotFound": "There is nothing of this name. The message lists the nearest ones.",
    "ResourceExhausted": "Memory, or another limit such as the depth of calls, is exhausted.",
    "FailedPrecondition": "The operation is not possible in this state, such as reading a variable without a value.",
    "OutOfRange": "An index is outside of its range.",
    "Unimplemented": "There is no such operator or option.",
    "Internal": "A defect of Befrost. Please report it.",
    "Unavailable": "A value does not exist, because control flow took another way; or a file cannot be read or written.",
}


def explain(code: str) -> str:
    """What an error's code means, and what to do.

    >>> print(explain("P0107"))
    P0107: Loops whose trips are known while compiling are unrolled. Use `bf.range` to keep the loop in the graph, or give the decorator a larger `unroll`.
    """
    known = _REFUSED | _RUNTIME
    if code not in known:
        import difflib

        near = difflib.get_close_matches(code, known, 3)
        from ._errors import NotFoundError

        raise NotFoundError(f"there is no code '{code}'" + (f"; did you mean {', '.join(near)}?" if near else ""))
    return f"{code}: {known[code]}"

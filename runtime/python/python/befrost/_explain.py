"""`explain`: what an error's code means, and what to do.

Codes of functions that cannot be compiled begin with P; `CompileError.code` has them, from the place that refuses. Those
of the compiler begin with E; they stand in its messages. The others are those of the runtime, by name.
"""

from __future__ import annotations

import re

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
_MODELS = {
    "E0801": "The bytes are no valid message of this kind: the file is damaged, cut off, or of another kind than its name says.",
    "E0802": "A node of the graph is invalid: the message names it and says which operand or attribute is wrong. Export the model again.",
    "E0803": "The graph has no tensor or node of this name. The message has the nearest names; `model.tensors()` lists all.",
    "E0804": "Nodes depend on themselves, outside of a loop. The message has the circle.",
    "E0805": "The model has operations that are not supported. The message has all of them, with counts and nodes; a kernel library "
             "(`libraries=`) can bring them.",
    "E0806": "A function of the graph's library is invalid: its signature and its nodes disagree.",
    "E0807": "There is nothing to import: no node is fetched, or the graph is empty. Name what you want: `fetches=`.",
    "E0808": "The SavedModel has no graph with these tags.",
    "E0809": "The model has no signature of this name. `model.signatures` lists them.",
    "E0810": "The variables of the model cannot be read: a file of the checkpoint is missing or damaged.",
    "E0811": "A file that the model refers to cannot be read: a file beside it is missing, or it lies outside of the model's folder.",
    "E0812": "The checkpoint has no value for a variable, or one of another type.",
    "E0813": "A tensor in the file is invalid: its bytes disagree with its dtype and shape.",
    "E0814": "A tensor or node cannot be what it was named for: for instance, an operation without results is no tensor to be fetched.",
    "E0815": "A signature has a value that is no tensor.",
    "E0901": "There are operations between what is differentiated and its variables that have no gradient. The message has all of them.",
    "E0902": "The model forbids this gradient; the message is the model's own.",
    "E0903": "What is differentiated, or with respect to what, is not there, or is no floating-point number.",
    "E0904": "There is no gradient: nothing on the way to the result depends on it. The message names the first operation that cuts.",
    "E0905": "A gradient that was given has another shape or dtype than the value that it belongs to.",
    "E0906": "A custom gradient is missing, or has the wrong signature.",
    "E0907": "A loop of TensorFlow's old form could not be made a loop with variables, so it has no gradient.",
    "E0908": "The limit of memory cannot be reached; the message has the least that is possible.",
    "E0909": "An optimizer, a schedule or an option is not known, or its value does not fit. The message has the known ones.",
    "E0910": "A pattern matches no variable. `model.variables` lists them.",
    "E0911": "Data do not fit the program: lengths, dtypes or shapes differ. The message has both.",
    "E0912": "What a gradient's function is given does not fit what it needs.",
    "E0913": "The request to compute values again, to save memory, does not fit the graph.",
    "E1001": "The text is no device: write `/device:CPU:0`.",
    "E1002": "No device matches. The message has those that there are.",
    "E1003": "No device that matches has a kernel for this operation.",
    "E1004": "Two operations must share a device, and name different ones.",
    "E1005": "The memory of the devices is too small. The message has demand and capacity.",
    "E1006": "A resource is needed on another device than the one on which it is.",
    "E1007": "A measured time makes no sense.",
    "E1008": "A collective operation cannot be expanded for these devices.",
}
# What the codes of a hundred have in common: the message has the place.
_COMPILER = {
    "E01": "The text of a program is not well-formed: a character, a number, a string or a bracket.",
    "E02": "The text of a program does not follow the grammar; the message says what was expected.",
    "E03": "The text of a program names something that is not defined, or twice, or with another type. The message has the nearest name.",
    "E04": "The program is not valid: a value is used before it exists, or operands, types, blocks or symbols of an operation do not "
           "fit its definition.",
    "E05": "A pass of the compiler was asked for something that it cannot do, or failed. If you gave no pipeline of your own, please "
           "report it.",
    "E06": "The program cannot be written to a BEF file, or a BEF file is damaged: the message says what has no place in the format.",
    "E07": "An operation of the program contradicts its definition: attributes, types, or the control flow that it is part of.",
    "E11": "The program cannot be written as a model of this format: the message names what the format does not have.",
}


def explain(code: str) -> str:
    """What an error's code means, and what to do.

    >>> print(explain("P0107"))
    P0107: Loops whose trips are known while compiling are unrolled. Use `bf.range` to keep the loop in the graph, or give the decorator a larger `unroll`.
    """
    known = _REFUSED | _RUNTIME | _MODELS
    if code not in known and re.fullmatch(r"E\d{4}", code) and code[:3] in _COMPILER:
        return f"{code}: {_COMPILER[code[:3]]}"
    if code not in known:
        import difflib

        near = difflib.get_close_matches(code, known, 3)
        from ._errors import NotFoundError

        raise NotFoundError(f"there is no code '{code}'" + (f"; did you mean {', '.join(near)}?" if near else ""))
    return f"{code}: {known[code]}"

"""The roofline of the reports: what a machine can do in a second, and what a program asks for.

A call takes at least its arithmetic divided by the machine's. The first is the operator table's count, by `ir-translate
--print-work`: a multiplication and an addition count 2, the calls of loops and functions are not followed. The second is
the best rate of NumPy's product of matrices on one thread. Algorithms with fewer multiplications than the definition,
as Winograd's, may go below the bound.
"""
import os
import re
import subprocess
import sys

# The rates of a product of SIDE x SIDE matrices; the best of several, which other work on the machine slowed least.
MEASURE = """
import time, numpy as np
x = np.ones([1536, 1536], "f")
def once():
    begin = time.perf_counter()
    x @ x
    return 2 * 1536**3 / (time.perf_counter() - begin)
print(max(once() for _ in range(12)))
"""


def peak(python=sys.executable):
    """Floating-point operations per second of one thread, in f32."""
    one = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    return float(subprocess.run([python, "-c", MEASURE], env=os.environ | one, check=True, capture_output=True, text=True).stdout)


def work(text):
    """Operations and bytes of the functions in what `--print-work` has printed, by name. Unknown sizes count as 1."""
    found = re.findall(r"^work of @(\S+)$.*?^ +\d+ +([\d.]+) +([\d.]+)  in all$", text, re.MULTILINE | re.DOTALL)
    return {name: (float(flops) * 1e9, float(moved) * 1e6) for name, flops, moved in found}

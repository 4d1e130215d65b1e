"""Compares programs of an unknown batch size with those of a fixed one, on the models of models.py.

    venv/bin/python tools/bench/models.py DIRECTORY
    python3 tools/bench/unknown.py target/release/bef-exec DIRECTORY [REPEATS]

Each fixed NAME_bN.pb and NAME_bN.pb with `?` run in turns on the fixed model's input, with one thread. The table has
the least CPU time of a call over all turns, and the ratio: the goal is at most 1.03.
"""
import os
import re
import subprocess
import sys

UNITS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
TURNS = int(os.environ.get("TURNS", 7))


def microseconds(tool, model, batch_of, repeats):
    command = [tool, model, "--input", f"x={batch_of}.in.npy", "--work-queue", "s"]
    command += ["--repeat", str(repeats), "--warmup", str(max(3, repeats // 10))]
    text = subprocess.run(command, check=True, capture_output=True, text=True)
    number, unit = re.search(r"cpu +min ([\d.]+) (\w+)", text.stdout + text.stderr).groups()
    return float(number) * UNITS[unit]


if __name__ == "__main__":
    tool, directory = sys.argv[1:3]
    print(f"{'model':24} {'fixed':>12} {'unknown':>12} {'ratio':>7}")
    for file in sorted(os.listdir(directory)):
        match = re.fullmatch(r"(\w+)_b(\d+)\.pb", file)
        unknown = match and os.path.join(directory, f"{match[1]}_bN.pb")
        if not match or not os.path.exists(unknown):
            continue
        fixed = os.path.join(directory, file)
        of = fixed.removesuffix(".pb")
        # About half a second per turn.
        first = microseconds(tool, fixed, of, 3)
        repeats = int(sys.argv[3]) if len(sys.argv) > 3 else max(5, min(2000, int(5e5 / first)))
        best = [float("inf")] * 2
        for _ in range(TURNS):
            for i, model in enumerate([fixed, unknown]):
                best[i] = min(best[i], microseconds(tool, model, of, repeats))
        a, b = best
        print(f"{file.removesuffix('.pb'):24} {a:9.1f} us {b:9.1f} us {b / a:7.3f}", flush=True)

"""Measures the translation of a large model, such as vgg19 of models.py, beside copying its file: the best time,
bytes of the larger file per second, and the peak of the resident memory.

    python3 tools/bench/translate.py target/release/ir-translate MODEL.pb [REPEATS]
"""
import os
import subprocess
import sys
import tempfile
import time


def run(command):
    start = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.monotonic() - start, usage.ru_maxrss * 1024


if __name__ == "__main__":
    tool, model = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(model))) as directory:
        out = os.path.join(directory, "model.bef")
        commands = {"copy": ["cp", model, out]}
        commands |= {f"-O{level}": [tool, f"-O{level}", model, "-o", out] for level in [0, 2]}
        for name, command in commands.items():
            runs = []
            for _ in range(repeats):
                runs.append(run(command))
                large = max(os.path.getsize(model), os.path.getsize(out))
                # New pages of the cache cost more than those of a removed file.
                os.remove(out)
            best, peak = min(seconds for seconds, _ in runs), max(peak for _, peak in runs)
            print(f"{name:5} {best:.2f} s  {large / best / 1e9:.2f} GB/s  peak {peak / 1e6:.0f} MB, {peak / large:.2f} of the file")

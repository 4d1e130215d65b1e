"""The report of `compare.py`: Markdown, CSV, and a chart in SVG."""
import csv
import html

UNITS = {"p50": 1e3, "p99": 1e3, "cpu": 1e3, "bound": 1e3, "load": 1e3, "rate": 1, "memory": 1e-6, "size": 1e-6}
COLUMNS = ["model", "threads", "batch", "engine", "p50", "p99", "cpu", "bound", "rate", "load", "memory", "size"]
TITLES = ["model", "threads", "batch", "engine", "p50 ms", "p99 ms", "CPU ms", "bound ms", "calls/s, concurrent",
          "load ms", "peak RSS MB", "program MB"]


def shown(row, column):
    value = row[column]
    return value if column not in UNITS else f"{value * UNITS[column]:.4g}"


def keys(rows):
    return list(dict.fromkeys((row["model"], row["threads"], row["batch"]) for row in rows))


def ratios(rows):
    """By row: the best peer, and how much less time ours takes, the quotient of the medians. Rows without one of them
    are left out."""
    found = {}
    for key in keys(rows):
        group = [row for row in rows if (row["model"], row["threads"], row["batch"]) == key]
        ours = [row["p50"] for row in group if row["engine"] == "befrost"]
        peers = [(row["p50"], row["engine"]) for row in group if row["engine"] != "befrost"]
        if ours and peers:
            time, engine = min(peers)
            found[key] = engine, time / ours[0]
    return found


def markdown(rows, about, refused):
    lines = [about, "", "| " + " | ".join(TITLES) + " |", "|---" * len(TITLES) + "|"]
    lines += ["| " + " | ".join(str(shown(row, column)) for column in COLUMNS) + " |" for row in rows]
    if found := ratios(rows):
        ahead, clear = (sum(value >= least for _, value in found.values()) for least in (1, 1.2))
        lines += ["", f"The best peer's median by ours: ahead on {ahead} of {len(found)} rows, by 1.2 times on {clear}.", "",
                  "| model | threads | batch | best peer | ratio |", "|---|---|---|---|---|"]
        lines += [f"| {model} | {threads} | {batch} | {peer} | {value:.2f} |"
                  for (model, threads, batch), (peer, value) in found.items()]
    if refused:
        lines += ["", "Not measured:", "", "| engine | model | reason |", "|---|---|---|"]
        lines += [f"| {engine} | {model} | {reason.replace('|', '&#124;')} |"
                  for (engine, model), reason in refused.items()]
    return "\n".join(lines) + "\n"


def write_csv(path, rows, refused):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*TITLES, "not measured"])
        writer.writerows([*(shown(row, column) for column in COLUMNS), ""] for row in rows)
        figures = [""] * (len(COLUMNS) - 4)
        writer.writerows([model, "", "", engine, *figures, reason] for (engine, model), reason in refused.items())


def svg(rows, refused):
    """A bar per row: the ratio, and the peer; the line is that of equal speed. Below them what is not measured."""
    bars = [(f"{model}, {threads} thread{'s' * (threads > 1)}, batch {batch}", peer, value)
            for (model, threads, batch), (peer, value) in ratios(rows).items()]
    absent = {}
    for engine, model in refused:
        absent.setdefault(engine, []).append(model)
    notes = [f"not measured: {engine} on {', '.join(models)}" for engine, models in absent.items()]
    top = max([value for _, _, value in bars] + [1.5])
    left, width, step = 260, 420, 20
    scale, bottom = width / top, 32 + step * len(bars)
    height = bottom + 8 + step * len(notes)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 140}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="16">times as fast as the best peer (median latency)</text>']
    for i, (label, peer, value) in enumerate(bars):
        y = 28 + step * i
        color = "#3b7dd8" if value >= 1 else "#c0504d"
        out += [f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{html.escape(label)}</text>',
                f'<rect x="{left}" y="{y}" width="{value * scale:.1f}" height="{step - 5}" fill="{color}"/>',
                f'<text x="{left + value * scale + 4:.1f}" y="{y + 12}">{value:.2f}, {peer}</text>']
    out.append(f'<line x1="{left + scale:.1f}" x2="{left + scale:.1f}" y1="22" y2="{bottom}" stroke="black"/>')
    out += [f'<text x="8" y="{bottom + step * (i + 1) - 6}">{html.escape(note)}</text>' for i, note in enumerate(notes)]
    out.append("</svg>")
    return "\n".join(out) + "\n"

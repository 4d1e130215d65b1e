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


def ratio(rows, key):
    """How much less time ours takes than the best peer: the quotient of the medians. None without one of them."""
    group = [row for row in rows if (row["model"], row["threads"], row["batch"]) == key]
    ours = [row["p50"] for row in group if row["engine"] == "befrost"]
    peers = [row["p50"] for row in group if row["engine"] != "befrost"]
    return min(peers) / ours[0] if ours and peers else None


def markdown(rows, about):
    lines = [about, "", "| " + " | ".join(TITLES) + " |", "|---" * len(TITLES) + "|"]
    lines += ["| " + " | ".join(str(shown(row, column)) for column in COLUMNS) + " |" for row in rows]
    ratios = [(key, value) for key in keys(rows) if (value := ratio(rows, key)) is not None]
    if ratios:
        ahead, clear = (sum(value >= least for _, value in ratios) for least in (1, 1.2))
        lines += ["", f"The best peer's median by ours: ahead on {ahead} of {len(ratios)} rows, by 1.2 times on {clear}.", "",
                  "| model | threads | batch | ratio |", "|---|---|---|---|"]
        lines += [f"| {model} | {threads} | {batch} | {value:.2f} |" for (model, threads, batch), value in ratios]
    return "\n".join(lines) + "\n"


def write_csv(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(TITLES)
        writer.writerows([shown(row, column) for column in COLUMNS] for row in rows)


def svg(rows):
    """A bar per row: the ratio; the line is that of equal speed."""
    bars = [(f"{model}, {threads} thread{'s' * (threads > 1)}, batch {batch}", value)
            for model, threads, batch in keys(rows) if (value := ratio(rows, (model, threads, batch))) is not None]
    top = max([value for _, value in bars] + [1.5])
    left, width, step = 260, 420, 20
    scale, height = width / top, 40 + step * len(bars)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="16">times as fast as the best peer (median latency)</text>']
    for i, (label, value) in enumerate(bars):
        y = 28 + step * i
        color = "#3b7dd8" if value >= 1 else "#c0504d"
        out += [f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{html.escape(label)}</text>',
                f'<rect x="{left}" y="{y}" width="{value * scale:.1f}" height="{step - 5}" fill="{color}"/>',
                f'<text x="{left + value * scale + 4:.1f}" y="{y + 12}">{value:.2f}</text>']
    out += [f'<line x1="{left + scale:.1f}" x2="{left + scale:.1f}" y1="22" y2="{height - 8}" stroke="black"/>', "</svg>"]
    return "\n".join(out) + "\n"

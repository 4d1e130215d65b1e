"""A graph as a picture: ops in columns by their distance from the arguments, as SVG."""

from __future__ import annotations

import html
import re

_OP = re.compile(r'^\s*(?:(?P<results>%[\w#:,% ]+?)\s*=\s*)?"?(?P<name>[\w]+\.[\w.]+)"?(?P<rest>.*)$')
_VALUE = re.compile(r"%[\w]+")
MAX_OPS = 200
WIDTH, HEIGHT, GAP_X, GAP_Y = 132, 26, 34, 12


class _Node:
    def __init__(self, label: str, column: int, depth: int):
        self.label = label
        self.column = column
        self.depth = depth
        self.row = 0


def svg(text: str) -> str:
    """The picture of a function's text."""
    nodes: list[_Node] = []
    edges: list[tuple[int, int]] = []
    made_by: dict[str, int] = {}
    depth = 0
    for line in text.splitlines():
        head = re.search(r"func\.func.*?\((.*?)\)", line)
        if head:
            for name in re.findall(r"(%[\w]+)\s*:", head[1]):
                made_by[name] = len(nodes)
                nodes.append(_Node(name, 0, 0))
            continue
        found = _OP.match(line)
        if found and not found["name"].startswith(("func.", "builtin.")):
            used = {made_by[name] for name in _VALUE.findall(found["rest"].split(" loc(")[0]) if name in made_by}
            column = 1 + max((nodes[at].column for at in used), default=-1)
            edges += [(at, len(nodes)) for at in sorted(used)]
            for name in _VALUE.findall(found["results"] or ""):
                made_by[name] = len(nodes)
            nodes.append(_Node(found["name"].removeprefix("tf."), max(column, depth), depth))
        depth = max(0, depth + line.count("({") - line.count("})"))
        if len(nodes) > MAX_OPS:
            return f"<p>more than {MAX_OPS} operations: no picture</p>"
    rows: dict[int, int] = {}
    for node in nodes:
        node.row = rows.get(node.column, 0)
        rows[node.column] = node.row + 1
    width = (max(rows, default=0) + 1) * (WIDTH + GAP_X)
    height = max(rows.values(), default=0) * (HEIGHT + GAP_Y) + GAP_Y
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">']
    for start, end in edges:
        a, b = nodes[start], nodes[end]
        x0, y0 = a.column * (WIDTH + GAP_X) + WIDTH, a.row * (HEIGHT + GAP_Y) + GAP_Y + HEIGHT // 2
        x1, y1 = b.column * (WIDTH + GAP_X), b.row * (HEIGHT + GAP_Y) + GAP_Y + HEIGHT // 2
        middle = (x0 + x1) // 2
        out.append(f'<path d="M{x0} {y0}C{middle} {y0} {middle} {y1} {x1} {y1}" fill="none" stroke="#999"/>')
    for node in nodes:
        x, y = node.column * (WIDTH + GAP_X), node.row * (HEIGHT + GAP_Y) + GAP_Y
        color = "#dfe9f7" if node.label.startswith("%") else "#eef7df" if node.depth == 0 else "#f7ecdf"
        out.append(f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="{color}" stroke="#777"/>'
                   f'<text x="{x + 6}" y="{y + 17}">{html.escape(node.label[:22])}</text>')
    return "".join(out) + "</svg>"

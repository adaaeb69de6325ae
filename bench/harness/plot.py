"""Draws the ratios as an SVG: a row per workload, a dot per peer, a line where both are equally fast."""

import math
from html import escape

from .bars import ratio

COLOURS = {
    "jax": "#4c78a8",
    "torch": "#f58518",
    "torch-compiled": "#e45756",
    "jaxjs": "#b279a2",
    "openblas": "#54a24b",
    "statsmodels": "#ff9da6",
    "dynamax": "#bab0ac",
    "by_hand": "#eeca3b",
    "plain": "#72b7b2",
    "copy": "#9d755d",
}
LEFT, RIGHT, TOP, STEP, SPAN = 170, 30, 70, 18, 640


def svg(report):
    peers = {name: peer for name, peer in report["peers"].items() if name in COLOURS}
    points = [
        (y, name, ratio(row["results"], name)) for y, row in enumerate(report["workloads"]) for name in peers
    ]
    points = [(y, name, value) for y, name, value in points if value]
    low = math.floor(min([math.log10(value) for _, _, value in points] + [-1]))
    high = math.ceil(max([math.log10(value) for _, _, value in points] + [1]))
    height = TOP + STEP * len(report["workloads"]) + 30

    def x(value):
        return LEFT + SPAN * (math.log10(value) - low) / (high - low)

    def middle(y):
        return TOP + STEP * (y + 0.5)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + SPAN + RIGHT}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">How many times faster cotan is (right of 1: faster)</text>',
    ]
    for i, (name, peer) in enumerate(peers.items()):
        at = LEFT + 110 * i
        out += [
            f'<circle cx="{at + 5}" cy="37" r="5" fill="{COLOURS[name]}"/>',
            f'<text x="{at + 15}" y="41">{escape(peer["label"])}</text>',
        ]
    for power in range(low, high + 1):
        at, bold = x(10.0**power), power == 0
        out += [
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{height - 25}" '
            f'stroke="{"#333" if bold else "#ddd"}" stroke-width="{1.5 if bold else 1}"/>',
            f'<text x="{at:.1f}" y="{height - 8}" text-anchor="middle">{10.0**power:g}</text>',
        ]
    for y, row in enumerate(report["workloads"]):
        out += [
            f'<text x="{LEFT - 8}" y="{middle(y) + 4:.1f}" text-anchor="end">{escape(row["name"])}</text>',
            f'<line x1="{LEFT}" x2="{LEFT + SPAN}" y1="{middle(y)}" y2="{middle(y)}" stroke="#f0f0f0"/>',
        ]
    out += [
        f'<circle cx="{x(value):.1f}" cy="{middle(y)}" r="4.5" fill="{COLOURS[name]}" fill-opacity="0.85">'
        f"<title>{escape(report['workloads'][y]['name'])}: {value:.3g} times {escape(peers[name]['label'])}</title>"
        "</circle>"
        for y, name, value in points
    ]
    return "\n".join(out + ["</svg>", ""])

"""Numbers and tables as text: for the terminal while it runs, and as markdown."""

import os
import shutil
import sys

from . import workers
from .bars import ratio


def seconds(value):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def times(value):
    return f"{value:.0f}×" if value >= 99.5 else f"{value:.1f}×" if value >= 9.95 else f"{value:.2f}×"


def rate(row, results):
    took = results.get("cotan", {}).get("seconds")
    if not took or not ("bytes" in row or "flops" in row):
        return ""
    return (
        f"{row['flops'] / took / 1e9:.3g} GF/s" if "flops" in row else f"{row['bytes'] / took / 1e9:.3g} GB/s"
    )


def has_gpu_times(names):
    """What the device's own clock says of cotan's kernels, beside the time until the result is there."""
    return workers.GPU and "cotan" in names


def columns(peers):
    """Headings of the table: cotan's own numbers, then one column a peer."""
    names = [p.name for p in peers]
    heads = ["workload"] + ["cotan", "rate"] * ("cotan" in names) + ["GPU time"] * has_gpu_times(names)
    heads += [p.label for p in peers if p.name not in ("cotan", "copy")]
    return (
        heads
        + ["% of copy"] * ("copy" in names)
        + ["compile"] * ("cotan" in names)
        + ["JAX's"] * ("jax" in names)
    )


def cells(row, results, peers, checks):
    """The row's cells as (text, verdict); a peer's cell is how many times faster cotan is, or its time if cotan
    has none. Verdicts are the bars': True, False, or None where no bar applies."""

    def verdict(against, compiling=False):
        judged = [
            c["pass"] for c in checks if c["against"] == against and compiling == (c["bar"] == "compile")
        ]
        return None if not judged or None in judged else all(judged)

    def compiling(name):
        took = results.get(name, {}).get("compile_seconds")
        return "" if took is None else seconds(took) if took > 0 else "~0"

    names = [p.name for p in peers]
    line = [(row["name"], None)]
    if "cotan" in names:
        line += [(value_or_outcome(results.get("cotan", {})), verdict("cotan")), (rate(row, results), None)]
    if has_gpu_times(names):
        took = results.get("cotan", {}).get("device_seconds")
        line.append((seconds(took) if took else "", None))
    for name in names:
        if name not in ("cotan", "copy"):
            better = ratio(results, name)
            shown = value_or_outcome(results.get(name, {})) if better is None else times(better)
            line.append((shown, verdict(name)))
    if "copy" in names:
        share = ratio(results, "copy")
        shown = value_or_outcome(results.get("copy", {})) if share is None else f"{100 * share:.0f} %"
        line.append((shown, verdict("copy")))
    line += [(compiling("cotan"), None)] * ("cotan" in names)
    line += [(compiling("jax"), verdict("jax", compiling=True))] * ("jax" in names)
    return line


def value_or_outcome(result):
    if "seconds" in result:
        return seconds(result["seconds"]) + ("!" if "disagrees" in result else "")
    if result.get("missing") == "no function of this kind" or not result:
        return "–"
    return "missing" if "missing" in result else "failed"


def notes(row, results):
    """What the cells could not say."""
    for name, result in results.items():
        for outcome in ("missing", "error", "disagrees"):
            reason = result.get(outcome)
            if reason and (reason != "no function of this kind" or name == "cotan"):
                yield f"{row['name']}, {name}: {outcome}: {reason}"


class Terminal:
    """The table, row by row, with a line of progress under it where there is somebody to see it."""

    def __init__(self, heads):
        self.live = sys.stdout.isatty()
        self.colour = self.live and "NO_COLOR" not in os.environ
        self.widths = [22] + [max(9 if h != "rate" else 11, len(h)) for h in heads[1:]]
        self.heads = heads

    def head(self):
        self.line([(h, None) for h in self.heads])

    def line(self, texts):
        out = []
        for i, ((text, verdict), width) in enumerate(zip(texts, self.widths)):
            padded = text.ljust(width) if i == 0 else text.rjust(width)
            out.append(self.paint(padded, verdict))
        self.say("  ".join(out).rstrip())

    def paint(self, text, verdict):
        if not self.colour or verdict is None:
            return text
        return f"\033[{32 if verdict else 31}m{text}\033[0m"

    def say(self, text=""):
        print(("\r\033[K" if self.live else "") + text, flush=True)

    def progress(self, text):
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{text[:width]}", end="", flush=True)


def shortfall(c):
    """'softmax 0.83× jax (17 % short)'."""
    short = 100 * (1 - c["measured"] / c["wanted"])
    return f"{c['workload']} {times(c['measured']).rstrip('×')}{c['unit']} ({short:.0f} % short of {c['wanted']:g})"


def bar_lines(summary):
    """(verdict, text, details) of each bar."""
    for bar in summary:
        details = []
        if bar["known"]:
            closest = bar["closest"]
            details.append(
                f"{bar['passed']} of {bar['known']} checks pass"
                + (f", {bar['unknown']} not measured" if bar["unknown"] else "")
                + (
                    ""
                    if bar["misses"]
                    else f"; closest: {closest['workload']} "
                    f"{times(closest['measured']).rstrip('×')}{closest['unit']}, wanted {closest['wanted']:g}"
                )
            )
        details += [shortfall(c) for c in bar["misses"]]
        yield bar["verdict"], bar["text"], details


def markdown(report, table_heads, table_cells, summary):
    """The whole report as a page."""
    facts = report["machine"] | report["versions"]
    lines = [
        "# Benchmark",
        "",
        "Written by `make bench`. A peer's column says how many times faster cotan is.",
        "",
        "![speed relative to each peer](" + report["plot"] + ")",
        "",
        "| | |",
        "|---|---|",
    ]
    lines += [f"| {key} | {value} |" for key, value in facts.items()]
    lines += ["", "## Bars", "", "| | bar | |", "|---|---|---|"]
    lines += [
        f"| {verdict} | {text} | {'<br>'.join(details)} |" for verdict, text, details in bar_lines(summary)
    ]
    lines += ["", "## Ratios", "", "| " + " | ".join(table_heads) + " |", "|" + "---|" * len(table_heads)]
    marks = {True: "", False: " **miss**", None: ""}
    lines += [
        "| " + " | ".join(text + marks[verdict] for text, verdict in line) + " |" for line in table_cells
    ]
    lines += ["", "## Times", ""] + time_table(report)
    if report["notes"]:
        lines += ["", "## Notes", ""] + [f"- {note}" for note in report["notes"]]
    return "\n".join(lines) + "\n"


def time_table(report):
    names = list(report["peers"])
    lines = ["| workload | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for row in report["workloads"]:
        lines.append(
            f"| {row['name']} | "
            + " | ".join(value_or_outcome(row["results"].get(name, {})) for name in names)
            + " |"
        )
    return lines

"""Reads workloads.json and picks rows."""

import fnmatch
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent


def load(gpu=False):
    return json.loads((FOLDER / ("workloads_gpu.json" if gpu else "workloads.json")).read_text())


def rows(table, only=None, quick=False):
    """The rows whose name or kind matches one of `only` (shell patterns, or the start of a name)."""
    picked = []
    for row in table["workloads"]:
        small = row.pop("quick", {})
        if quick and small is None:
            continue
        if only and not any(matches(row, pattern) for pattern in only):
            continue
        if quick:
            row.update(small)
        for quantity in ("bytes", "flops"):
            if quantity in row:
                row[quantity] = int(eval(row[quantity], {"__builtins__": {}}, row))
        picked.append(row)
    return picked


def matches(row, pattern):
    return any(
        name == pattern or name.startswith(pattern + "_") or fnmatch.fnmatch(name, pattern)
        for name in (row["name"], row["kind"])
    )

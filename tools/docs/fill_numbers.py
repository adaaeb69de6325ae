#!/usr/bin/env python3
"""Fills what the README and other pages say in numbers from bench/results, and their code from programs that are tested.

A page holds <!-- bench: NAME --> … <!-- /bench --> and <!-- code: FILE REGION --> … <!-- /code -->; what stands in between is written here.
usage: fill_numbers.py            writes the pages
       fill_numbers.py --check    fails where a page is stale
"""
import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]
LABELS = {"jax": "JAX", "torch": "PyTorch", "jaxjs": "jax-js", "openblas": "OpenBLAS", "native": "cotan on the CPU",
          "by_hand": "the same by hand in C++"}


def results(name):
    return json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text())


def times(x):
    """Two digits, three from 10 on; never rounded to what would read as another side of 1."""
    text = f"{x:.2f}" if x < 10 else f"{x:.3g}" if x < 1000 else f"{x:,.0f}"
    return ("0.99" if x < 1 and text == "1.00" else text) + "×"


def duration(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def ratios(run, peer):
    """(how many times as fast cotan is, workload), slowest first; without rows whose results one of them disagrees in."""
    doubted = {tuple(note.split(":")[0].split(", ")) for note in run["notes"]}
    out = []
    for row in run["workloads"]:
        ours, theirs = (row["results"].get(name, {}).get("seconds") for name in ("cotan", peer))
        if ours and theirs and not {(row["name"], "cotan"), (row["name"], peer)} & doubted:
            out.append((theirs / ours, row["name"]))
    return sorted(out)


def machine(run):
    m, versions = run["machine"], run["versions"]
    what = f"{m['gpu']}" if "gpu" in m else f"{m['cpu']} with {m['vector']}, {m['cores'].split(',')[0]} cores"
    of = ", ".join(f"{LABELS[p]} {versions[key]}" for p, key in (("jax", "jax"), ("torch", "torch"), ("jaxjs", "jax-js")) if key in versions)
    return f"{what}; {m['date'][:10]}, commit {m['commit']}; {of}"


def beside():
    """A line per peer: how many times as fast, over all workloads that both have, and where not."""
    cpu, gpu = results("latest"), results("gpu")
    lines = ["| beside | workloads | median | least | most | slower than it in |", "|---|---|---|---|---|---|"]
    for run, peer, where in ((cpu, "jax", "CPU"), (cpu, "torch", "CPU, eager"), (cpu, "jaxjs", "CPU, WebAssembly"), (gpu, "jax", "H200")):
        found = ratios(run, peer)
        below = [(r, name) for r, name in found if r < 1]
        slower = ", ".join(f"`{name}` {times(r)}" for r, name in below) or "none"
        lines.append(f"| {LABELS[peer]} ({where}) | {len(found)} | {times(statistics.median(r for r, _ in found))} | "
                     f"{times(found[0][0])} `{found[0][1]}` | {times(found[-1][0])} `{found[-1][1]}` | {slower} |")
    return "\n".join(lines + ["", f"CPU: {machine(cpu)}. GPU: {machine(gpu)}.",
                              "Numbers above 1 say how many times as fast cotan is; rows whose results a peer disagrees in are left out."])


def misses():
    """The bars that the project set itself and does not reach."""
    lines = []
    for name, where in (("latest", "CPU"), ("gpu", "H200")):
        run = results(name)
        table = json.loads((ROOT / "bench" / ("workloads_gpu.json" if name == "gpu" else "workloads.json")).read_text())
        judged = [c for c in run["bars"] if c["pass"] is not None]
        bars = list(dict.fromkeys(c["bar"] for c in judged))
        missed = [bar for bar in bars if not all(c["pass"] for c in judged if c["bar"] == bar)]
        lines.append(f"Of {len(bars)} bars on the {where} {len(bars) - len(missed)} are reached." if missed else
                     f"All {len(bars)} bars on the {where} are reached.")
        for bar in missed:
            checks = [c for c in judged if c["bar"] == bar]
            worst = min(checks, key=lambda c: c["measured"] / c["wanted"])
            failed = sum(not c["pass"] for c in checks)
            lines.append(f"- {table['bars'][bar]['text']}: {failed} of {len(checks)} checks miss, the worst `{worst['workload']}` with "
                         f"{times(worst['measured'])}")
    return "\n".join(lines)


def rows(run, *names):
    """Workloads one by one."""
    peers = ["jax"] if run == "gpu" else ["jax", "torch"]
    data = results(run)
    lines = ["| | cotan | " + " | ".join(LABELS[p] for p in peers) + " |", "|---|---|" + "---|" * len(peers)]
    for name in names:
        of = next(w for w in data["workloads"] if w["name"] == name)["results"]
        cells = [f"{duration(of[p]['seconds'])}, {times(of[p]['seconds'] / of['cotan']['seconds'])}" if "seconds" in of.get(p, {}) else "–"
                 for p in peers]
        lines.append(f"| `{name}` | {duration(of['cotan']['seconds'])} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def code(file, region):
    """What stands between // [region] and // [/region], in Python # [region]."""
    mark, language = ("#", "python") if file.endswith(".py") else ("//", "cpp")
    found = re.search(rf"^( *){mark} \[{region}\]\n(.*?)^ *{mark} \[/{region}\]", (ROOT / file).read_text(), re.S | re.M)
    lines = [line.removeprefix(found.group(1)) for line in found.group(2).strip("\n").split("\n")]
    return f"```{language}\n" + "\n".join(lines) + "\n```"


def filled(text):
    def bench(match):
        name, *arguments = match.group(2).split()
        return match.group(1) + "\n" + {"beside": beside, "misses": misses, "rows": rows}[name](*arguments) + "\n" + match.group(3)

    text = re.sub(r"(<!-- bench: ([^>]*?) -->).*?(<!-- /bench -->)", bench, text, flags=re.S)
    return re.sub(r"(<!-- code: (\S+) (\S+) -->).*?(<!-- /code -->)",
                  lambda m: f"{m.group(1)}\n{code(m.group(2), m.group(3))}\n{m.group(4)}", text, flags=re.S)


stale = []
for page in PAGES:
    text = (ROOT / page).read_text()
    if (new := filled(text)) != text:
        stale.append(page)
        if "--check" not in sys.argv:
            (ROOT / page).write_text(new)
if "--check" in sys.argv and stale:
    print(f"stale: {', '.join(stale)}. Run make docs (or tools/docs/fill_numbers.py).")
    sys.exit(1)
print(f"{len(PAGES)} pages, {'none of them stale' if '--check' in sys.argv else f'{len(stale)} written'}.")

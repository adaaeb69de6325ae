#!/usr/bin/env python3
"""Runs cotan and its peers on the workloads of workloads.json, in turns on the same cores, and judges the bars.

make bench ARGS="--only softmax,gemm --repeats 5 --peers jax,torch" selects."""

import argparse
import json
import os
import pathlib
import sys
import time

from harness import bars, machine, measure, plot, table, text, workers


def split(value):
    return [part for part in value.split(",") if part]


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="make bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=split, help="workloads, by name, kind, start of a name or pattern")
    parser.add_argument("--peers", type=split, help="peers beside cotan; default: all that are not optional")
    parser.add_argument("--without-cotan", action="store_true", help="times of the peers only")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and few repeats: does everything still run?"
    )
    parser.add_argument(
        "--repeats", type=int, help="samples per peer and workload, of which the median counts (5)"
    )
    parser.add_argument("--seconds", type=float, help="length of one sample (0.1)")
    parser.add_argument("--compiles", type=int, help="compilations per peer and workload (3)")
    parser.add_argument(
        "--threads", type=int, default=2, help="threads, and cores, of every peer (%(default)s)"
    )
    parser.add_argument(
        "--budget", type=float, default=4, help="seconds after which a slow peer is not repeated"
    )
    parser.add_argument("--patience", type=float, default=60, help="seconds after which a peer is given up")
    parser.add_argument("--output", type=pathlib.Path, help="report files, without their ending")
    parser.add_argument(
        "--program",
        type=pathlib.Path,
        default=workers.ROOT / "build/release/bench/cotan_bench",
        help=argparse.SUPPRESS,
    )
    parser.add_argument("--gpu", action="store_true", help="workloads_gpu.json: WebGPU beside JAX and PyTorch on one GPU")
    parser.add_argument("--list", action="store_true", help="list workloads and peers")
    options = parser.parse_args()
    workers.GPU = options.gpu
    for name, full, quick in (("repeats", 5, 3), ("seconds", 0.1, 0.02), ("compiles", 3, 1)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else full)
    if options.output is None:
        # Only a full run replaces the results that the repository keeps.
        whole = not (options.quick or options.only or options.peers or options.without_cotan)
        options.output = table.FOLDER / "results" / (("gpu" if options.gpu else "latest") if whole else "partial")
    return options


def choose_peers(options):
    known = workers.known_peers(options.program)
    unknown = set(options.peers or []) - {p.name for p in known}
    if unknown:
        sys.exit(f"unknown peers: {', '.join(sorted(unknown))}; there are {', '.join(p.name for p in known)}")

    def wanted(peer):
        if peer.name == "cotan":
            return not options.without_cotan
        return peer.default if options.peers is None else peer.name in options.peers

    return [p for p in known if wanted(p)]


def show_list(rows, peers):
    for row in rows:
        sizes = {
            k: v for k, v in row.items() if k not in ("name", "kind", "bars", "bytes", "flops", "overhead")
        }
        print(f"{row['name']:20}  {', '.join(f'{k} {v}' for k, v in sizes.items())}")
    print("\npeers:", ", ".join(p.name + ("" if p.default else " (optional)") for p in peers))


def run(options, rows, table_of_bars, peers, screen):
    """Measures every row. Peers that are missing are reported, not dropped."""
    cores = set(sorted(os.sched_getaffinity(0))[: options.threads])
    facts = machine.describe(cores, options.threads)
    if facts["load"] > 0.5:
        screen.say(f"note: the machine is busy (load {facts['load']:.1f}); expect noise")
    if len(cores) < options.threads:
        screen.say(f"note: {options.threads} threads share {len(cores)} core")
    logs = workers.ROOT / "build/bench-logs"
    missing = {p.name: why for p in peers if (why := workers.install(p))}
    active = [workers.Worker(p, cores, options.threads, logs) for p in peers if p.name not in missing]
    for worker in active:
        worker.log.unlink(missing_ok=True)
    report = {
        "machine": facts,
        "versions": {},
        "notes": [f"{name}: missing: {why}" for name, why in missing.items()],
        "settings": {k: getattr(options, k) for k in ("quick", "repeats", "seconds", "compiles", "threads")},
        "peers": {p.name: {"label": p.label} for p in peers},
        "workloads": [],
        "bars": [],
    }
    lines = []
    try:
        for worker in list(active):
            screen.progress(f"starting {worker.peer.label}")
            try:
                worker.start()
                report["versions"] |= worker.versions
            except workers.WorkerFailed as failure:
                active.remove(worker)
                missing[worker.peer.name] = f"does not start: {failure}"
                report["notes"].append(f"{worker.peer.name}: missing: {missing[worker.peer.name]}")
        screen.head()
        for number, row in enumerate(rows, 1):
            results = measure.measure(
                row,
                bars.rules(table_of_bars, row),
                active,
                options,
                lambda what: screen.progress(f"[{number}/{len(rows)}] {row['name']}: {what}"),
            )
            results |= {name: {"missing": why} for name, why in missing.items()}
            checks = bars.judge_row(table_of_bars, row, results)
            lines.append(text.cells(row, results, peers, checks))
            screen.line(lines[-1])
            report["workloads"].append({**row, "results": results})
            report["bars"] += checks
            report["notes"] += [
                note for note in text.notes(row, {k: v for k, v in results.items() if k not in missing})
            ]
    finally:
        for worker in active:
            worker.stop()
    return report, lines


def write(options, report, lines, heads, summary):
    options.output.parent.mkdir(parents=True, exist_ok=True)
    report["plot"] = options.output.name + ".svg"
    files = {
        ".json": json.dumps(report, indent=1, ensure_ascii=False) + "\n",
        ".svg": plot.svg(report),
        ".md": text.markdown(report, heads, lines, summary),
    }
    for ending, content in files.items():
        options.output.with_suffix(ending).write_text(content)


def main():
    options = parse_arguments()
    table_of_bars = table.load(options.gpu)
    rows = table.rows(table_of_bars, options.only, options.quick)
    if options.list:
        return show_list(rows, workers.known_peers(options.program))
    if not rows:
        sys.exit("no workload matches; --list shows them")
    peers = choose_peers(options)
    heads = text.columns(peers)
    screen = text.Terminal(heads)
    start = time.monotonic()
    report, lines = run(options, rows, table_of_bars, peers, screen)
    summary = bars.summary(table_of_bars, report["bars"])
    for note in report["notes"]:
        screen.say(note)
    if any(p.name == "cotan" for p in peers):
        screen.say()
        if options.quick:
            screen.say("bars (at reduced sizes: only an indication)")
        for verdict, bar, details in text.bar_lines(summary):
            screen.say(
                f"{screen.paint(verdict.ljust(12), {'PASS': True, 'MISS': False}.get(verdict))}  {bar}"
            )
            shown = (
                details
                if len(details) <= 8
                else [*details[:7], f"… and {len(details) - 7} more, in the report"]
            )
            for detail in shown:
                screen.say(" " * 16 + detail)
    write(options, report, lines, heads, summary)
    screen.say(
        f"\n{time.monotonic() - start:.0f} s; wrote {os.path.relpath(options.output)}.json, .svg and .md"
    )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)

"""Judges results by the bars of workloads.json. Numbers say how many times better cotan is: more is better."""


def ratio(results, peer, quantity="seconds"):
    """The peer's time (or bytes) over cotan's; None where one of them has none."""
    ours, theirs = (results.get(name, {}).get(quantity) for name in ("cotan", peer))
    # A compilation can come out at no time at all: less than the clock's noise.
    return theirs / max(ours, 1e-9) if ours is not None and theirs is not None else None


def rules(table, row):
    """The bars that the row names."""
    return [table["bars"][bar] for bar in row.get("bars", [])]


def judge_row(table, row, results):
    """One check per requirement: {bar, against, measured, wanted, pass}; measured is None where unknown."""
    checks = []
    required = {
        "faster_than": "seconds",
        "compiles_faster_than": "compile_seconds",
        "less_memory_than": "peak_bytes",
    }
    for bar in row.get("bars", []) + table["every_workload"]:
        rule = table["bars"][bar]
        for requirement, quantity in required.items():
            for peer, wanted in rule.get(requirement, {}).items():
                # A bar that differs between its workloads names the parameter that holds the number.
                wanted = row[wanted] if isinstance(wanted, str) else wanted
                measured = ratio(results, peer, quantity)
                # What holds for every workload means those that both peers have.
                if measured is not None or bar not in table["every_workload"]:
                    checks.append(check(bar, row, peer, measured, wanted, f"× {peer}"))
        if "seconds" in rule:
            seconds = results.get("cotan", {}).get("seconds")
            speed = rule["seconds"] / seconds if seconds else None
            checks.append(check(bar, row, "cotan", speed, 1, f"× the speed of the limit, {rule['seconds']:g} s"))
    return checks


def check(bar, row, against, measured, wanted, unit):
    return {
        "bar": bar,
        "workload": row["name"],
        "against": against,
        "measured": measured,
        "wanted": wanted,
        "unit": unit,
        "pass": None if measured is None else measured >= wanted,
    }


def summary(table, checks):
    """Per bar that some workload of the run falls under: its text, counts, and the misses."""
    lines = []
    for bar, rule in table["bars"].items():
        mine = [c for c in checks if c["bar"] == bar]
        if not mine:
            continue
        known = [c for c in mine if c["pass"] is not None]
        misses = sorted((c for c in known if not c["pass"]), key=lambda c: c["measured"] / c["wanted"])
        verdict = "not measured" if not known else "MISS" if misses else "PASS"
        worst = min(known, key=lambda c: c["measured"] / c["wanted"], default=None)
        lines.append(
            {
                "bar": bar,
                "text": rule["text"],
                "verdict": verdict,
                "passed": len(known) - len(misses),
                "known": len(known),
                "unknown": len(mine) - len(known),
                "misses": misses,
                "closest": worst,
            }
        )
    return lines

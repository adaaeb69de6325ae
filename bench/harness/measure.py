"""Runs one workload on all peers, taking turns, so that noise on the machine meets all of them alike."""

import statistics

from . import workers as processes
from .workers import WorkerFailed


class Measurement:
    """What was measured of one peer on one workload."""

    def __init__(self, expected, check):
        self.expected, self.check = expected, check
        self.samples, self.compiles, self.other, self.spent = [], [], {}, 0.0

    def as_dict(self, best):
        result = {"seconds": (min if best else statistics.median)(self.samples), "samples": self.samples}
        if self.compiles:
            result |= {"compile_seconds": statistics.median(self.compiles), "compile_samples": self.compiles}
        return result | self.other


def measure(row, rules, workers, options, progress):
    """{peer: result}; a result is {"seconds": …} or {"missing" | "error": why}. The row's rules say whether memory
    and the copy probe matter."""
    results, running = {}, {}

    def ask(worker, request, patience):
        """The reply, or None when that peer is out of this workload."""
        name = worker.peer.name
        try:
            reply = worker.ask(request, patience)
        except WorkerFailed as failure:
            reply = {"error": str(failure)}
        for outcome in ("missing", "error"):
            if outcome in reply:
                results[name] = {outcome: reply[outcome]}
                running.pop(name, None)
                return None
        return reply

    for worker in workers:
        if worker.peer.name == "copy" and not any("copy" in rule.get("faster_than", {}) for rule in rules):
            continue
        progress(f"{worker.peer.label} sets up")
        if reply := ask(worker, {"do": "setup", "workload": row}, options.patience):
            running[worker.peer.name] = Measurement(reply["seconds"], reply.get("check", []))

    def turns(request, repeats, wanted, record):
        for repeat in range(repeats):
            order = workers[repeat % len(workers) :] + workers[: repeat % len(workers)]
            for worker in order:
                taken = running.get(worker.peer.name)
                if taken is None or not wanted(taken):
                    continue
                progress(f"{request['do']} {repeat + 1}/{repeats} {worker.peer.label}")
                if reply := ask(worker, request, options.patience):
                    record(taken, reply)

    def record_time(taken, reply):
        taken.samples.append(reply["seconds"])
        taken.spent += reply["seconds"] * reply["calls"]

    def record_compile(taken, reply):
        # No answer means that nothing is compiled: do not ask again.
        taken.compiles.append(reply["seconds"]) if reply else setattr(taken, "compiles", None)

    # A peer that is very slow on a workload gets fewer repeats, but at least one.
    turns(
        {"do": "time", "seconds": options.seconds},
        options.repeats,
        lambda taken: not taken.samples or taken.spent < options.budget,
        record_time,
    )
    turns(
        {"do": "compile"},
        options.compiles,
        lambda taken: taken.compiles is not None
        and min(taken.samples) + sum(taken.compiles) < options.budget,
        record_compile,
    )
    if any("less_memory_than" in rule for rule in rules):
        turns({"do": "memory"}, 1, lambda taken: True, lambda taken, reply: taken.other.update(reply))
    for worker in workers:
        if processes.GPU and worker.peer.name in running and worker.peer.name == "cotan":
            if reply := ask(worker, {"do": "device"}, options.patience):
                running["cotan"].other.update(reply)
    for worker in workers:
        if worker.peer.name in running:
            ask(worker, {"do": "release"}, options.patience)
    for name, taken in running.items():
        results[name] = taken.as_dict(best=name == "copy")
    for name, reason in disagreements(running, row.get("tolerance", 1e-3)).items():
        results[name]["disagrees"] = reason
    return results


def disagreements(running, tolerance):
    """Peers whose numbers differ from JAX's, or from the first peer's where JAX did not run."""
    checked = {name: taken.check for name, taken in running.items() if taken.check}
    if not checked:
        return {}
    reference = "jax" if "jax" in checked else next(iter(checked))
    wrong = {}
    for name, numbers in checked.items():
        for ours, theirs in zip(numbers, checked[reference]):
            if not abs(ours - theirs) <= tolerance * (max(abs(ours), abs(theirs)) + 0.1):
                wrong[name] = f"{ours:.6g} where {reference} has {theirs:.6g}"
                break
    return wrong

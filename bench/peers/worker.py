"""The Python workers' side of the driver's protocol: a JSON object per line in, one per line out."""

import json
import os
import sys
import time

import numpy as np


def summarize(outputs):
    """Mean and one element of each output: numbers that must agree between peers."""
    numbers = []
    for output in map(np.asarray, outputs):
        for part in (output.real, output.imag) if np.iscomplexobj(output) else (output,):
            flat = part.reshape(-1)
            numbers += [float(flat.mean(dtype=np.float64)), float(flat[flat.size // 3])]
    return numbers


class Case:
    """One workload ready to run. run(n) makes n calls and waits for their results."""

    def __init__(self, run, check, compile=None, memory=None):
        self.run, self.check, self.compile, self.memory = run, check, compile, memory
        self.expected = None

    def seconds(self, calls):
        start = time.perf_counter()
        self.run(calls)
        return time.perf_counter() - start

    def estimate(self):
        """Compiles, warms up, and gives the cost of a warm call."""
        first = self.seconds(1)
        if first > 1:  # then what it compiled does not matter for an estimate
            return first
        calls = 1
        while (taken := self.seconds(calls)) < 1e-3:
            calls *= 4
        return taken / calls


def answer(state, request, make):
    case = state.get("case")
    match request["do"]:
        case "setup":
            state["case"] = None
            made = make(request["workload"])
            if made is None:
                return {"missing": "no function of this kind"}
            made.expected = made.estimate()
            state["case"] = made
            return {"seconds": made.expected, "check": made.check()}
        case "time":
            calls = max(1, int(request["seconds"] / case.expected))
            seconds = case.seconds(calls) / calls
            case.expected = min(case.expected, seconds)
            return {"seconds": seconds, "calls": calls}
        case "compile":
            return {"seconds": case.compile()} if case.compile else {}
        case "memory":
            return case.memory() if case.memory else {}
        case "release":
            state["case"] = None
            return {}


def serve(versions, make):
    """Answers requests on stdin until it closes. What libraries print goes to stderr, the driver's log."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    state = {}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"versions": versions} if request["do"] == "hello" else answer(state, request, make)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()

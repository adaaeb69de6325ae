"""The peers and their worker processes. All run on the same cores; whoever is not being measured is stopped."""

import dataclasses
import json
import os
import select
import signal
import subprocess
import sys
import time

from .table import FOLDER

ROOT = FOLDER.parent


@dataclasses.dataclass
class Peer:
    name: str
    label: str
    command: list
    setup: str | None = None  # what tools/bench_setup.sh calls it
    default: bool = True


GPU = False  # peers run on the machine's GPU, cotan through WebGPU; whatever Python is there has JAX and PyTorch


def known_peers(program):
    python = sys.executable if GPU else ROOT / "build/bench-venv/bin/python"
    scripts = FOLDER / "peers"
    if GPU:
        return [
            Peer("cotan", "cotan", [program, "--worker=cotan"]),
            Peer("jax", "JAX", [python, scripts / "jax_worker.py"]),
            Peer("torch", "PyTorch", [python, scripts / "torch_worker.py"]),
            Peer("native", "cotan on the CPU", [program, "--worker=cotan"]),
            Peer("copy", "copy", [program, "--worker=copy"]),
        ]
    return [
        Peer("cotan", "cotan", [program, "--worker=cotan"]),
        Peer("jax", "JAX", [python, scripts / "jax_worker.py"], "jax"),
        Peer("torch", "PyTorch", [python, scripts / "torch_worker.py"], "torch"),
        Peer(
            "torch-compiled",
            "torch.compile",
            [python, scripts / "torch_worker.py", "--compile"],
            "torch",
            False,
        ),
        Peer("numpy", "NumPy", [python, scripts / "numpy_worker.py"], "jax"),
        Peer("jaxjs", "jax-js", ["node", scripts / "jaxjs_worker.mjs", ROOT / "build/bench-node"], "jaxjs"),
        Peer("statsmodels", "statsmodels", [python, scripts / "statsmodels_worker.py"], "statsmodels"),
        Peer("dynamax", "dynamax", [python, scripts / "dynamax_worker.py"], "dynamax"),
        Peer("openblas", "OpenBLAS", [program, "--worker=openblas"]),
        Peer("by_hand", "by hand", [program, "--worker=by_hand"]),
        Peer("plain", "plain", [program, "--worker=plain"]),
        Peer("copy", "copy", [program, "--worker=copy"]),
    ]


def environment(threads, peer):
    """Every library told to use as many threads, and nobody a cache of compiled programs on disk."""
    keep = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("COTAN_", "JAX_", "XLA_", "OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "TORCH"))
    }
    names = (
        "COTAN_NUM_THREADS",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "NPROC",
        "PJRT_NPROC",
    )
    if GPU:
        webgpu = {k: v for k, v in os.environ.items() if k.startswith("COTAN_WEBGPU")}
        device = {"COTAN_DEVICE": "webgpu"} if peer.name in ("cotan", "copy") else {}
        cache = {"COTAN_CACHE_DIR": os.environ.get("COTAN_CACHE_DIR", "off")}  # with tiles that were found by tuning
        return {**keep, **webgpu, **device, **cache, "BENCH_GPU": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {
        **keep,
        **dict.fromkeys(names, str(threads)),
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_COMPILATION_CACHE": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class WorkerFailed(Exception):
    """The process died or did not answer in time; it has been killed."""


class Worker:
    """A peer's process: asked with one JSON line, answers with one. Started when first asked."""

    def __init__(self, peer, cores, threads, logs):
        self.peer, self.cores, self.threads = peer, cores, threads
        self.log = logs / f"{peer.name}.log"
        self.process = None
        self.pending = b""
        self.versions = {}

    def start(self, patience=120):
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(part) for part in self.peer.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(self.threads, self.peer),
                preexec_fn=lambda: os.sched_setaffinity(0, self.cores),
            )
        self.pending = b""
        self.versions = self._exchange({"do": "hello"}, patience).get("versions", {})

    def ask(self, request, patience):
        if self.process is None:
            self.start()
        self.process.send_signal(signal.SIGCONT)
        reply = self._exchange(request, patience)
        # A stopped worker cannot spin in a thread pool or collect garbage while another peer is timed.
        self.process.send_signal(signal.SIGSTOP)
        return reply

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _exchange(self, request, patience):
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self._failed()
        deadline = time.monotonic() + patience
        out = self.process.stdout.fileno()
        while b"\n" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                self.stop()
                raise WorkerFailed(f"no answer in {patience:.0f} s")
            chunk = os.read(out, 1 << 16)
            if not chunk:
                self._failed()
            self.pending += chunk
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def _failed(self):
        status = self.process.wait()
        self.process = None
        how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        raise WorkerFailed(f"{how}, see {self.log.relative_to(ROOT)}")


def install(peer):
    """Why the peer is missing, or None once it is there."""
    if peer.setup is None:
        return None if os.access(peer.command[0], os.X_OK) else f"{peer.command[0]} is not built"
    done = subprocess.run([ROOT / "tools/bench_setup.sh", peer.setup], stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or ["tools/bench_setup.sh failed"])[-1]

"""Describes the machine and the tools, so that a result says where it comes from."""

import datetime
import os
import platform
import re
import shlex
import subprocess
import sys

from .workers import ROOT


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def first_match(path, pattern):
    try:
        with open(path) as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
        return found.group(1).strip() if found else None
    except OSError:
        return None


def gpus():
    """Names and drivers, as far as there is somebody to ask."""
    found = output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    return {"gpu": ", driver ".join(found.splitlines()[0].split(", "))} if found else {}


def command():
    """Without where things are: that says nothing elsewhere."""
    given = iter(sys.argv[1:])
    kept = [a for a in given if a not in ("--program", "--output") or next(given, None) is None]
    return shlex.join(["python3", "bench/run.py", *kept])


def describe(cores, threads):
    compiler = first_match(ROOT / "build/release/CMakeCache.txt", r"^CMAKE_CXX_COMPILER:\w+=(.*)$") or "c++"
    flags = set((first_match("/proc/cpuinfo", r"^flags\s*:(.*)$") or "").split())
    memory = first_match("/proc/meminfo", r"^MemTotal:\s*(\d+)")
    dirty = output("git", "status", "--porcelain", "--untracked-files=no")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": (output("git", "rev-parse", "--short", "HEAD") or "unknown")
        + (" + changes" if dirty else ""),
        "command": command(),
        **gpus(),
        "cpu": first_match("/proc/cpuinfo", r"^model name\s*:(.*)$") or platform.processor(),
        "vector": next((name for name in ("avx512f", "avx2", "avx", "asimd") if name in flags), "unknown"),
        "cores": f"{len(cores)} of {os.cpu_count()}, {threads} threads per peer",
        "memory": f"{int(memory) / 2**20:.0f} GiB" if memory else "unknown",
        "kernel": f"{platform.system()} {platform.release()}",
        "compiler": (output(compiler, "--version") or compiler).splitlines()[0],
        "llvm": output("llvm-config-19", "--version") or output("llvm-config", "--version") or "none",
        "load": round(os.getloadavg()[0], 1),
    }

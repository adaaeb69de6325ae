#!/usr/bin/env python3
"""Checks includes against the order of folders in docs/architecture.md.

The first code block there lists folders in the order in which data flows: a folder may include what is above it, what
is in it, and public headers; one whose description says "public headers alone" nothing but those and its own library. There may
be no cycle of files either. Prints what is wrong and fails, or says how much it looked at.
"""

import os
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s+(?:"([^"]+)"|<(cotan/[^>]+)>)')
PUBLIC = "include/cotan"
# Headers of others that one folder alone includes: what begins with this, in what begins with that.
GUARDED = (("<llvm/", "src/backend/native/codegen/"), ("<webgpu", ("src/backend/webgpu/", "src/backend/gpu/")))


def listed_folders(text):
    """Folders in order, and those of them that may use public headers alone."""
    block = re.search(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if not block:
        sys.exit("layering: docs/architecture.md has no list of folders")
    folders, apart = [], set()
    for line in block.group(1).splitlines():
        words = line.split()
        parent, count = "", 0
        while count < len(words) and words[count].endswith("/"):
            folder = words[count].rstrip("/")
            if count == 0:
                parent = os.path.dirname(folder)
            else:  # "src/numpy/ lax/": beside the first one
                folder = f"{parent}/{folder}"
            count += 1
            if not folder.startswith(("src", "include")):
                continue
            folders.append(folder)
            if "public headers alone" in line:
                apart.add(folder)
    return folders, apart


def sources(root):
    for top in ("include", "src"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".hpp", ".cpp")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def includes_of(root, path, files):
    """(line, included file) for each file of ours."""
    with open(os.path.join(root, path), encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            for candidate in (f"src/{match.group(1)}", f"include/{match.group(2)}"):
                if candidate in files:
                    yield number, candidate


def misplaced(root, path):
    """A problem for each guarded header that is included elsewhere."""
    with open(os.path.join(root, path), encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            for header, folder in GUARDED:
                if re.match(r"\s*#\s*include\s+" + re.escape(header), line) and not path.startswith(folder):
                    yield f"{path}:{number} includes {header}…; only {folder} may"


def cycles(graph):
    """One chain of files for each place where including comes back to where it began."""
    state, chain, found = {}, [], []

    def visit(path):
        state[path] = "open"
        chain.append(path)
        for included in graph[path]:
            if state.get(included) == "open":
                found.append(chain[chain.index(included) :] + [included])
            elif included not in state:
                visit(included)
        chain.pop()
        state[path] = "done"

    sys.setrecursionlimit(10_000)
    for path in graph:
        if path not in state:
            visit(path)
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..")
    with open(os.path.join(root, "docs", "architecture.md"), encoding="utf-8") as page:
        folders, apart = listed_folders(page.read())
    place = {folder: number for number, folder in enumerate(folders)}

    def folder_of(path):
        return max((f for f in folders if path.startswith(f + "/")), key=len, default=None)

    problems = [f"docs/architecture.md lists {f}, which is not there" for f in folders if not os.path.isdir(os.path.join(root, f))]
    files = set(sources(root))
    graph = {}
    for path in sorted(files):
        own = folder_of(path)
        if own is None:
            problems.append(f"{path} is in no folder that docs/architecture.md lists")
        problems += misplaced(root, path)
        graph[path] = []
        for line, included in includes_of(root, path, files):
            graph[path].append(included)
            other = folder_of(included)
            if own is None or other is None or own == other or other == PUBLIC:
                continue
            library = "/".join(own.split("/")[:2])  # its folders are one library, in the order of the list
            if own in apart and not other.startswith(library + "/") and other != library:
                problems.append(f"{path}:{line} includes {included}; {own} may use public headers alone")
            elif place[other] > place[own]:
                problems.append(f"{path}:{line} includes {included}; {own} may use only what is listed above it")
    problems += ["files include each other: " + " -> ".join(chain) for chain in cycles(graph)]
    if problems:
        sys.exit("layering:\n  " + "\n  ".join(problems))
    print(f"layering: {len(files)} files in {len(folders)} folders, {sum(map(len, graph.values()))} includes, all downwards")


if __name__ == "__main__":
    main()

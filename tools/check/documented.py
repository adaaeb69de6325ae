#!/usr/bin/env python3
"""Counts what is public in include/cotan and has no /// comment; fails where there is any.

Public are functions, types, constants and aliases of the namespaces (but detail), and public members of their classes.
Constructors, assignments, conversions, fields and enumerators need no comment of their own.
usage: documented.py [--list] [ROOT]
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import headers  # noqa: E402

arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parents[2]).resolve()
counted = [d for d in headers.public_declarations(root) if d.kind not in ("namespace", "field", "silent")]
missing = [d for d in counted if not d.documented]
for d in counted if "--list" in sys.argv else missing:
    says = "" if d.documented else "no /// comment: "
    print(f"{d.path.relative_to(root)}:{d.line}: {says}{'::'.join(d.scope + (d.name,))} ({d.kind})")
functions = [d for d in counted if d.kind == "function"]
print(f"{len(counted) - len(missing)} of {len(counted)} public names have a comment; {len(functions)} of them are functions.")
sys.exit(1 if missing else 0)

#!/usr/bin/env python3
"""Writes docs/names.md: each function of JAX and optax (jax.json), with our name for it or the reason why there is none.

Our names are read from the public headers; cotan.json has what headers cannot say: names that differ, reasons, devices.
    make_page.py            writes the page and prints the counts
    make_page.py --check    fails where the page is stale, or cotan.json names what is not there
    make_page.py --missing  prints the names that are neither there nor explained
"""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools" / "docs"))
import headers  # noqa: E402

PAGE = ROOT / "docs" / "names.md"

jax = json.loads((HERE / "jax.json").read_text())
ours = json.loads((HERE / "cotan.json").read_text())
versions = jax.pop("versions")
declared = {"::".join(d.scope[1:] + (d.name,)) for d in headers.public_declarations(ROOT) if d.scope[:1] == ("cotan",)}
# A namespace may take a name over from another: using numpy::add;
for path in (ROOT / "include" / "cotan").rglob("*.hpp"):
    for space, block in re.findall(r"^namespace cotan::([\w:]+) \{$(.*?)^\}", path.read_text(), re.M | re.S):
        declared |= {f"{space}::{name}" for name in re.findall(r"^using [\w:]+::(\w+);$", block, re.M)}
problems = []


def spelled(name):
    """A name of JAX as C++ has it: modules are namespaces, and keywords end with an underscore."""
    *modules, last = name.split(".")
    return "::".join(modules + [last + "_" if last in ours["keywords"] else last])


def listed(table, space):
    """name -> reason, of a table of reasons with lists of names."""
    return {name: reason for reason, names in table.get(space, {}).items() for name in names}


def of(space, name):
    """(our name or "", what there is to say)."""
    there = ours["elsewhere"].get(space, {}).get(name)
    if there:
        if "::" in there and there.split(" ")[0].split("(")[0] not in declared:
            problems.append(f"cotan.json: {space} {name}: there is no cotan::{there}")
        return there, ours["notes"].get(space, {}).get(name, "")
    for namespace in ours["namespaces"][space]:
        full = "::".join(filter(None, [namespace, spelled(name)]))
        if full in declared:
            return full, ours["notes"].get(space, {}).get(name, "")
    return "", listed(ours["left_out"], space).get(name, "")


def section(space):
    uncounted = listed(ours["not_counted"], space)
    counted = [n for n in jax[space] if n not in uncounted]
    found = {n: of(space, n) for n in counted}
    for table in (ours["elsewhere"], ours["notes"]):
        problems.extend(f"cotan.json: {space} has no {n}" for n in table.get(space, {}) if n not in jax[space])
    problems.extend(f"cotan.json: {space} has no {n}" for t in ("left_out", "not_counted") for n in listed(ours[t], space)
                    if n not in jax[space])
    problems.extend(f"cotan.json: {space} {n} is left out, and it is there" for n in listed(ours["left_out"], space)
                    if found.get(n, ("",))[0])
    there = [n for n in counted if found[n][0]]
    lines = [f"## {space}", "", f"{len(there)} of {len(counted)}.", "", "| JAX | cotan | |", "|---|---|---|"]
    for name in counted:
        our, note = found[name]
        lines.append(f"| `{name}` | {f'`{our}`' if our else '–'} | {note or ('' if our else 'not yet')} |")
    if uncounted:
        lines += ["", "Not counted: " + "; ".join(f"{reason}: " + " ".join(f"`{n}`" for n in names)
                                                   for reason, names in ours["not_counted"][space].items()) + "."]
    silent = [n for n in counted if not any(found[n])]
    return lines + [""], len(there), len(counted), silent


sections = {space: section(space) for space in jax}
there, counted = (sum(s[k] for s in sections.values()) for k in (1, 2))
silent = [f"{space}: {name}" for space, s in sections.items() for name in s[3]]
page = ["# Names: JAX's and ours", "",
        f"Made by `make docs` from the headers, `tools/names/jax.json` (JAX {versions['jax']}, optax {versions['optax']}) and "
        "`tools/names/cotan.json`; do not edit.", "", f"**{there} of {counted} names ({100 * there / counted:.1f} %).** "
        "What a column says nothing about works under every transform and on every device, in the dtypes of "
        "[the table of features](features.md) and, on `webgpu`, of [its own](webgpu_dtypes.md).", "",
        "| namespace | there | of |", "|---|---:|---:|"]
page += [f"| [{space}](#{''.join(c for c in space.replace(' ', '-') if c not in ',.:')}) | {s[1]} | {s[2]} |" for space, s in sections.items()]
page += ["", *(line for s in sections.values() for line in s[0])]
text = "\n".join(page).rstrip() + "\n"

if "--missing" in sys.argv:
    print("\n".join(silent))
elif "--check" in sys.argv:
    if not PAGE.exists() or PAGE.read_text() != text:
        problems.append("docs/names.md is stale; run make docs (or tools/names/make_page.py)")
else:
    PAGE.write_text(text)
print(f"{there} of {counted} names are there ({100 * there / counted:.1f} %), {len(silent)} are missing without a reason.")
if problems:
    sys.exit("\n".join(problems))

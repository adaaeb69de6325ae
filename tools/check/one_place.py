#!/usr/bin/env python3
"""One op, one place: how many files an operation is spread over, without tests and generated pages.

A file belongs to an operation if its code names it: `erfc`, `erfc_p` or "erfc", but for calls of the public function
(`np::argmax(…)`), which only use it. Names that another namespace has for it (SciPy's, torch's, options of random's samplers, methods of Array) are no part of it:
it is whole without them. Prints the files of those operations that have a limit. Fails where one is over
it, where a primitive of src/ops is in no list, or where more code than before asks which primitive it has before it.
"""

import argparse
import pathlib
import re
import sys

# For an elementwise function, a reduction that back ends generate code for, a routine with three implementations.
LIMITS = {"erfc": 4, "argmax": 5, "cholesky": 6}
# Code outside of src/ops that compares a primitive with one of src/ops: rewrites that are about it. It may only become
# less: knowledge about an operation is a field of its Primitive, or a RuleFor<…> in the file of the rule.
MOST_COMPARISONS = 36

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
USE = r"\b(?:np|numpy|lax|linalg|nn|std)::{}\s*[(,]"
DEFINITION = re.compile(r"^const Primitive (\w+_p)\b", re.MULTILINE)
LISTED = re.compile(r"^const Listed \w+\s*\{([^}]*)\}", re.MULTILINE)
COMPARISON = re.compile(r"[!=]= &ops::\w+_p\b")


OTHER_NAMES = ("include/cotan/scipy/", "include/cotan/torch/", "src/torch/", "src/scipy/", "include/cotan/random/", "src/random/", "include/cotan/array.hpp", "src/numpy/methods.cpp")


def code_of(path):
    return INCLUDE.sub("", COMMENT.sub("", path.read_text(encoding="utf-8")))


def files_of(operation, code):
    named, used = re.compile(rf"\b{operation}(?:_p)?\b"), re.compile(USE.format(operation))
    return [name for name, text in code.items()
            if not name.startswith(OTHER_NAMES) and named.search(used.sub("", text))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("operations", nargs="*", help="others to print the files of")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    options = parser.parse_args()

    code = {}
    for folder in ("include", "src"):
        for path in sorted((options.root / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp"):
                code[path.relative_to(options.root).as_posix()] = code_of(path)

    wrong = []
    for operation in [*LIMITS, *options.operations]:
        files, limit = files_of(operation, code), LIMITS.get(operation)
        print(f"{operation}: {len(files)} files" + (f", at most {limit}" if limit else ""))
        for name in files:
            print(f"  {name}")
        if limit and len(files) > limit:
            wrong.append(f"{operation} is in {len(files)} files, more than {limit}: what they know belongs to its own")

    primitives = 0
    for name, text in code.items():
        if not name.startswith("src/ops/"):
            continue
        listed = set(re.findall(r"&(\w+_p)", " ".join(LISTED.findall(text))))
        for primitive in DEFINITION.findall(text):
            primitives += 1
            if primitive not in listed:
                wrong.append(f"{name} defines {primitive} and does not list it: add it to its `const Listed listed`")
    elsewhere = {name: text for name, text in code.items() if not name.startswith("src/ops/")}
    comparisons = {name: len(COMPARISON.findall(text)) for name, text in elsewhere.items()}
    total = sum(comparisons.values())
    print(f"{primitives} primitives looked at; {total} comparisons with one of src/ops elsewhere")
    if total > MOST_COMPARISONS:
        wrong.append(f"{total} places outside of src/ops ask for a primitive by name, more than {MOST_COMPARISONS}:")
        wrong += [f"  {count:3} {name}" for name, count in sorted(comparisons.items()) if count]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

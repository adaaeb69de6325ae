#!/usr/bin/env python3
"""Sizes of files and functions of the library and the programs: files of a screenful to a few, functions of one subject.

Prints what is over the limits and ends with 1 if there is any; with --list N also the N longest of both.
Functions are found by their braces: the text is stripped of comments, literals and preprocessor lines, and what stands
before a brace says what it opens. A lambda counts as a part of the function that it is in.
"""

import argparse
import pathlib
import re
import statistics
import sys

FOLDERS = ("src", "include", "apps")
MEDIAN_LINES, MOST_LINES, MOST_LINES_OF_A_FUNCTION = 110, 500, 100
# Files that a program wrote. There are none; who adds one says by what it was made.
GENERATED = ()
# Known to be over a limit, and on the way: said, but no failure.
PENDING = ()

LITERAL_OR_COMMENT = re.compile(
    r"""//[^\n]*(?:\\\n[^\n]*)*          # to the end of the line
    |/\*.*?\*/
    |(?:u8|[uUL])?R"(?P<tag>[^()\\\s]*)\(.*?\)(?P=tag)"
    |(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"
    |(?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'""",
    re.VERBOSE | re.DOTALL,
)
DIRECTIVE = re.compile(r"^[ \t]*\#[^\n]*(?:\\\n[^\n]*)*", re.MULTILINE)
SCOPES = re.compile(r"\b(?:namespace|class|struct|union|enum)\b")


def blanked(match):
    """As many lines as there were, and something that is not a brace."""
    return " " + "\n" * match.group().count("\n")


def stripped(text):
    """The code without literals, comments and directives, line for line."""
    return DIRECTIVE.sub(blanked, LITERAL_OR_COMMENT.sub(blanked, text))


def without_groups(head, opening, closing):
    """`head` with what is inside parentheses (or angle brackets) left out, the outermost pair kept."""
    out, depth = [], 0
    for c in head:
        if c == closing and depth:
            depth -= 1
        if not depth:
            out.append(c)
        if c == opening:
            depth += 1
    return "".join(out)


def function_name(head):
    """The name of the function whose body follows `head`; None where it is something else."""
    head = re.sub(r"\[\[.*?\]\]", " ", head, flags=re.DOTALL)
    flat = " ".join(without_groups(head, "(", ")").split())
    flat = re.sub(r"\b(?:requires|noexcept|alignas|decltype|explicit)\s?\(\)", " ", flat)
    calls = [m for m in re.finditer(r"(operator\s*(?:\(\)|[^\s\w(]+|\w+)|~?[\w:]+(?:<[^()]*>)?)\s?\(\)", flat)]
    if not calls:
        return None
    # A call of a macro may stand before a function, without a semicolon.
    calls = [m for m in calls if not re.fullmatch(r"[A-Z][A-Z0-9_]+", m.group(1))] or calls
    before = flat[: calls[0].start()]
    if SCOPES.search(re.sub(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>", "", before)) and "(" not in before:
        # `struct A f() {` does not occur; `template <class T> void f() {` has lost its class by now.
        return None
    if re.search(r"=\s*$", flat) or re.search(r"(?<![=!<>&|+\-*/^%o\]r])=(?!=)", before):
        return None
    name = calls[0].group(1)
    return None if name in ("if", "for", "while", "switch", "catch", "return") else name


def begins_member(head):
    """Whether the brace after `head` initializes a member, as in `A() : a{1} {`: the body comes later."""
    in_list = re.search(r"\)[^()]*(?<!:):(?!:)", without_groups(head, "(", ")"))
    return in_list and re.search(r"[\w>]\s*$", head) and not re.search(r"\b(?:const|noexcept|override|final|try)\s*$", head)


def functions(text):
    """(name, first line, lines) of every function: from its name to its closing brace."""
    code = stripped(text)
    # A stack of what is open: the function that a brace opened, or None. Inside a function nothing is looked for.
    open_braces, inside, head_start = [], None, 0
    line, line_of_head = 1, 1
    head_has_text = False
    parens = 0
    for at, c in enumerate(code):
        if c == "\n":
            line += 1
        if inside is None and not c.isspace() and not head_has_text:
            head_start, line_of_head, head_has_text = at, line, True
        if c == "(":
            parens += 1
        elif c == ")":
            parens -= 1
        if c == "{":
            name = None
            if inside is None and not parens:
                head = code[head_start:at]
                name = function_name(head)
                if name is not None and begins_member(head):
                    open_braces.append((("member",), parens))
                    continue
            open_braces.append((("function", name, line_of_head) if name is not None else ("other",), parens))
            if name is not None:
                inside = len(open_braces)
            elif inside is None and not parens:
                head_has_text = False
        elif c == "}" and open_braces:
            opened, parens = open_braces.pop()
            if opened[0] == "member":
                continue
            if inside == len(open_braces) + 1:
                inside = None
                yield opened[1], opened[2], line - opened[2] + 1
            if inside is None and not parens:
                head_has_text = False
        elif inside is None and not parens:
            if c == ";" or (c == ":" and re.search(r"(?:public|private|protected)\s*$", code[head_start:at])):
                head_has_text = False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", type=int, default=0, metavar="N", help="also print the N longest files and functions")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    options = parser.parse_args()

    files, bodies = [], []
    for folder in FOLDERS:
        for path in sorted((options.root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".h"):
                continue
            text, name = path.read_text(encoding="utf-8"), path.relative_to(options.root).as_posix()
            files.append((text.count("\n"), name))
            bodies += [(lines, f"{name}:{first} {function}") for function, first, lines in functions(text)]
    median = statistics.median(lines for lines, _ in files)
    print(f"{len(files)} files, {sum(lines for lines, _ in files)} lines, median {median:g}; {len(bodies)} functions, "
          f"median {statistics.median(lines for lines, _ in bodies):g}")
    for what, longest in (("files", files), ("functions", bodies)):
        if options.list:
            print(f"The longest {what}:")
            for lines, name in sorted(longest, reverse=True)[: options.list]:
                print(f"{lines:6} {name}")

    wrong = [f"{name} has {lines} lines, more than {MOST_LINES}: it has two subjects"
             for lines, name in files if lines > MOST_LINES and name not in GENERATED]
    wrong += [f"{name} has {lines} lines, more than {MOST_LINES_OF_A_FUNCTION}: split it by subject"
              for lines, name in bodies if lines > MOST_LINES_OF_A_FUNCTION]
    if median > MEDIAN_LINES:
        wrong.append(f"the median file has {median:g} lines, more than {MEDIAN_LINES}")
    failed = [line for line in wrong if not line.startswith(PENDING)]
    for line in wrong:
        print(("" if line in failed else "pending: ") + line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

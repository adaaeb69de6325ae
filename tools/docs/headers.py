"""Reads the public headers: declarations with their /// comments, for the reference and for the check that there are any.

A scanner, not a compiler: it knows comments, braces and parentheses, and how the headers of cotan are written. A comment
stands before its declaration (///) or behind it (///<). `/// @name Title`, text, `/// @{` … `/// @}` put declarations under
a heading; braces without a name share the comment in front of them.
"""
import dataclasses
import pathlib
import re

TOKEN = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|[][(){};:]')
BRACES = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|[{}]')
TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:inline\s+)?(namespace|class|struct|union|enum)\b(?:\s+class)?\s*([\w:]*)", re.S)
# Nothing that is called or named by itself.
PASSED_OVER = re.compile(r"^(using\s+(namespace\b|[\w:<>]+::(\w+|operator\(\))$)|static_assert|friend\b|template\s*<>|extern\s+template)")


@dataclasses.dataclass
class Declaration:
    scope: tuple  # ("cotan", "numpy"), or with the names of classes
    kind: str  # namespace, type, function, value, alias, field, silent (a constructor, an assignment …)
    name: str
    code: str  # as it is written, without the body
    comment: list  # lines without their ///
    shared: bool  # under braces without a name, behind the comment of all
    group: tuple  # (title, lines), or ("", [])
    path: pathlib.Path
    line: int
    forward: bool = False  # declared, not defined
    public: bool = True

    @property
    def documented(self):
        return bool(self.comment) or self.shared


def without_templates(text):
    """Without what stands in <…>, so that its parentheses are not taken for a function's."""
    text = re.sub(r"operator(<=>|<<|>>|<=|>=|<|>|\(\))", "operator@", text)
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>]*>", "", text)
    return text


class Header:
    def __init__(self, path):
        self.path, self.text, self.at = pathlib.Path(path), pathlib.Path(path).read_text(), 0
        self.declarations = []
        self.group, self.shared, self.for_all = ("", []), False, []
        self.read((), "", True)

    def blank(self):
        """Goes past blanks, comments and preprocessor lines; gives the comment right before where it stops."""
        comment = []
        while self.at < len(self.text):
            if blank := re.compile(r"\s+").match(self.text, self.at):
                if blank.group().count("\n") > 1:
                    comment = []
                self.at = blank.end()
            elif remark := re.compile(r"//[^\n]*").match(self.text, self.at):
                self.at = remark.end()
                line = remark.group()
                if line.startswith("///<"):
                    continue  # of the declaration before
                if not line.startswith("///"):
                    comment = []
                elif re.match(r"/// @\{", line):
                    title = next((c[6:] for c in comment if c.startswith("@name ")), "")
                    self.shared, self.for_all = bool(comment) and not title, [] if title else comment
                    if title:
                        self.group = (title, [c for c in comment if not c.startswith("@name ")])
                    comment = []
                elif re.match(r"/// @\}", line):
                    if not self.shared:
                        self.group = ("", [])
                    self.shared, comment = False, []
                else:
                    comment.append(line[4:] if line.startswith("/// ") else line[3:])
            elif macro := re.compile(r"#define (COTAN_TREE\w*\([^)]*\))(?:[^\n]*\\\n)*[^\n]*").match(self.text, self.at):
                self.add((), "macro", macro.group(1), comment, macro.start())
                self.at, comment = macro.end(), []
            elif directive := re.compile(r"#(?:[^\n]*\\\n)*[^\n]*").match(self.text, self.at):
                self.at, comment = directive.end(), []
            else:
                break
        return comment

    def behind(self, at):
        """The lines of a ///< comment that follows."""
        lines = []
        while remark := re.compile(r"[ \t]*(?:\n[ \t]*)?///<[ ]?([^\n]*)" if not lines else r"\n[ \t]*///<[ ]?([^\n]*)").match(self.text, at):
            lines.append(remark.group(1))
            at = remark.end()
        return lines

    def past_braces(self):
        depth = 0
        while match := BRACES.search(self.text, self.at):
            self.at = match.end()
            depth += {"{": 1, "}": -1}.get(match.group(), 0)
            if depth == 0:
                return

    def statement(self):
        """(text, end): end is ; or } or :, { where a scope opens, or body where a function's was passed."""
        start, begin, depth = self.at, self.at, 0
        while match := TOKEN.search(self.text, self.at):
            token, self.at = match.group(), match.end()
            text = self.text[start:match.start()]
            if token.startswith(("//", '"', "'")):
                continue
            if token in "([":
                depth += 1
            elif token in ")]":
                depth -= 1
            elif depth > 0:
                if token == "{":
                    self.at = match.start()
                    self.past_braces()
            elif token == ":" and text.strip() in ("public", "private", "protected"):
                return text.strip(), ":"
            elif token in ";}":
                return text.strip(), token
            elif token == "{":
                head = re.sub(r"^template\s*<.*?>\s*(?=(class|struct|union|enum)\b)", "", text.strip(), flags=re.S)
                if re.match(r"^(inline\s+)?namespace\b", head) or re.match(r"^(class|struct|union|enum)\b[^()=]*$", head):
                    return text.strip(), "{"
                self.at = match.start()
                self.past_braces()
                if not re.compile(r"\s*[,{;]").match(self.text, self.at):
                    return text.strip(), "body"
        self.at = len(self.text)
        return "", "}"

    def read(self, scope, class_name, public):
        while self.at < len(self.text):
            comment = self.blank()
            begin = self.at
            if begin >= len(self.text):
                return
            text, end = self.statement()
            if end == ":":
                public = text == "public"
                continue
            if end == "}":
                return
            opened = TYPE.match(text)
            if end == "{":
                what, name = opened.group(1), opened.group(2)
                here = len(self.declarations)
                if what == "namespace":
                    if comment:
                        self.add(scope, "namespace", name, comment, begin, name=name)
                    self.read(scope + tuple(name.split("::")), "", True)
                    continue
                if what == "enum":
                    self.at -= 1
                    self.past_braces()
                else:
                    group, self.group = self.group, ("", [])
                    self.read(scope + (name,), name, what != "class")
                    self.group = group
                code = self.text[begin:self.at]
                tail = re.compile(r"[^;\n]*;").match(self.text, self.at)
                after = self.behind(tail.end()) if tail else []
                self.add(scope, "type", code, comment or after, begin, name=name, public=public, place=here)
                continue
            if not text or PASSED_OVER.match(text):
                continue
            kind = self.kind_of(text, class_name)
            code = re.sub(r"\s*//[^\n]*", "", text)
            self.add(scope, kind, code, comment or self.behind(self.at), begin, public=public,
                     forward=bool(opened) and end == ";")

    @staticmethod
    def kind_of(text, class_name):
        flat = without_templates(text)
        if re.match(r"^(template\s*)?using\b", flat):
            return "alias"
        if re.search(r"=\s*delete$", flat) or "operator=(" in flat.replace(" ", ""):
            return "silent"
        signature = re.sub(r"\brequires\s*\([^()]*(\([^()]*\)[^()]*)*\)", "", flat)
        if re.search(r"\boperator\s+(?!@)[\w:&* ]+\(\)", signature):
            return "silent"  # a conversion
        if "(" not in signature or re.match(r"^[^(]*=", signature.replace("operator==", "").replace("operator!=", "")):
            return "field" if class_name else "concept" if "concept" in flat else "value"
        if class_name and re.search(rf"(^|\s)(explicit\s+)?~?{class_name}\s*\(", signature):
            return "silent"
        return "function"

    def add(self, scope, kind, code, comment, at, name=None, forward=False, public=True, place=None):
        if self.shared and not comment:
            comment, self.for_all = self.for_all, []  # it is shown once
        declaration = Declaration(scope, kind, name if name is not None else name_of(code), code, comment, self.shared, self.group, self.path,
                                  self.text.count("\n", 0, at) + 1, forward, public)
        self.declarations.insert(len(self.declarations) if place is None else place, declaration)


def name_of(code):
    """What a declaration declares."""
    flat = without_templates(code)
    if re.search(r"operator\s*(@|\W{1,2})\s*\(", flat):
        return re.search(r"(\w+::)?operator\s*(\(\)|[^\s(\w]{1,3})", code).group(0).replace(" ", "")
    flat = re.sub(r"\brequires\s*\([^()]*(\([^()]*\)[^()]*)*\)", "", flat)
    if found := re.match(r"^(?:template\s*)?(?:using|concept|.*\bconcept)\s+(\w+)", flat, re.S):
        return found.group(1)
    if found := re.search(r"([~\w:]+)\s*\(", flat):
        return found.group(1)
    found = re.search(r"(\w+)\s*(?:\{|=|;|$|\[)", flat)
    return found.group(1) if found else flat


def public_declarations(root):
    """Of all headers, without namespaces for the library's own use and without what a definition repeats."""
    found = {}
    for path in sorted((pathlib.Path(root) / "include" / "cotan").rglob("*.hpp")):
        for d in Header(path).declarations:
            if not d.public or d.forward or "detail" in d.scope or "::" in d.name and d.kind == "function":
                continue
            key = (d.scope, re.sub(r"\s+", "", d.code if d.kind != "type" else d.name), d.kind)
            if key not in found or d.documented and not found[key].documented:
                found[key] = d
    return list(found.values())

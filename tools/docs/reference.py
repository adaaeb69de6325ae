"""The reference: a page per header, or for several, of its declarations with their comments."""
import html
import re

import headers
import markdown
from contents import ROOT, problems

WHERE = re.compile(r",?\s*(?:(?:const\s+)?std::source_location&?\s+(?:where|made)|(?:\w+::)*CallLine\s+line)\s*=\s*"
                   r"(?:(?:\w+::)*CallLine\(COTAN_HERE\)|COTAN_HERE|\{\})")


def without_where(code):
    """The line of the caller is a parameter that nobody passes."""
    return re.sub(r"\bCOTAN_UPDATED\s+|\binline\s+|\bextern\s+", "", WHERE.sub("", code))


def signature(code, width=108):
    """On one line, or one parameter after another; templates and their conditions on lines of their own."""
    lines, front = without_where(code).split("\n"), []
    while lines and re.match(r"\s*(template|requires)\b", lines[0]):
        piece = lines.pop(0)
        while lines and (piece.count("(") > piece.count(")") or piece.count("<") > piece.count(">") - piece.count("->")):
            piece += " " + lines.pop(0).strip()
        if inner := re.match(r"(template\s*<[^<>]*>)\s+(\S.*)", piece):
            front.append(inner.group(1))
            lines.insert(0, inner.group(2))
        else:
            front.append(("  " if piece.lstrip().startswith("requires") else "") + piece.strip())
    text = re.sub(r"\s+", " ", " ".join(lines)).strip()
    text = re.sub(r"\) : \w+_?[({].*$", ")", text)  # what a constructor initialises
    if len(text) > width and "(" in text:
        open_at = text.index("(", text.index("operator()") + 10 if "operator()" in text else 0)
        rows, depth, row = [], 0, text[:open_at + 1]
        for piece in re.findall(r"[^,]+,?\s*", text[open_at + 1:]):
            if len(row) + len(piece) > width and depth <= 0:
                rows.append(row.rstrip())
                row = " " * (open_at + 1 if open_at < 44 else 4)
            row += piece
            depth += piece.count("(") + piece.count("<") - piece.count(")") - piece.count(">")
        text = "\n".join(rows + [row])
    return "\n".join(front + [text])


def plain_source(code):
    """A struct as it stands in the header, without what is private and with plain comments."""
    code = re.sub(r"\n private:.*?(?=\n public:|\n\};?$|\n\}$)", "", without_where(code), flags=re.S)
    indent = min((len(line) - len(line.lstrip()) for line in code.split("\n")[1:] if line.strip()), default=0)
    lines = code.split("\n")
    code = "\n".join([lines[0]] + ([line[indent:] for line in lines[1:]] if not lines[-1].startswith("}") else lines[1:]))
    return re.sub(r"\n\s*\n(?=\};?$)", "\n", re.sub(r"///<?", "//", code)) + ";"


class Reference:
    def __init__(self, pages):
        self.pages = [p for p in pages if p.is_reference]
        self.all = headers.public_declarations(ROOT)
        self.page_of, self.url_of, self.types = {}, {}, {}
        flat = next(p for p in self.pages if p.sources[0].stem == "flat")
        for d in self.all:
            stem = d.path.relative_to(ROOT / "include" / "cotan")
            own = [p for p in self.pages for s in p.sources if self.belongs(stem, s.relative_to("include/cotan"))]
            page = flat if "flat" in d.scope else own[0] if own else None
            if page is None:
                problems.append(f"{d.path.relative_to(ROOT)}: {d.name} is on no page of docs/index.md's reference")
                page = self.pages[0]
            self.page_of[id(d)] = page
        used = set()
        for d in self.all:
            page, name = self.page_of[id(d)], "-".join(d.scope[1:] + (d.name,)).replace("numpy-", "")
            where, count = (page.url, name), 2
            while where in used:
                where, count = (page.url, f"{name}-{count}"), count + 1
            used.add(where)
            self.url_of[id(d)] = where
        # What is inside of a struct that is shown as it is leads to the struct.
        shown_whole = {d.scope + (d.name,): self.url_of[id(d)] for d in self.all if d.kind == "type" and not self.members(d)}
        for d in self.all:
            self.url_of[id(d)] = shown_whole.get(d.scope, self.url_of[id(d)])
        self.names = {}
        for d in self.all:
            if d.kind not in ("silent", "namespace", "field"):
                self.names.setdefault("::".join(d.scope[1:] + (d.name,)), self.href(d))
            if d.kind == "type" or d.kind == "alias" and all(name.islower() for name in d.scope):
                self.types.setdefault(d.name, []).append(d)

    @staticmethod
    def belongs(path, header):
        """array.hpp has its own; tree.hpp also tree_map.hpp, and transforms.hpp what is in transforms/."""
        stem = header.stem
        return path == header or path.parts[0] == stem or path.name.startswith(stem + "_") and path.parent == header.parent

    def href(self, d):
        page, name = self.url_of[id(d)]
        return f"{page}#{html.escape(name, quote=True)}"

    def of_code(self, text):
        """Where `np::take(x, i)` leads."""
        found = re.match(r"^(?:cotan::|ct::)?((?:\w+::)*~?\w+)(?:\(.*\))?$", text)
        if not found:
            return None
        name = re.sub(r"^np::", "numpy::", found.group(1))
        qualified = "::" in text.split("(")[0]
        return self.names.get(name) if qualified else None

    def of_type(self, name, page):
        candidates = self.types.get(name, [])
        own = [d for d in candidates if self.page_of[id(d)] is page]
        return self.href((own or candidates)[0]) if candidates else None

    def code(self, text, page):
        return markdown.cpp(text, lambda name: self.of_type(name, page))

    def entry(self, d, page):
        anchor = html.escape(self.url_of[id(d)][1], quote=True)
        comment = markdown.Page(code=self.of_code).block(d.comment)
        if d.kind == "type" and self.members(d):
            head = re.sub(r" : public detail::.*", "", re.sub(r"\s+", " ", d.code.split("{")[0])).strip()
            inner = "".join(self.entry(m, page) for m in self.members(d) if self.is_shown(m))
            built = [m for m in self.members(d) if m.kind == "silent" and not m.comment and "operator" not in m.code
                     and not re.search(r"\bdelete\b|\bdefault\b|~|\bdetail::", m.code)]
            if makes := "\n".join(signature(m.code) for m in built):
                comment += f'<pre class="sig"><code>{self.code(makes, page)}</code></pre>'
            return (f'<section class="entry type" id="{anchor}"><pre class="sig"><code>{self.code(head, page)}</code></pre>'
                    f"{comment}<div class='members'>{inner}</div></section>")
        shown = plain_source(d.code) if d.kind == "type" else signature(d.code)
        return f'<section class="entry" id="{anchor}"><pre class="sig"><code>{self.code(shown, page)}</code></pre>{comment}</section>'

    @staticmethod
    def is_shown(member):
        """Constructors are shown together, unless something is said about one; what is for the library alone is not."""
        internal = "for the library" in " ".join(member.comment) or member.kind == "field" and "detail::" in member.code
        return not internal and (member.kind != "silent" or member.comment)

    def members(self, d):
        """What a class has, where it has functions; a plain struct is shown as it is."""
        inside = [m for m in self.all if m.scope == d.scope + (d.name,) and m.path == d.path]
        return inside if any(m.kind in ("function", "alias") for m in inside) else []

    @staticmethod
    def namespace_of(d, types):
        scope = d.scope
        while scope in types:
            scope = scope[:-1]
        return scope

    def place(self, d, page):
        """In the order of the headers that docs/index.md gives; array.hpp begins with Array."""
        path = d.path.relative_to(ROOT)
        exact = [i for i, s in enumerate(page.sources) if s == path]
        other = [i for i, s in enumerate(page.sources)
                 if self.belongs(d.path.relative_to(ROOT / "include" / "cotan"), s.relative_to("include/cotan"))]
        return (exact or other or [0])[0], bool(not exact), d.kind != "type" or d.name.lower() != page.sources[0].stem

    def render(self, page):
        """(HTML, headings)"""
        out, headings, group = [f"<h1>{html.escape(page.title)}</h1>"], [], None
        mine = [d for d in self.all if self.page_of[id(d)] is page]
        types = {d.scope + (d.name,) for d in mine if d.kind == "type"}
        scopes = [d.scope for d in mine if d.kind in ("function", "type", "value") and d.scope not in types]
        main = max(dict.fromkeys(scopes), key=scopes.count)  # the namespace that most is in; what is in others follows
        mine.sort(key=lambda d: (self.namespace_of(d, types) not in (main, ()), self.place(d, page)))
        head = page.sources[0].with_suffix("")
        shown = [s for s in page.sources if s.parent != head]
        out.append('<p class="header">' + " ".join(f"<code>&lt;{s.relative_to('include')}&gt;</code>" for s in shown) + "</p>")
        about = {d.scope + tuple(d.name.split("::")): d for d in mine if d.kind == "namespace"}
        if main in about:
            out.append(markdown.Page(code=self.of_code).block(about[main].comment))
        shown_scope = main
        for d in mine:
            if d.kind == "namespace" or d.scope in types or d.kind == "silent":
                continue
            if d.scope not in (shown_scope, ()):
                scope = "::".join(d.scope)
                headings.append((2, scope, scope))
                out.append(f'<h2 id="{scope}"><code>{scope}</code></h2>')
                if d.scope in about:
                    out.append(markdown.Page(code=self.of_code).block(about[d.scope].comment))
                group, shown_scope = None, d.scope
            if d.group[0] and d.group[0] != group:
                name = markdown.anchor(d.group[0])
                headings.append((2, d.group[0], name))
                out.append(f'<h2 id="{name}">{html.escape(d.group[0])}</h2>' + markdown.Page(code=self.of_code).block(d.group[1]))
            elif group and not d.group[0]:
                out.append('<hr class="group">')
            group = d.group[0]
            out.append(self.entry(d, page))
        return "\n".join(out), headings

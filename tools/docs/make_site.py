#!/usr/bin/env python3
"""Makes the documentation site: the pages that docs/index.md lists, the tutorials, and a reference of the headers.

Plain HTML that a browser reads from disk, with a search that needs no server; Python alone makes it.
usage: make_site.py OUT            makes the site in the folder OUT
       make_site.py --check        makes nothing; fails on links that lead nowhere and on pages that docs/index.md does not lead to
"""
import dataclasses
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import headers  # noqa: E402
import markdown  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASSETS = pathlib.Path(__file__).resolve().parent / "assets"
problems = []


@dataclasses.dataclass
class Page:
    title: str
    sources: list  # paths from the root: one page of text, one tutorial, or headers
    section: str

    @property
    def url(self):
        stem = re.sub(r"\W+", "_", str(self.sources[0]).removeprefix("docs/").removeprefix("include/cotan/").rsplit(".", 1)[0])
        return {"index": "index"}.get(stem, ("ref_" if self.is_reference else "") + stem.lower()) + ".html"

    @property
    def is_reference(self):
        return self.sources[0].suffix == ".hpp"


def relative(source, target):
    """A link's target as a path from the root."""
    return pathlib.Path(os.path.normpath(source.parent / target))


def contents():
    """The pages, in the order of docs/index.md; a line of it may name several."""
    index = pathlib.Path("docs/index.md")
    pages, section = [Page("Contents", [index], ""), Page("README", [pathlib.Path("README.md")], "")], ""
    for line in (ROOT / index).read_text().split("\n"):
        if line.startswith("## "):
            section = line[3:]
        if not line.startswith("- "):
            continue
        links = [(title, relative(index, target)) for title, target in re.findall(r"\[([^\]]+)\]\(([^)]+)\)", line)]
        if links and links[0][1].suffix == ".hpp":
            pages.append(Page(links[0][0], [path for _, path in links], section))
        else:
            pages += [Page(title[:1].upper() + title[1:], [path], section) for title, path in links]
    # What these pages lead to stands behind them.
    listed = {source for page in pages for source in page.sources}
    for page in pages:
        if page.sources[0].suffix != ".md" or not (ROOT / page.sources[0]).is_file():
            continue
        for target in re.findall(r"\]\(([^)#\s]+\.md)", (ROOT / page.sources[0]).read_text()):
            path = relative(page.sources[0], target)
            if path.parts[0] == "docs" and path not in listed and (ROOT / path).is_file():
                listed.add(path)
                title = re.sub(r"^#+\s*", "", (ROOT / path).read_text().split("\n")[0])
                pages.insert(pages.index(page) + 1, Page(title, [path], page.section))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if (name := path.relative_to(ROOT)) not in listed:
            problems.append(f"{name} is in no page that docs/index.md leads to")
    return pages


# Reference -----------------------------------------------------------------------------------------------------------

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
            if d.kind == "type":
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

    def entry(self, d, page, level=3):
        anchor = html.escape(self.url_of[id(d)][1], quote=True)
        comment = markdown.Page(code=self.of_code).block(d.comment)
        if d.kind == "type" and self.members(d):
            head = re.sub(r" : public detail::.*", "", re.sub(r"\s+", " ", d.code.split("{")[0])).strip()
            inner = "".join(self.entry(m, page, level + 1) for m in self.members(d) if self.is_shown(m))
            built = [m for m in self.members(d) if m.kind == "silent" and not m.comment and "operator" not in m.code
                     and not re.search(r"\bdelete\b|\bdefault\b|~|\bdetail::", m.code)]
            makes = "\n".join(signature(m.code) for m in built)
            if makes:
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
    def outer_scope(d, mine):
        """The namespace that it is in, past classes."""
        scope = d.scope
        while any(t.kind == "type" and t.scope + (t.name,) == scope for t in mine):
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
        scopes = [d.scope for d in mine if d.kind in ("function", "type", "value")]
        main = max((s for s in dict.fromkeys(scopes) if not any(t.scope + (t.name,) == s for t in mine if t.kind == "type")), key=scopes.count)
        mine.sort(key=lambda d: (self.outer_scope(d, mine) not in (main, ()), self.place(d, page)))
        head = page.sources[0].with_suffix("")
        shown = [s for s in page.sources if s.parent != head]
        out.append('<p class="header">' + " ".join(f"<code>&lt;{s.relative_to('include')}&gt;</code>" for s in shown) + "</p>")
        about = {d.scope + tuple(d.name.split("::")): d for d in mine if d.kind == "namespace"}
        if main in about:
            out.append(markdown.Page(code=self.of_code).block(about[main].comment))
        types = {(t.scope + (t.name,)) for t in mine if t.kind == "type"}
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


# The site ------------------------------------------------------------------------------------------------------------


class Site:
    def __init__(self):
        self.pages = contents()
        self.by_source = {}
        for page in self.pages:
            for source in page.sources:
                self.by_source.setdefault(source, page)
        self.reference = Reference(self.pages)
        self.images, self.rendered = set(), {}
        for page in self.pages:
            self.rendered[page.url] = self.reference.render(page) if page.is_reference else self.text(page)
        self.check_anchors()

    def text(self, page):
        source = page.sources[0]
        if not (ROOT / source).is_file():
            problems.append(f"docs/index.md: {source} is not there")
            return "", []
        text = (ROOT / source).read_text()
        if source.suffix == ".cpp":
            return self.tutorial(text, source), []
        renderer = markdown.Page(lambda target: self.link(source, target), self.reference.of_code)
        return renderer.render(text), renderer.headings

    @staticmethod
    def tutorial(text, source):
        lines = text.split("\n")
        intro = []
        while lines and lines[0].startswith("//"):
            intro.append(lines.pop(0)[2:].strip())
        title, _, rest = " ".join(intro).partition(". ")
        return (f"<h1>{html.escape(title.rstrip('.'))}</h1><p>{html.escape(rest)}</p>"
                f'<p class="header"><code>{source}</code></p>' + markdown.Page.listing("\n".join(lines).strip(), "cpp"))

    def link(self, source, target):
        if re.match(r"^(https?:|mailto:)", target):
            return target
        path, _, part = target.partition("#")
        at = relative(source, path) if path else source
        if not (ROOT / at).exists():
            problems.append(f"{source}: the link {target} leads nowhere")
            return None
        if at.suffix in (".svg", ".png"):
            self.images.add(at)
            return "images/" + str(at).replace("/", "_") + ("#dark" if "prefers-color-scheme" in (ROOT / at).read_text() else "")
        if at == pathlib.Path("docs/tutorials"):
            return "index.html#tutorials"
        page = self.by_source.get(at)
        if page is None:
            return None  # a file of the repository, of which the site has no page
        return page.url + ("#" + part if part else "")

    def check_anchors(self):
        ids = {url: set(re.findall(r'\bid="([^"]+)"', body)) for url, (body, _) in self.rendered.items()}
        for url, (body, _) in self.rendered.items():
            for target in re.findall(r'href="([^"]+\.html)(?:#([^"]+))?"', body):
                page, part = target
                if page not in ids:
                    problems.append(f"{url}: no page {page}")
                elif part and part not in ids[page]:
                    problems.append(f"{url}: {page} has no #{part}")

    def search_index(self):
        rows = []
        for d in self.reference.all:
            if d.kind in ("silent", "namespace") or d.kind == "field" and not d.comment:
                continue
            brief = re.sub(r"[`*]", "", re.split(r"(?<=[.:;]) ", " ".join(d.comment))[0])[:110]
            rows.append([d.name, "::".join(d.scope[1:]), self.reference.href(d), brief])
        for page in self.pages:
            rows.append([page.title, page.section or "cotan", page.url, ""])
            if not page.is_reference:
                rows += [[title, page.title, f"{page.url}#{name}", ""] for _, title, name in self.rendered[page.url][1]]
        return rows

    def sidebar(self, current):
        out, section = [], None
        for page in self.pages:
            if page.section != section:
                out.append(f"<h2>{html.escape(page.section)}</h2>")
                section = page.section
            chosen = ' class="here"' if page is current else ""
            out.append(f'<a{chosen} href="{page.url}">{html.escape(page.title)}</a>')
            if page is current:
                found = [h for h in self.rendered[page.url][1] if h[0] == 2]
                if 1 < len(found) < 30:
                    out += [f'<a class="part" href="#{html.escape(n)}">{html.escape(t)}</a>' for _, t, n in found]
        return "".join(out)

    def write(self, out):
        shutil.rmtree(out, ignore_errors=True)
        (out / "images").mkdir(parents=True)
        version = (subprocess.run(["git", "-C", str(ROOT), "describe", "--tags", "--always"], capture_output=True, text=True).stdout.strip())
        frame = (ASSETS / "page.html").read_text()
        for page in self.pages:
            body, _ = self.rendered[page.url]
            values = {"TITLE": html.escape(page.title), "SIDEBAR": self.sidebar(page), "BODY": body, "VERSION": version,
                      "KIND": "reference" if page.is_reference else "text"}
            (out / page.url).write_text(re.sub(r"@(\w+)@", lambda m: values.get(m.group(1), m.group(0)), frame))
        for image in self.images:
            shutil.copy(ROOT / image, out / "images" / str(image).replace("/", "_"))
        for asset in ("site.css", "site.js"):
            shutil.copy(ASSETS / asset, out / asset)
        (out / "search.js").write_text("window.search_index = " + json.dumps(self.search_index(), ensure_ascii=False) + ";\n")


def main():
    site = Site()
    for problem in dict.fromkeys(problems):
        print(problem)
    if sys.argv[1] != "--check":
        site.write(pathlib.Path(sys.argv[1]))
        print(f"{len(site.pages)} pages in {sys.argv[1]}/index.html")
    elif not problems:
        print(f"{len(site.pages)} pages, all links lead somewhere.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Makes the documentation site: the pages that docs/index.md lists, the tutorials, and a reference of the headers.

Plain HTML that a browser reads from disk, with a search that needs no server; Python alone makes it.
usage: make_site.py OUT       makes the site in the folder OUT
       make_site.py --check   makes nothing; fails on links that lead nowhere and on pages that docs/index.md does not lead to
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

import markdown
from contents import ROOT, contents, problems, relative
from reference import Reference

ASSETS = pathlib.Path(__file__).resolve().parent / "assets"


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
        ids = self.ids = {url: set(re.findall(r'\bid="([^"]+)"', body)) for url, (body, _) in self.rendered.items()}
        for url, (body, _) in self.rendered.items():
            for page, part in re.findall(r'href="([^"]+\.html)(?:#([^"]+))?"', body):
                if page not in ids:
                    problems.append(f"{url}: no page {page}")
                elif part and part not in ids[page]:
                    problems.append(f"{url}: {page} has no #{part}")

    def search_index(self):
        rows = []
        for d in self.reference.all:
            page, part = self.reference.href(d).split("#")
            if d.kind in ("silent", "namespace") or d.kind == "field" and not d.comment or part not in self.ids[page]:
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
        version = re.search(r"project\(cotan VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True)
        version += f" · {commit.stdout.strip()}" if commit.returncode == 0 else ""
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

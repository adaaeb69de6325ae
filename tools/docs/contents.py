"""Which pages the site has: those that docs/index.md lists, in its order, and the pages that they lead to."""
import dataclasses
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
problems = []  # what --check complains about


@dataclasses.dataclass
class Page:
    title: str
    sources: list  # paths from the root: one page of text, one tutorial, or headers
    section: str

    @property
    def url(self):
        path = self.sources[0].with_suffix("").as_posix().removeprefix("docs/").removeprefix("include/cotan/")
        return ("ref_" if self.is_reference else "") + re.sub(r"\W+", "_", path).lower() + ".html"

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
            headers = []
            for _, path in links:  # a folder stands for its headers
                headers += [path] if path.suffix else sorted(h.relative_to(ROOT) for h in (ROOT / path).rglob("*.hpp"))
            pages.append(Page(links[0][0], list(dict.fromkeys(headers)), section))
        else:
            pages += [Page(title[:1].upper() + title[1:], [path], section) for title, path in links]
    # What these pages lead to stands behind them.
    listed = {source for page in pages for source in page.sources}
    for page in pages:
        if page.sources[0].suffix != ".md" or not (ROOT / page.sources[0]).is_file():
            continue
        at = pages.index(page)
        for target in re.findall(r"\]\(([^)#\s]+\.md)", (ROOT / page.sources[0]).read_text()):
            path = relative(page.sources[0], target)
            if path.parts[0] == "docs" and path not in listed and (ROOT / path).is_file():
                listed.add(path)
                title = re.sub(r"^#+\s*", "", (ROOT / path).read_text().split("\n")[0])
                at += 1
                pages.insert(at, Page(title, [path], page.section))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if (name := path.relative_to(ROOT)) not in listed:
            problems.append(f"{name} is in no page that docs/index.md leads to")
    return pages

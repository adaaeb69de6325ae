"""Markdown to HTML: as much of it as the pages of docs/ and the comments of headers use, and C++ with colours."""
import html
import re

WORDS = set("""alignas auto bool break case catch char class concept const consteval constexpr continue decltype default delete do
double else enum explicit extern false final float for friend if inline int long mutable namespace new noexcept nullptr operator
override private protected public requires return short signed sizeof static static_assert struct switch template this throw true
try typedef typename union unsigned using virtual void volatile while""".split())
CPP = re.compile(r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\')|(?P<directive>^#\w+)'
                 r"|(?P<number>\b\d[\w.']*)|(?P<word>[A-Za-z_]\w*)|(?P<other>.)", re.S | re.M)


def cpp(code, link=None):
    """`link(name)` gives where a name leads, or nothing."""
    out = []
    for match in CPP.finditer(code):
        kind, text = match.lastgroup, html.escape(match.group(), quote=False)
        if kind == "word" and text in WORDS:
            kind = "keyword"
        elif kind == "word" and link and (to := link(text)):
            text = f'<a href="{to}">{text}</a>'
        out.append(f'<span class="{kind}">{text}</span>' if kind in ("comment", "string", "number", "keyword", "directive") else text)
    return "".join(out)


def anchor(title):
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\]\([^)]*\)", "", title).lower()).strip().replace(" ", "-")


class Page:
    """`link(target)` gives (href, or None where it leads nowhere on the site), `code(text)` where a piece of code leads."""

    def __init__(self, link=None, code=None):
        self.link = link or (lambda target: target)
        self.code = code or (lambda text: None)
        self.headings = []

    def inline(self, text):
        kept = []

        def keep(piece):
            kept.append(piece)
            return f"\0{len(kept) - 1}\0"

        def code(match):
            inner = html.escape(match.group(2).strip() if match.group(1) != "`" else match.group(2), quote=False)
            to = self.code(match.group(2))
            piece = f"<code>{inner}</code>"
            return keep(f'<a href="{to}">{piece}</a>' if to else piece)

        def image(match):
            return keep(f'<img src="{html.escape(self.link(match.group(2)) or match.group(2))}" alt="{html.escape(match.group(1))}">')

        def link(match):
            to, inner = self.link(match.group(2)), match.group(1)
            return keep(f'<a href="{html.escape(to)}">') + inner + keep("</a>") if to else inner

        text = re.sub(r"\\([|*_`<>\[\]])", lambda m: keep(html.escape(m.group(1))), text)
        text = re.sub(r"(`+)(.+?)\1", code, text)
        text = re.sub(r"<br>", lambda m: keep("<br>"), text)
        text = html.escape(text, quote=False)
        text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", image, text)
        text = re.sub(r"(?<![\w)\]])\[([^\]]+)\]\(([^)\s]+)\)", link, text)
        text = re.sub(r"(?<![\w:])(https?://[^\s<),]+[^\s<),.;:])", lambda m: keep(f'<a href="{m.group(1)}">{m.group(1)}</a>'), text)
        text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
        text = re.sub(r"(?<![\w*])\*([^\s*][^*]*?)\*(?!\w)", r"<em>\1</em>", text)
        while "\0" in text:
            text = re.sub(r"\0(\d+)\0", lambda m: kept[int(m.group(1))], text)
        return text

    def block(self, lines):
        """HTML of lines."""
        out, i = [], 0
        while i < len(lines):
            line = lines[i]
            if not line.strip() or re.match(r"\s*<!--.*-->\s*$", line):
                i += 1
            elif fence := re.match(r"(\s*)```(\w*)", line):
                body, i = [], i + 1
                while i < len(lines) and not lines[i].strip().startswith("```"):
                    body.append(lines[i][len(fence.group(1)):])
                    i += 1
                i += 1
                out.append(self.listing("\n".join(body), fence.group(2)))
            elif re.match(r"    \S", line):
                body = []
                while i < len(lines) and (re.match(r"    ", lines[i]) or not lines[i].strip()):
                    body.append(lines[i][4:])
                    i += 1
                out.append(self.listing("\n".join(body).strip("\n"), "cpp"))
            elif heading := re.match(r"(#+)\s+(.*)", line):
                level, title = len(heading.group(1)), heading.group(2)
                name = anchor(title)
                if level > 1:
                    self.headings.append((level, re.sub(r"[`*]", "", title), name))
                out.append(f'<h{level} id="{name}">{self.inline(title)}</h{level}>')
                i += 1
            elif line.lstrip().startswith("|"):
                rows = []
                while i < len(lines) and lines[i].lstrip().startswith("|"):
                    rows.append(lines[i].strip())
                    i += 1
                out.append(self.table(rows))
            elif re.match(r"\s*([-*]|\d+\.)\s+", line):
                i, piece = self.items(lines, i)
                out.append(piece)
            elif re.match(r"-{3,}\s*$", line):
                out.append("<hr>")
                i += 1
            else:
                body = []
                while i < len(lines) and lines[i].strip() and not re.match(r"\s*(```|#+ |\||[-*] |\d+\. |<!--)", lines[i]):
                    body.append(lines[i].strip())
                    i += 1
                if not body:
                    body, i = [line], i + 1
                out.append(f"<p>{self.inline(' '.join(body))}</p>")
        return "\n".join(out)

    def items(self, lines, i):
        first = re.match(r"(\s*)([-*]|\d+\.)\s+", lines[i])
        indent, ordered = len(first.group(1)), first.group(2)[0].isdigit()
        out = []
        while i < len(lines):
            item = re.match(r"(\s*)([-*]|\d+\.)\s+(.*)", lines[i])
            if not item or len(item.group(1)) != indent:
                break
            width, body, i = len(lines[i]) - len(item.group(3)), [item.group(3)], i + 1
            while i < len(lines) and (not lines[i].strip() or len(lines[i]) - len(lines[i].lstrip()) > indent):
                if not lines[i].strip() and (i + 1 == len(lines) or len(lines[i + 1]) - len(lines[i + 1].lstrip()) <= indent):
                    break
                body.append(lines[i][min(width, len(lines[i]) - len(lines[i].lstrip())):])
                i += 1
            inner = self.block(body)
            out.append("<li>" + re.sub(r"^<p>(.*?)</p>", r"\1", inner, count=1, flags=re.S) + "</li>")
            while i < len(lines) and not lines[i].strip():
                i += 1
                if i < len(lines) and not re.match(r"\s*([-*]|\d+\.)\s+", lines[i]):
                    break
        tag = "ol" if ordered else "ul"
        return i, f"<{tag}>" + "".join(out) + f"</{tag}>"

    def table(self, rows):
        def cells(row):
            row = re.sub(r"(`[^`]*`)", lambda m: m.group(1).replace("|", "\1"), row.replace("\\|", "\1"))
            return [c.strip().replace("\1", "|") for c in row.strip("|").split("|")]

        def line(row, tag):
            return "<tr>" + "".join(f"<{tag}>{self.inline(c)}</{tag}>" for c in cells(row)) + "</tr>"

        has_head = len(rows) > 1 and re.match(r"^[|\s:-]+$", rows[1])
        head = line(rows[0], "th") if has_head and any(cells(rows[0])) else ""
        body = "".join(line(r, "td") for r in (rows[2:] if has_head else rows))
        return f'<div class="wide"><table>{"<thead>" + head + "</thead>" if head else ""}<tbody>{body}</tbody></table></div>'

    @staticmethod
    def listing(code, language):
        return f"<pre><code>{cpp(code) if language in ('cpp', 'c++') else html.escape(code, quote=False)}</code></pre>"

    def render(self, text):
        return self.block(text.split("\n"))

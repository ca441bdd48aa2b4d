"""references.py - resolves what code and documents refer to: documents by name, their sections,
marks of docs/spec, rows of R11 and decisions."""
import bisect
import functools
import pathlib
import re
import subprocess

MARKS = {"R": "rules.md", "I": "rules.md", "L": "rules.md", "W": "wire.md", "J": "json.md"}
SPEC = ("console.md", "interface.md", "journal.md", "json.md", "replication.md", "roles.md",
        "rules.md", "signatures.md", "wire.md")

TEXTS = {".c", ".cc", ".cmake", ".css", ".h", ".html", ".in", ".js", ".lua", ".md", ".mjs",
         ".patch", ".py", ".script", ".sh", ".toml", ".ts", ".tsx", ".txt", ".yml"}
NOT_OURS = ("tests/vectors/published/", "tests/fuzz/seeds/", "web/dist/")

# The second of a range (W3-W5) is a mark too.
MARK = re.compile(r"(?:(?<![\w%\\/+=-])|(?<=[RIJLW]\d-))([RIJLW]\d{1,2}[a-z]?)(?![\w+/=])")
LIST = r"(?:\s*-\s*|,\s*|,?\s+(?:to|and|or)\s+)"
ROWS = re.compile(rf"\b[Rr]ows?\s+(\d\d?[a-z]?(?:{LIST}\d\d?[a-z]?)*)\b")
DECISIONS = re.compile(rf"\b[Dd]ecisions?\s+\d+(?:{LIST}\d+)*\b|\bdecisions/\d{{4}}\b")
BARE_DECISION = re.compile(r"(?<![\w./-])(00\d\d)(?![\w-])")  # in docs/decisions itself
DOCUMENT = re.compile(r"(?<![\w<{*$])(?:[\w.-]+/)*[\w-]+\.md\b")


def prose_of(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


class Document:
    """The headings, marks and rows of a Markdown file, to which texts refer."""

    def __init__(self, text):
        prose = prose_of(text)
        headings = [match[1].strip() for match in re.finditer(r"^#+ (.*)$", prose, re.M)]
        self.titles = set()
        for heading in headings:
            plain = heading.replace("`", "").replace("*", "")
            without_mark = re.sub(r"^[A-Z]?\d+[a-z]?[.:]? +", "", plain)
            self.titles |= {plain, without_mark, re.sub(r" \(.*\)$", "", without_mark)}
        self.anchors = {self.slug(heading) for heading in headings}
        # A heading that begins with it, the first cell of a row, or a paragraph or an item that
        # begins with it in bold.
        defined = r"^(?:#+ |\| *[*`]*|(?:[*-] +)?\*\*)([A-Z]\d{1,2}[a-z]?)\b"
        self.marks = set(re.findall(defined, prose, re.M))
        section = re.search(r"^(#+) R11\b.*?$(.*?)(?=^#{1,2} |\Z)", prose, re.S | re.M)
        self.rows = set(re.findall(r"^\| *[*`]*(\d+[a-z]?)[*`]* *\|", section[2] if section else "",
                                   re.M))

    @staticmethod
    def slug(heading):
        """GitHub's anchor of a heading."""
        kept = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        return kept.strip().replace(" ", "-")


@functools.lru_cache(maxsize=None)
def document(path):
    return Document(path.read_text())


def decision_files(root):
    return sorted(path for path in (root / "docs/decisions").glob("*.md")
                  if path.name != "README.md")


def texts(root):
    """The names of all files, and the texts of those that people write: code, documents."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"],
                         capture_output=True)
    if git.returncode == 0:
        names = sorted(filter(None, git.stdout.decode().split("\0")))
    else:
        names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))
    written = []
    for name in names:
        path = root / name
        if name.startswith(("build/",) + NOT_OURS) or not path.is_file():
            continue
        if path.suffix in TEXTS or (not path.suffix and path.read_bytes()[:2] == b"#!"):
            written.append((name, path.read_text(errors="replace")))
    return names, written


class References:
    """Looks up everything that the texts of one tree refer to."""

    def __init__(self, root):
        self.root = root
        names, self.written = texts(root)
        self.markdown = [name for name in names if name.endswith(".md")]
        self.decisions = {int(path.name[:4]) for path in decision_files(root)
                          if path.name[:4].isdigit()}

    def spec(self, name):
        """The document docs/spec/`name`; None if it is missing."""
        path = self.root / "docs/spec" / name
        return document(path) if path.exists() else None

    def resolve(self, here, name):
        """The document that `name` means in the file `here`; None if it is missing."""
        tail = re.sub(r"^(\.{1,2}/)+", "", name)
        for path in (f"docs/spec/{tail}", (pathlib.PurePosixPath(here).parent / tail).as_posix(),
                     f"docs/{tail}", tail):
            if path in self.markdown:
                return path
        return next((path for path in self.markdown if path.endswith("/" + tail)), None)

    def sections(self, name, after):
        """Faults of the sections that a text names after its name: `, Title and Title`."""
        titles = document(self.root / name).titles
        while match := re.match(r"(?:,|,? and)\s+(?=[A-Z]\w*[a-z])", after):
            if MARK.match(after, match.end()) or DOCUMENT.match(after, match.end()):
                return
            rest = re.sub(r"\s+", " ", after[match.end():])
            found = [title for title in titles
                     if re.match(re.escape(title) + r"(?!\w)", rest)]
            if not found:
                yield f"{name} has no section '{rest[:40].strip()}'"
                return
            after = rest[len(max(found, key=len)):]

    def names(self, here, flat):
        for match in DOCUMENT.finditer(flat):
            after = flat[match.end():match.end() + 200]
            path = self.resolve(here, match[0])
            if path is None:
                yield match.start(), f"{match[0]} is not there"
                continue
            if path.startswith("docs/") and not path.startswith("docs/decisions/"):
                for fault in self.sections(path, after):
                    yield match.start(), fault
            mark = MARK.match(after, len(after) - len(after.lstrip(", ")))
            owner = mark and MARKS[mark[1][0]]
            if mark and path.startswith("docs/spec/") and not path.endswith("/" + owner):
                yield match.start(), f"{mark[1]} is a mark of {owner}, not of {match[0]}"

    def marks(self, flat):
        for match in MARK.finditer(flat):
            owner = self.spec(MARKS[match[1][0]])
            if owner and match[1] not in owner.marks:
                yield match.start(), f"{match[1]}: docs/spec/{MARKS[match[1][0]]} has no such mark"

    def rows(self, flat):
        rules = self.spec("rules.md")
        for match in ROWS.finditer(flat) if rules else ():
            for row in re.findall(r"\d+[a-z]?", match[1]):
                if row not in rules.rows:
                    yield match.start(), f"row {row}: the table of R11 has no such row"

    def numbered(self, here, flat):
        found = list(DECISIONS.finditer(flat))
        if here.startswith("docs/decisions/"):
            found += BARE_DECISION.finditer(flat)
        for match in found:
            for number in re.findall(r"\d+", match[0]):
                if int(number) not in self.decisions:
                    yield match.start(), f"decision {int(number)} is not there"

    def faults(self):
        for name in SPEC:
            if self.spec(name) is None:
                yield f"docs/spec/{name}: missing"
        for here, text in self.written:
            # A comment is one line; offsets stay, so that they give the line of the file.
            flat = re.sub(r"\n[ \t]*(?:\*(?![*/])|#(?!#)|//)?[ \t]*",
                          lambda match: " " * len(match[0]), text)
            ends = [match.start() for match in re.finditer("\n", text)]
            for offset, fault in sorted({*self.names(here, flat), *self.marks(flat),
                                         *self.rows(flat), *self.numbered(here, flat)}):
                yield f"{here}:{bisect.bisect_left(ends, offset) + 1}: {fault}"

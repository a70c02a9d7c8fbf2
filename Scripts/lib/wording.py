"""Checks that comments and articles name who is meant, where they would say "others". Usage: wording.py

"Others" stands for a noun that the reader has to guess: contexts, processes, writers, users, observers, rows. Looks at the comments of
symbols in Sources, public and internal ones, at all other comments there, at the articles, at README.md and at CONTRIBUTING.md, and fails on
each line with the word outside of the phrases below.
"""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]

WORD = re.compile(r"\bothers\b", re.I)

# What may stay, each with its reason. A phrase may begin in the line before.
ALLOWED = [
    # With an article it takes up a noun of the same sentence: "some of the queries change, and the others stay".
    r"\bthe others\b",
    # It is the rest of what the sentence has named: "below all other stamps" where "stamps" would be said twice.
    r"\ball others\b",
    # Likewise: "the stamps of its own entity, and no others".
    r"\bno others\b",
    # The name of a parameter, of a label or of a variable.
    r"^- (Parameter )?others:",
    r"`[^`]*`",
    # The name of a guarantee, whose page says that users are meant.
    r"\bnothing of others\b",
    # The word itself, where CONTRIBUTING.md speaks of it.
    r"\"others\"",
]
PHRASES = re.compile("|".join(ALLOWED), re.I)

# A comment, without what a text may contain: "https://…".
COMMENT = re.compile(r"(?:^|\s)//+ ?(.*)")


def comments(text):
    """The number of each line with a comment, and the comment; an empty one for a line without."""
    for number, line in enumerate(text.splitlines(), 1):
        match = COMMENT.search(line)
        yield number, match.group(1).strip() if match else ""


def lines(text):
    """The number of each line of an article, and the line; of one inside of a block of code the comment."""
    isCode = False
    for (number, comment), line in zip(comments(text), text.splitlines()):
        if line.startswith("```"):
            isCode = not isCode
        yield number, comment if isCode else line.strip()


def findings(numbered):
    """The number of each line with the bare word, and the line."""
    before = ""
    for number, line in numbered:
        # Its last word only, which belongs to a phrase that goes on in this line.
        last = before.rsplit(" ", 1)[-1]
        if WORD.search(line) and WORD.search(PHRASES.sub("", f"{last} {line}" if WORD.match(line) else line)):
            yield number, line
        before = line


def main():
    found = 0
    articles = [root / "README.md", root / "CONTRIBUTING.md", *(root / "Sources").rglob("*.md")]
    places = [(path, comments) for path in (root / "Sources").rglob("*.swift")] + [(path, lines) for path in articles]
    for path, split in sorted(places, key=lambda place: place[0]):
        for number, line in findings(split(path.read_text())):
            print(f"{path.relative_to(root)}:{number}: says \"others\" and not who: {line}", file=sys.stderr)
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

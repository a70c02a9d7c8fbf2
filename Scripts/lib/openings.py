"""Checks how the comments of symbols begin, internal ones too. Usage: openings.py

A summary says what a symbol is, or what it does. It begins neither like a question nor with a word that stands for another one, and
needs no neighbour. Fails on each comment of a symbol in Sources that begins so.
"""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]

# A summary says what a symbol is, or what it does.
QUESTION = re.compile(
    r"(What|How|Who|Whom|Where|When|Which|Why|By which|As|See|It|They|Others|Whether it|The same|Those|That of)\b"
)


def findings(text):
    """The number of each line that begins the comment of a symbol so, and its text."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("///") and not before.startswith("///") and QUESTION.match(line[3:].strip()):
            yield number, line
        before = line


def main():
    found = 0
    for path in sorted((root / "Sources").rglob("*.swift")):
        for number, line in findings(path.read_text()):
            print(f"{path.relative_to(root)}:{number}: no noun and no verb: {line}", file=sys.stderr)
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

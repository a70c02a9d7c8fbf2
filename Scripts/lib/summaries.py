"""Counts the public symbols without a summary, and those that throw without saying what. Usage: summaries.py FOLDER

FOLDER has a folder of symbol graphs for each module. A member may inherit its comment from the protocol that requires it or the
class that it overrides; what the compiler adds (members of other modules' protocols, derived conformances) does not count. Fails if
a symbol has no summary, or one that begins like a question or needs its neighbour, and if a function that throws has no line
'- Throws:'. One such line is enough for the overloads of a type with the same name and labels, and a comment may refer to a member
of the same name that has it: "See ``start()``."
"""

import json
import pathlib
import re
import sys

from openings import QUESTION


def symbols(folder):
    """The symbols that a module declares, and for each that implements a requirement, that requirement."""
    declared, required = {}, {}
    for file in sorted(folder.glob("*.symbols.json")):
        graph = json.loads(file.read_text())
        for symbol in graph["symbols"]:
            name = symbol["identifier"]["precise"]
            if "::SYNTHESIZED::" not in name and "location" in symbol:
                declared[name] = symbol
        for relation in graph["relationships"]:
            if "sourceOrigin" in relation:
                required[relation["source"]] = relation["sourceOrigin"]["identifier"]
    return declared, required


def summary(symbol):
    """The first line of a comment; empty where it begins with a list of parameters."""
    texts = (line["text"].strip() for line in symbol.get("docComment", {}).get("lines", []))
    first = next(filter(None, texts), "")
    return "" if first.startswith("-") else first


def comment(symbol):
    """The comment of a symbol as one text."""
    return "\n".join(line["text"].strip() for line in symbol.get("docComment", {}).get("lines", []))


def throws(symbol):
    """Whether a symbol throws itself, and not only a closure that it takes or is. What rethrows throws what its closure does."""
    kind = symbol["kind"]["identifier"]
    if kind in ("swift.typealias", "swift.macro"):
        return False
    depth, isProperty = 0, "property" in kind
    for fragment in symbol.get("declarationFragments", []):
        text = fragment["spelling"]
        if depth == (1 if isProperty else 0):
            if fragment["kind"] == "keyword" and text == "throws":
                return True
            if "->" in text and not isProperty:
                return False
        opening, closing = ("{", "}") if isProperty else ("(", ")")
        depth += text.count(opening) - text.count(closing)
    return False


def title(symbol):
    """The name of a member with its labels."""
    return symbol["pathComponents"][-1]


def says_errors(symbol):
    """Whether the comment of a symbol says what it throws."""
    return re.search(r"^- Throws:", comment(symbol), re.M) is not None


def refers(symbol, everything):
    """Whether the comment of a symbol refers to a member of its name, or to a type with one, that says what it throws."""
    name = title(symbol).split("(")[0]
    for link in re.findall(r"See\s[^.]*?``([^`]+)``", comment(symbol)):
        path = link.strip("/").split("/")
        for other in everything:
            parts = other["pathComponents"]
            found = parts[-len(path):] == path or parts[:-1][-len(path):] == path
            if found and parts[-1].split("(")[0] == name and other is not symbol and says_errors(other):
                return True
    return False


def place(symbol, module):
    """The place of a symbol, for people."""
    path = symbol["location"]["uri"].split("/Sources/")[-1]
    line = symbol["location"]["position"]["line"] + 1
    return f"Sources/{path}:{line}: {module}: {'.'.join(symbol['pathComponents'])}"


def main(folder):
    modules = {path.name: symbols(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    everything = {name: symbol for declared, _ in modules.values() for name, symbol in declared.items()}
    families = {
        (*symbol["pathComponents"],) for symbol in everything.values() if throws(symbol) and says_errors(symbol)
    }
    count, missing = 0, []
    for module, (declared, required) in modules.items():
        # Such as that of a build without the trait that a module needs.
        if not declared:
            missing.append(f"{module} has no public symbol")
        for name, symbol in declared.items():
            count += 1
            origin = required.get(name)
            # A requirement of a module that is not looked at, such as the standard library's, is documented there.
            inherits = origin is not None and (origin not in everything or summary(everything[origin]))
            text = summary(symbol)
            if QUESTION.match(text):
                missing.append(f"{place(symbol, module)} has a summary that is no noun and no verb: {text}")
            elif not text and not inherits:
                missing.append(f"{place(symbol, module)} has no summary")
            # What another module requires is documented there.
            isForeign = origin is not None and origin not in everything
            isSilent = (*symbol["pathComponents"],) not in families and not refers(symbol, everything.values())
            if text and not isForeign and throws(symbol) and isSilent:
                missing.append(f"{place(symbol, module)} throws, and does not say what")
    for line in missing:
        print(line, file=sys.stderr)
    if missing:
        print(f"{len(missing)} findings among {count} public symbols")
    else:
        print(f"all {count} public symbols have a summary, and say what they throw")
    return 1 if missing or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))

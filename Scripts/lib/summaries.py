"""Counts the public symbols without a summary, by module. Usage: summaries.py FOLDER

FOLDER has a folder of symbol graphs for each module. A member may inherit its summary from the protocol that requires it; what
the compiler adds (members of other modules' protocols, derived conformances) does not count. Fails if a symbol has none, or one
that begins like a question or needs its neighbour.
"""

import json
import pathlib
import re
import sys

# A summary says what a symbol is, or what it does.
QUESTION = re.compile(r"(What|How|Who|Whom|Where|When|Which|Why|By which|As|See|It|They|Others|Whether it|The same)\b")


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


def place(symbol, module):
    """The place of a symbol, for people."""
    path = symbol["location"]["uri"].split("/Sources/")[-1]
    line = symbol["location"]["position"]["line"] + 1
    return f"Sources/{path}:{line}: {module}: {'.'.join(symbol['pathComponents'])}"


def main(folder):
    modules = {path.name: symbols(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    everything = {name: symbol for declared, _ in modules.values() for name, symbol in declared.items()}
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
    for line in missing:
        print(line, file=sys.stderr)
    if missing:
        print(f"{len(missing)} findings among {count} public symbols")
    else:
        print(f"all {count} public symbols have a summary")
    return 1 if missing or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))

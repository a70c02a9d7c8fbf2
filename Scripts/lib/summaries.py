"""Counts the public symbols without a summary, by module. Usage: summaries.py FOLDER

FOLDER has a folder of symbol graphs for each module. A member may inherit its summary from the protocol that requires it; what
the compiler adds (members of other modules' protocols, derived conformances) does not count. Fails if a symbol has none.
"""

import json
import pathlib
import sys


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


def has_summary(symbol):
    """Whether a comment begins with a sentence, and not with a list of parameters."""
    texts = (line["text"].strip() for line in symbol.get("docComment", {}).get("lines", []))
    return not next(filter(None, texts), "-").startswith("-")


def main(folder):
    modules = {path.name: symbols(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    everything = {name: symbol for declared, _ in modules.values() for name, symbol in declared.items()}
    count, missing = 0, []
    for module, (declared, required) in modules.items():
        for name, symbol in declared.items():
            count += 1
            origin = required.get(name)
            # A requirement of a module that is not looked at, such as the standard library's, is documented there.
            inherits = origin is not None and (origin not in everything or has_summary(everything[origin]))
            if not has_summary(symbol) and not inherits:
                location = symbol["location"]
                path = location["uri"].split("/Sources/")[-1]
                line = location["position"]["line"] + 1
                missing.append(f"Sources/{path}:{line}: {module}: {'.'.join(symbol['pathComponents'])} has no summary")
    for line in missing:
        print(line, file=sys.stderr)
    if count == 0:
        print("no symbols were found", file=sys.stderr)
        return 1
    print(f"{count - len(missing)} of {count} public symbols have a summary")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))

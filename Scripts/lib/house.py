"""Checks that each folder of a module uses only the folders below it. Usage: house.py

The order of the folders is that of the layout in CONTRIBUTING.md: each folder is listed after those it uses, and files beside the
folders count as the lowest. A use is the name of a type of another folder; a nested type is named with its outer type, or
within it. Uses against the order stand in house.txt, each with its reason. Fails on a use that is not listed, on a
listed use that is gone, on a folder that the layout does not list, and on more exceptions than a module may have.
"""

import collections
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
most = collections.defaultdict(lambda: 5, Concord=10)

noise = re.compile(r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|(?m:^ *#(?:else)?if [^\n]*)', re.S)
attributes = r"(?:@\w+(?:\([^)]*\))?\s+|#?\b(?:public|package|open|internal|private|fileprivate|final|indirect|nonisolated)(?:\(\w+\))?\s+)*"
declaration = re.compile(
    rf"^( *){attributes}(extension|class|struct|enum|protocol|actor|typealias) (`?\w+`?(?:\.\w+)*)([^\n{{]*)", re.M
)
parameters = re.compile(r"\b(?:func \S+?|init\??|struct \w+|class \w+|enum \w+|actor \w+|subscript|macro \w+)\s*<([^>()]*)>")


def layout():
    """The folders of each module, from the lowest to the highest."""
    rooms, module = collections.defaultdict(list), None
    for line in (root / "CONTRIBUTING.md").read_text().splitlines():
        if found := re.match(r"Sources/(\w+)/", line):
            module = found[1]
        elif not line.startswith("  "):
            module = None
        elif module and (found := re.match(r"  ((?:\w+/(?:, )?)+)", line)):
            rooms[module] += found[1].replace("/", "").split(", ")
    return rooms


def exceptions():
    """Of each module the uses that are allowed, (folder, other folder, name), and the lines without a reason below them."""
    allowed, unexplained, module = collections.defaultdict(set), [], None
    lines = (root / "Scripts/lib/house.txt").read_text().splitlines()
    for index, line in enumerate(lines):
        if found := re.match(r"(\w+|\.) -> (\w+): (\w+(?:, \w+)*)$", line):
            allowed[module] |= {(found[1], found[2], name) for name in found[3].split(", ")}
            # Several uses may share a reason.
            below = next((other for other in lines[index + 1 :] if " -> " not in other), "")
            if not below.startswith("  "):
                unexplained.append(line)
        elif line and not line.startswith((" ", "#")):
            module = line
    return allowed, unexplained


class File:
    """What one file declares, extends and mentions."""

    def __init__(self, path, room):
        self.room = room
        text = noise.sub(lambda found: '""' if found[0].startswith('"') else " ", path.read_text())
        self.declared, self.inside, outer = set(), set(), []
        for spaces, kind, name, _ in declaration.findall(text):
            name, depth = name.strip("`"), len(spaces)
            outer = [(d, n) for d, n in outer if d < depth]
            if kind == "extension":
                self.inside.add(name.split(".")[-1])
            else:
                self.declared.add((outer[-1][1] if outer else None, name))
                self.inside.add(name)
            outer.append((depth, name.split(".")[-1]))
        generic = {name for found in parameters.findall(text) for name in re.findall(r"\b[A-Z]\w*", re.sub(r":[^,]*", "", found))}
        # What follows a dot is named with its outer type.
        self.names = set(re.findall(r"(?<![.\w])[A-Z]\w*", text)) - generic
        self.qualified = set(re.findall(r"\b([A-Z]\w*)(?:<[^<>]*>)?\.(?=([A-Z]\w*))", text))

    def mentions(self, outer, name, module):
        unqualified = name in self.names and (outer is None or outer in self.inside)
        return unqualified or (outer or module, name) in self.qualified


def uses(module):
    """What each folder uses of others: a set of names by pair of folders."""
    folder = root / "Sources" / module
    files = []
    for path in sorted(folder.rglob("*.swift")):
        parts = path.relative_to(folder).parts
        files.append(File(path, parts[0] if len(parts) > 1 else "."))
    owners = collections.defaultdict(set)
    for file in files:
        for declared in file.declared:
            owners[declared].add(file.room)
    found = collections.defaultdict(set)
    for (outer, name), rooms in owners.items():
        for file in files:
            # What a folder declares itself is its own, whoever else has the name.
            if file.room not in rooms and file.mentions(outer, name, module):
                found[file.room, frozenset(rooms)].add(name)
    return {file.room for file in files}, found


def check(module, order, allowed):
    problems, seen = [], set()
    rooms, found = uses(module)
    height = {room: index for index, room in enumerate([".", *order])}
    for room in sorted(rooms - height.keys()):
        problems.append(f"{module}/{room} is not in the layout of CONTRIBUTING.md")
    for room in sorted(height.keys() - rooms - {"."}):
        problems.append(f"{module}/{room} is in the layout of CONTRIBUTING.md, and has no files")
    if problems:
        return problems
    for (room, owners), names in sorted(found.items(), key=lambda item: (item[0][0], sorted(item[0][1]))):
        owner = min(owners, key=height.get)
        if height[owner] > height[room]:
            seen |= {(room, owner, name) for name in names}
    for room, owner, name in sorted(seen - allowed):
        problems.append(f"{module}: {room} uses {name} of {owner}, which is above it")
    for room, owner, name in sorted(allowed - seen):
        problems.append(f"{module}: {room} does not use {name} of {owner} any longer: take it out of Scripts/lib/house.txt")
    if len(seen) > most[module]:
        problems.append(f"{module}: {len(seen)} names are used against the order, and at most {most[module]} may be")
    print(f"{module}: {len(seen)} names used against the order")
    return problems


def main():
    rooms, (allowed, unexplained) = layout(), exceptions()
    problems = [problem for module in sorted(rooms) for problem in check(module, rooms[module], allowed[module])]
    problems += [f"Scripts/lib/house.txt lists {module}, which has no folders" for module in allowed.keys() - rooms.keys()]
    problems += [f"Scripts/lib/house.txt: '{line}' has no reason" for line in unexplained]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""Prints what a target of the package compiles and another one does not, whatever the traits, one a line.

Usage: dependencies.py TARGET OTHER < MANIFEST, which `swift package dump-package` prints
"""

import json
import sys


def dependencies(target):
    """The names of the targets of the package that a target needs, and those of the products of others."""
    for dependency in target["dependencies"]:
        # Each is an object with one member, named after its kind, whose first value is the name. Those that follow are the package, and the
        # condition, which is left out of account: a trait may be on.
        for values in dependency.values():
            yield values[0]


def needed(name, targets):
    found, opened = set(), [name]
    while opened:
        name = opened.pop()
        if name in found:
            continue
        found.add(name)
        if name in targets:
            opened += dependencies(targets[name])
    return found


def main():
    name, other = sys.argv[1:]
    targets = {target["name"]: target for target in json.load(sys.stdin)["targets"]}
    for target in (name, other):
        if target not in targets:
            sys.exit(f"the package has no target {target}")
    for found in sorted(needed(name, targets) - needed(other, targets) - {name}):
        print(found)


main()

# shellcheck shell=bash
# The quick start as a reader tries it: pasted into a main.swift, and run.

# paste_quick_start FOLDER: writes two programs and what they are to print, and prints their names: README's quick start as
# it stands there, and the same with the models by hand, which README shows after it.
paste_quick_start() {
  awk -v folder="$1" -f Scripts/lib/quick_start.awk README.md
}

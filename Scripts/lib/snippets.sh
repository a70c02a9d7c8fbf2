# shellcheck shell=bash
# Compiles and runs every Swift snippet of the documentation, in a package that uses Concord as its users do.

# check_snippets: README.md and the articles.
check_snippets() {
  local folder=.build/snippets new=.build/snippets.new document name programs='' pasted manifest
  rm -rf "$new"
  mkdir -p "$new" "$folder"
  for document in README.md Sources/*/*.docc/*.md; do
    if [ ! -e "$document" ]; then continue; fi
    name=Doc$(basename "$document" .md | tr -cd 'A-Za-z0-9')
    programs="$programs$(awk -v folder="$new" -v name="$name" -f Scripts/lib/snippets.awk "$PWD/$document")
"
  done
  programs=$(printf '%s' "$programs" | sed '/^$/d')
  pasted=$(paste_quick_start "$new") || fail 'the quick start is not found in README.md'
  programs="$programs
$pasted"
  write_snippet_package "$new/Package.swift" "$programs"
  # Whatever did not change keeps its date, so that it is not built again.
  copy_what_changed "$new" "$folder"
  share_versions "$folder"
  swift_build --package-path "$folder" || fail 'a snippet of the documentation does not compile'
  run_snippets "$folder" "$programs"
  for manifest in "$folder"/manifests/*/Package.swift; do
    if [ ! -e "$manifest" ]; then continue; fi
    swift package --package-path "$(dirname "$manifest")" dump-package > /dev/null ||
      fail "the manifest in $(basename "$(dirname "$manifest")") does not compile"
  done
}

# write_snippet_package FILE PROGRAMS: one executable for each program, with all products.
write_snippet_package() {
  local program products
  products=$(sed -n 's/^ *\.library(name: "\([A-Za-z]*\)".*/  .product(name: "\1", package: "Concord"),/p' Package.swift)
  {
    printf '// swift-tools-version: 6.2\nimport PackageDescription\n\n'
    printf 'let products: [Target.Dependency] = [\n%s\n]\n\n' "$products"
    printf 'let package = Package(\n  name: "Snippets",\n  platforms: [.macOS(.v15)],\n'
    printf '  dependencies: [.package(name: "Concord", path: "%s")],\n  targets: [\n' "$PWD"
    for program in $2; do
      printf '    .executableTarget(name: "%s", dependencies: products, exclude: ["expected"]),\n' "$program"
    done
    printf '  ])\n'
  } > "$1"
}

# copy_what_changed FROM TO: makes TO equal to FROM except for its build folder, and touches only what differs.
copy_what_changed() {
  local path
  (cd "$2" && find . -name '.build' -prune -o -name 'Package.resolved' -o -type f -print) | while IFS= read -r path; do
    if [ ! -e "$1/$path" ]; then rm -f "$2/$path"; fi
  done
  (cd "$1" && find . -type f) | while IFS= read -r path; do
    if ! cmp -s "$1/$path" "$2/$path"; then
      mkdir -p "$(dirname "$2/$path")"
      cp "$1/$path" "$2/$path"
    fi
  done
}

# run_snippets FOLDER PROGRAMS: each prints what its document says it prints.
run_snippets() {
  local program binaries
  binaries=$(swift_build --package-path "$1" --show-bin-path)
  for program in $2; do
    "$binaries/$program" > "$1/output" || fail "the snippets of $program compile, but fail when they run"
    # Observers may be called on other threads, so the lines count and not their order.
    sort "$1/output" > "$1/output.sorted"
    sort "$1/Sources/$program/expected" > "$1/expected.sorted"
    diff "$1/expected.sorted" "$1/output.sorted" ||
      fail "the snippets of $program print something else than their document says (< says, > prints)"
    note "$program: $(wc -l < "$1/output" | tr -d ' ') printed lines as documented"
  done
}

# shellcheck shell=bash
# Compiles and runs every Swift snippet of the documentation, in a package that uses Concord as its users do.

# check_snippets: README.md and the articles.
check_snippets() {
  local folder=.build/snippets new=.build/snippets.new document name found programs='' pasted manifest
  rm -rf "$new"
  mkdir -p "$new" "$folder"
  for document in README.md Sources/*/*.docc/*.md; do
    if [ ! -e "$document" ]; then continue; fi
    name=Doc$(basename "$document" .md | tr -cd 'A-Za-z0-9')
    found=$(awk -v folder="$new" -v name="$name" -v root="$PWD/" -f Scripts/lib/snippets.awk "$PWD/$document") ||
      fail "the blocks of $document do not show what they import"
    programs="$programs$found
"
  done
  programs=$(printf '%s' "$programs" | sed '/^$/d')
  pasted=$(paste_quick_start "$new") || fail 'the quick start is not found in README.md'
  programs="$programs
$pasted"
  check_excerpts "$new"
  write_snippet_package "$new/Package.swift" "$programs"
  # Whatever did not change keeps its date, so that it is not built again.
  copy_what_changed "$new" "$folder"
  share_versions "$folder"
  swift_build --package-path "$folder" || fail 'a snippet of the documentation does not compile'
  run_snippets "$folder" "$programs"
  check_pasted "$folder"
  for manifest in "$folder"/manifests/*/Package.swift; do
    if [ ! -e "$manifest" ]; then continue; fi
    swift package --package-path "$(dirname "$manifest")" dump-package > /dev/null ||
      fail "the manifest in $(basename "$(dirname "$manifest")") does not compile"
  done
}

# check_excerpts FOLDER: each stands in its file as it stands in its document, whatever the indentation. The imports above it are among
# those of the file, and of the package's modules that the file imports one is shown there, or above an earlier excerpt of the document.
check_excerpts() {
  local excerpt file place text name imported document='' shown='' isShown
  for excerpt in "$1"/excerpts/*; do
    if [ ! -e "$excerpt" ]; then continue; fi
    { IFS= read -r file && IFS= read -r place; } < "$excerpt"
    if [ ! -e "$file" ]; then fail "$place: an excerpt is said to be from $file, which is not there"; fi
    if [ "$document" != "${place%:*}" ]; then
      document=${place%:*}
      shown=''
    fi
    imported=$(imported_modules "$file" | tr '\n' ' ')
    for name in $(tail -n +3 "$excerpt" | awk '/^import / { print $2; next } /[^ ]/ { exit }'); do
      shown="$shown $name"
      if [[ " $imported" != *" $name "* ]]; then fail "$place: an excerpt imports $name, and $file does not"; fi
    done
    isShown=no
    for name in $imported; do
      if [[ $name == Concord* && " $shown " == *" $name "* ]]; then isShown=yes; fi
    done
    if [ "$isShown" = no ]; then fail "$place: an excerpt shows no import of the package, as $file has it"; fi
    text=$(tail -n +3 "$excerpt" | awk '!isCode && (/^import / || !/[^ ]/) { next } { isCode = 1; sub(/^ */, ""); print }')
    if [[ $(sed 's/^ *//' "$file") != *"$text"* ]]; then
      fail "$place: an excerpt is not what stands in $file:
$(tail -n +3 "$excerpt")"
    fi
  done
}

# imported_modules FILE: prints the names of the modules that a Swift file imports.
imported_modules() {
  sed -nE 's/^ *((public|package|internal|private|@testable) )*import ([A-Za-z]+)$/\3/p' "$1"
}

# check_pasted FOLDER: the blocks of each program compile as a main.swift, where top-level code belongs to the main actor.
check_pasted() {
  local modules plugin maps='' map script
  modules=$(swift_build --package-path "$1" --show-bin-path)
  plugin="$modules/ConcordMacrosPlugin-tool"
  for map in "$root"/.build/checkouts/GRDB.swift/Sources/GRDBSQLite/module.modulemap \
    "$modules"/COpenCombineHelpers.build/module.modulemap; do
    if [ -e "$map" ]; then maps="$maps -Xcc -fmodule-map-file=$map"; fi
  done
  for script in "$1"/pasted/*/main.swift; do
    # shellcheck disable=SC2086 # several options
    swiftc -typecheck -swift-version 6 -I "$modules/Modules" $maps \
      -load-plugin-executable "$plugin#ConcordMacrosPlugin" "$script" ||
      fail "the blocks of $(basename "$(dirname "$script")") do not compile as a reader pastes them into a main.swift"
  done
}

# write_snippet_package FILE PROGRAMS: one executable for each program, with all products.
write_snippet_package() {
  local program products
  products=$(sed -n 's/^ *\.library(name: "\([A-Za-z]*\)".*/  .product(name: "\1", package: "Concord"),/p' Package.swift)
  {
    printf '// swift-tools-version: 6.2\nimport PackageDescription\n\n'
    printf 'let products: [Target.Dependency] = [\n%s\n]\n\n' "$products"
    # What another file of the program imports is not visible, nor are the members that come with it.
    printf 'let strict: [SwiftSetting] = [.enableUpcomingFeature("MemberImportVisibility")]\n\n'
    printf 'let package = Package(\n  name: "Snippets",\n  platforms: [.macOS(.v15)],\n'
    printf '  traits: [.trait(name: "PostgreSQL"), .default(enabledTraits: [])],\n'
    printf '  dependencies: [.package(name: "Concord", path: "%s", traits: [.defaults, %s])],\n  targets: [\n' "$PWD" \
      '.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))'
    for program in $2; do
      printf '    .executableTarget(name: "%s", dependencies: products, exclude: ["expected"], swiftSettings: strict),\n' "$program"
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

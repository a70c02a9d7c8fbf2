# shellcheck shell=bash
# Builds the documentation with the toolchain's own docc, so that the package needs no plug-in for it.

# find_docc: prints the command, or nothing where the toolchain has none.
find_docc() {
  if have_command xcrun; then
    xcrun --find docc 2> /dev/null || true
  elif have_command docc; then
    command -v docc
  else
    local beside
    beside=$(dirname "$(command -v swift)")/docc
    if [ -x "$beside" ]; then printf '%s\n' "$beside"; fi
  fi
}

# library_modules: prints the modules of the package's libraries. ConcordPostgreSQL is empty where libpq is missing.
library_modules() {
  sed -n 's/.*\.library(name: "\([^"]*\)".*/\1/p' Package.swift | while read -r module; do
    if [ "$module" != ConcordPostgreSQL ] || have_libpq; then printf '%s\n' "$module"; fi
  done
}

# Those that are empty but where the tests of synchronisation are built, since they need the traits Server and Inspector.
server_modules='ConcordServer ConcordInspector'

# build_server_modules: builds these, unless that is done or being done in the background.
build_server_modules() {
  local module
  if [ -n "$server_build" ]; then
    finish_building_server
    return
  fi
  write_server_package
  share_versions "$server_package" Examples/Bookstore
  for module in $server_modules; do swift_build_server --package-path "$server_package" --target "$module"; done
}

# extract_symbols FOLDER: writes the symbol graphs of all libraries, which have been built for debugging.
extract_symbols() {
  local binaries server_binaries module
  binaries=$(swift_build --show-bin-path)
  server_binaries=$(swift_build_server --package-path "$server_package" --show-bin-path)
  rm -rf "$1"
  for module in $(library_modules); do
    case " $server_modules " in
      *" $module "*) extract_module "$module" "$1" "$server_package/.build" "$server_binaries" ;;
      *) extract_module "$module" "$1" .build "$binaries" ;;
    esac
  done
}

# extract_module MODULE FOLDER BUILD BINARIES: writes the symbol graphs of a module that has been built into a folder.
extract_module() {
  local module=$1 graphs=$2 build=$3 binaries=$4 triple sdk=() headers=() found
  triple=$(swift -print-target-info | sed -n 's/^ *"triple": "\(.*\)",$/\1/p' | head -n 1)
  if have_command xcrun; then
    sdk=(-sdk "$(xcrun --show-sdk-path)")
    triple=$(printf '%s' "$triple" | sed -E 's/-macosx[0-9.]*/-macosx15.0/')
  fi
  # The C modules that the libraries and their dependencies import.
  headers=(-I "$build/checkouts/GRDB.swift/Sources/GRDBSQLite" -I Sources/CCompression)
  if have_libpq; then
    headers+=(-I Sources/CPostgreSQL)
    for found in $(pkg-config --cflags-only-I libpq 2> /dev/null); do headers+=(-Xcc "$found"); done
  fi
  for found in "$build"/checkouts/*/*/include/module.modulemap "$build"/checkouts/*/*/*/include/module.modulemap; do
    if [ -e "$found" ]; then headers+=(-I "${found%/*}"); fi
  done
  for found in "$binaries"/*.build/module.modulemap; do
    case $found in
      *-tool.build/*) ;;
      *) if [ -e "$found" ]; then headers+=(-Xcc "-fmodule-map-file=$found"); fi ;;
    esac
  done
  mkdir -p "$graphs/$module"
  swift symbolgraph-extract -module-name "$module" -I "$binaries/Modules" "${headers[@]}" \
    -target "$triple" ${sdk[@]+"${sdk[@]}"} \
    -minimum-access-level public -output-dir "$graphs/$module" || fail "the symbols of $module cannot be read"
}

# check_summaries FOLDER: that each public symbol has a summary and says what it throws, by the graphs that extract_symbols wrote.
check_summaries() {
  ensure 'Python 3' have_command python3 -- python3 python3
  python3 -B "$root/Scripts/lib/summaries.py" "$1" || fail 'public symbols have no summary, or do not say what they throw'
}

# build_documentation OUTPUT: converts the catalogs of the modules into folders of OUTPUT. They link to each other, those that come
# later to those before. The modules have been built for debugging, but for those of synchronisation, which this builds where nobody else
# has. Warnings are errors, and so is a symbol without a summary, or one that throws without saying what.
build_documentation() {
  local docc graphs=.build/symbol-graphs module catalog options=()
  build_server_modules
  extract_symbols "$graphs"
  check_summaries "$graphs"
  docc=$(find_docc)
  if [ -z "$docc" ]; then
    note 'this toolchain has no docc, so the documentation is not built'
    return
  fi
  mkdir -p "$1"
  for module in Concord ConcordMacros ConcordModel ConcordPersistence ConcordConnect $(if have_libpq; then echo ConcordPostgreSQL; fi) \
    ConcordSync $server_modules; do
    catalog=()
    if [ -d "Sources/$module/$module.docc" ]; then catalog=("Sources/$module/$module.docc"); fi
    "$docc" convert ${catalog[@]+"${catalog[@]}"} --additional-symbol-graph-dir "$graphs/$module" \
      --output-path "$1/$module.doccarchive" --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
      --enable-experimental-external-link-support ${options[@]+"${options[@]}"} --warnings-as-errors ||
      fail "the documentation of $module has warnings"
    options+=(--dependency "$1/$module.doccarchive")
  done
}

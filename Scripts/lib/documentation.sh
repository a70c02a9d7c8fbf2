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

# library_modules: prints the modules of the package's libraries.
library_modules() { sed -n 's/.*\.library(name: "\([^"]*\)".*/\1/p' Package.swift; }

# extract_symbols FOLDER: writes the symbol graphs of all libraries, which have been built for debugging.
extract_symbols() {
  local binaries triple sdk=() headers=() module
  binaries=$(swift_build --show-bin-path)
  triple=$(swift -print-target-info | sed -n 's/^ *"triple": "\(.*\)",$/\1/p' | head -n 1)
  if have_command xcrun; then
    sdk=(-sdk "$(xcrun --show-sdk-path)")
    triple=$(printf '%s' "$triple" | sed -E 's/-macosx[0-9.]*/-macosx15.0/')
  fi
  # The C modules that the libraries' dependencies import.
  headers=(-I .build/checkouts/GRDB.swift/Sources/GRDBSQLite)
  if have_libpq; then
    headers+=(-I Sources/CPostgreSQL)
    for module in $(pkg-config --cflags-only-I libpq 2> /dev/null); do headers+=(-Xcc "$module"); done
  fi
  for module in "$binaries"/*.build/module.modulemap; do
    case $module in
      *-tool.build/*) ;;
      *) if [ -e "$module" ]; then headers+=(-Xcc "-fmodule-map-file=$module"); fi ;;
    esac
  done
  rm -rf "$1"
  for module in $(library_modules); do
    mkdir -p "$1/$module"
    swift symbolgraph-extract -module-name "$module" -I "$binaries/Modules" "${headers[@]}" \
      -target "$triple" ${sdk[@]+"${sdk[@]}"} \
      -minimum-access-level public -output-dir "$1/$module" || fail "the symbols of $module cannot be read"
  done
}

# check_summaries FOLDER: that each public symbol has a summary, by the graphs that extract_symbols wrote.
check_summaries() {
  ensure 'Python 3' have_command python3 -- python3 python3
  python3 -B "$root/Scripts/lib/summaries.py" "$1" || fail 'public symbols have no summary'
}

# build_documentation OUTPUT: converts the catalogs of the modules into folders of OUTPUT. They link to each other, those that come
# later to those before. The modules have been built for debugging. Warnings are errors, and so is a symbol without a summary.
build_documentation() {
  local docc graphs=.build/symbol-graphs module catalog options=()
  extract_symbols "$graphs"
  check_summaries "$graphs"
  docc=$(find_docc)
  if [ -z "$docc" ]; then
    note 'this toolchain has no docc, so the documentation is not built'
    return
  fi
  mkdir -p "$1"
  for module in Concord ConcordMacros ConcordModel ConcordPersistence ConcordConnect $(if have_libpq; then echo ConcordPostgreSQL; fi); do
    catalog=()
    if [ -d "Sources/$module/$module.docc" ]; then catalog=("Sources/$module/$module.docc"); fi
    "$docc" convert ${catalog[@]+"${catalog[@]}"} --additional-symbol-graph-dir "$graphs/$module" \
      --output-path "$1/$module.doccarchive" --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
      --enable-experimental-external-link-support ${options[@]+"${options[@]}"} --warnings-as-errors ||
      fail "the documentation of $module has warnings"
    options+=(--dependency "$1/$module.doccarchive")
  done
}

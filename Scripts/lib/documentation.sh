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

# build_documentation OUTPUT: converts the catalogs of the modules into folders of OUTPUT. They link to each other, those that come
# later to those before. The modules have been built for debugging. Warnings are errors.
build_documentation() {
  local docc binaries graphs=.build/symbol-graphs triple sdk=() module catalog options=()
  docc=$(find_docc)
  if [ -z "$docc" ]; then
    note 'this toolchain has no docc, so the documentation is not built'
    return
  fi
  binaries=$(swift_build --show-bin-path)
  triple=$(swift -print-target-info | sed -n 's/^ *"triple": "\(.*\)",$/\1/p' | head -n 1)
  if have_command xcrun; then
    sdk=(-sdk "$(xcrun --show-sdk-path)")
    triple=$(printf '%s' "$triple" | sed -E 's/-macosx[0-9.]*/-macosx15.0/')
  fi
  rm -rf "$graphs"
  mkdir -p "$1"
  for module in Concord ConcordModel ConcordPersistence ConcordConnect; do
    mkdir -p "$graphs/$module"
    # What ConcordPersistence imports, imports SQLite as C.
    swift symbolgraph-extract -module-name "$module" -I "$binaries/Modules" -I .build/checkouts/GRDB.swift/Sources/GRDBSQLite \
      -target "$triple" ${sdk[@]+"${sdk[@]}"} \
      -minimum-access-level public -output-dir "$graphs/$module" || fail "the symbols of $module cannot be read"
    catalog=()
    if [ -d "Sources/$module/$module.docc" ]; then catalog=("Sources/$module/$module.docc"); fi
    "$docc" convert ${catalog[@]+"${catalog[@]}"} --additional-symbol-graph-dir "$graphs/$module" \
      --output-path "$1/$module.doccarchive" --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
      --enable-experimental-external-link-support ${options[@]+"${options[@]}"} --warnings-as-errors ||
      fail "the documentation of $module has warnings"
    options+=(--dependency "$1/$module.doccarchive")
  done
}

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

# build_documentation OUTPUT: converts Concord's catalog. The module has been built for debugging. Warnings are errors.
build_documentation() {
  local docc binaries graphs=.build/symbol-graphs triple sdk=()
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
  mkdir -p "$graphs"
  swift symbolgraph-extract -module-name Concord -I "$binaries/Modules" -target "$triple" ${sdk[@]+"${sdk[@]}"} \
    -minimum-access-level public -output-dir "$graphs" || fail 'the symbols of Concord cannot be read'
  "$docc" convert Sources/Concord/Concord.docc --additional-symbol-graph-dir "$graphs" --output-path "$1" \
    --fallback-display-name Concord --fallback-bundle-identifier concord --warnings-as-errors ||
    fail 'the documentation has warnings'
}

# shellcheck shell=bash
# The proof that swift-syntax is compiled for macros only, GRDB for stores in files only, the parser of arguments for the
# tool only, and a web server for the server's half of synchronisation only.
#
# It builds packages as a user would write them and looks for what the compiler left behind. The same look at the package's
# own build, which has both, must find something, or the proof would prove nothing.

isolation_build=
isolation_log=.build/isolation.log

# start_proving_isolation PROCESS all|some: begins the proof in the background, when another process has ended.
start_proving_isolation() {
  build_in_background "$isolation_log" after "$1" prove_all_isolation "$2"
  isolation_build=$background
}

# check_isolation: after start_proving_isolation.
check_isolation() {
  finish_building "$isolation_build" "$isolation_log" 'packages that use a part of the products'
  grep -E '^    [a-z-]+: neither ' "$isolation_log"
}

# prove_device_alone: that ConcordSync takes nothing that ConcordConnect does not, whatever the traits, by the package's own description. The same
# look at the server's half must find its web server.
prove_device_alone() {
  local manifest=.build/isolation/manifest.json found
  mkdir -p .build/isolation
  # Beside tests, which hold the usual folder of builds.
  swift package --scratch-path .build/isolation/manifest dump-package > "$manifest"
  found=$(python3 -B Scripts/lib/dependencies.py ConcordServer ConcordConnect < "$manifest")
  case $found in
    *Hummingbird*NIOCore*) ;;
    *) fail "the proof is blind: it finds that ConcordServer takes '$found'" ;;
  esac
  found=$(python3 -B Scripts/lib/dependencies.py ConcordSync ConcordConnect < "$manifest") || fail 'no look at ConcordSync'
  if [ -n "$found" ]; then
    fail "ConcordSync compiles what ConcordConnect does not:
$found"
  fi
  note 'device-alone: neither hummingbird nor anything else that ConcordConnect does not take, whatever the traits'
}

# prove_all_isolation all|some: after the package itself has been built with its tests.
prove_all_isolation() {
  prove_device_alone
  if grep -q 'ConcordMacrosPlugin' Package.swift && [ -z "$(compiled_for_macros .build)" ]; then
    fail 'the proof is blind: it does not find what macros need where it was compiled'
  fi
  if [ -z "$(compiled_for_files .build)" ]; then
    fail 'the proof is blind: it does not find what files need where it was compiled'
  fi
  if [ -z "$(compiled_for_tool .build)" ]; then
    fail 'the proof is blind: it does not find what the tool needs where it was compiled'
  fi
  if [ "$1" = all ]; then
    # One by one and optimised, as they are shipped.
    prove_isolation concord-alone release '' Concord
    prove_isolation model-alone release '' ConcordModel
    prove_isolation without-traits release ', traits: []' "${products_without_traits[@]}"
    prove_isolation files-alone release ', traits: ["Persistence"]' ConcordPersistence
  else
    # What entities are described with needs neither, so that the description can stand beside the types.
    prove_isolation with-traits debug '' Concord ConcordModel
    prove_isolation without-traits debug ', traits: []' "${products_without_traits[@]}"
    prove_isolation files-alone debug ', traits: ["Persistence"]' ConcordPersistence
  fi
}

products_without_traits=(Concord ConcordConsistency ConcordCombine ConcordLogging ConcordMacros ConcordConsistencyMacros
  ConcordCohesionKit ConcordModel ConcordPersistence ConcordPersistenceMacros ConcordConnect ConcordConnectLogging
  ConcordTestSupport ConcordPostgreSQL ConcordSync ConcordServer ConcordInspector)

# compiled_for_macros FOLDER: what was compiled of swift-syntax and of the plug-in in a build folder. The build system makes
# folders for all targets it knows of, so only what a compiler wrote counts.
compiled_for_macros() {
  find "$1" \( -path '*/SwiftSyntax*.build/*.o' -o -path '*/ConcordMacrosPlugin*.build/*.o' \
    -o -name 'SwiftSyntax*.swiftmodule' \) -print
}

# compiled_for_files FOLDER: what was compiled of GRDB in a build folder.
compiled_for_files() { find "$1" \( -path '*/GRDB.build/*.o' -o -name 'GRDB.swiftmodule' \) -print; }

# compiled_for_tool FOLDER: what was compiled of swift-argument-parser in a build folder.
compiled_for_tool() {
  find "$1" \( -path '*/ArgumentParser*.build/*.o' -o -name 'ArgumentParser*.swiftmodule' \) -print
}

# prove_isolation NAME CONFIGURATION TRAITS PRODUCT…: writes a package that uses these products, and builds it in a folder
# of its own.
prove_isolation() {
  local name=$1 configuration=$2 traits=$3 product folder=.build/isolation/$1 products='' imports='' found started
  shift 3
  for product in "$@"; do
    products="$products      .product(name: \"$product\", package: \"Concord\"),
"
    imports="${imports}import $product
"
  done
  mkdir -p "$folder/Sources/User"
  write_if_changed "$folder/Package.swift" "// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: \"User\",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: \"Concord\", path: \"$PWD\"$traits)],
  targets: [
    .executableTarget(name: \"User\", dependencies: [
$products    ])
  ])"
  write_if_changed "$folder/Sources/User/User.swift" "$imports
@main enum User {
  static func main() {}
}"
  # What an earlier run of another version left behind would be found as well.
  rm -rf "$folder/.build"
  swift package --package-path "$folder" resolve
  started=$SECONDS
  swift build --package-path "$folder" --configuration "$configuration" || fail "a package that uses $* does not build ($folder)"
  found=$(compiled_for_macros "$folder/.build")
  if [ -n "$found" ]; then
    fail "a package that uses $* compiles what only macros need:
$found"
  fi
  found=$(compiled_for_tool "$folder/.build")
  if [ -n "$found" ]; then
    fail "a package that uses $* compiles what only the tool needs:
$found"
  fi
  # A dependency that only a trait needs is not even fetched without the trait.
  if [ -n "$traits" ] && grep -q 'swift-argument-parser' "$folder/Package.resolved" 2> /dev/null; then
    fail "a package that uses $* without the trait Tool fetches swift-argument-parser"
  fi
  if grep -q -E 'hummingbird|swift-nio' "$folder/Package.resolved" 2> /dev/null; then
    fail "a package that uses $* without the trait Server fetches hummingbird"
  fi
  if grep -q -i 'flyingfox' "$folder/Package.resolved" 2> /dev/null; then
    fail "a package that uses $* without the trait Inspector fetches FlyingFox"
  fi
  found=$(compiled_for_files "$folder/.build")
  case $traits in
    *Persistence*)
      if [ -z "$found" ]; then fail "a package that uses $* with the trait Persistence has no stores in files"; fi
      note "$name: neither swift-syntax nor swift-argument-parser; its $configuration build took $((SECONDS - started)) s"
      return
      ;;
  esac
  if [ -n "$found" ]; then
    fail "a package that uses $* compiles what only stores in files need:
$found"
  fi
  note "$name: neither swift-syntax, GRDB nor swift-argument-parser; its $configuration build took $((SECONDS - started)) s"
}

# write_if_changed FILE TEXT: keeps the date of a file that is right already, so that nothing is built in vain.
write_if_changed() {
  if [ ! -e "$1" ] || [ "$(cat "$1")" != "$2" ]; then printf '%s\n' "$2" > "$1"; fi
}

# shellcheck shell=bash
# The tests of the store once more, optimised: such code copies and destroys values at other moments, and their padding
# differs.

optimised_package=.build-optimised/package
optimised_options=(--package-path "$optimised_package" --scratch-path .build-optimised --configuration release
  -Xswiftc -enable-testing)
optimised_build=
optimised_log=

# start_building_optimised: writes a package that has these tests and no others, since a package builds all of its tests, and
# builds it in the background, where one compiler uses one core for minutes. What else runs goes first.
start_building_optimised() {
  mkdir -p "$optimised_package/Sources" "$optimised_package/Tests"
  ln -sfn "$PWD/Sources/Concord" "$optimised_package/Sources/Concord"
  ln -sfn "$PWD/Tests/ConcordTests" "$optimised_package/Tests/ConcordTests"
  # The settings are those of the package.
  {
    sed -n '1,/^]/p' Package.swift | grep -v CompilerPluginSupport
    printf '\nlet package = Package(\n  name: "Concord",\n'
    sed -n '/^  platforms: /p' Package.swift
    printf '  targets: [\n    .target(name: "Concord", swiftSettings: settings),\n'
    printf '    .testTarget(name: "ConcordTests", dependencies: ["Concord"], swiftSettings: settings),\n  ])\n'
  } > "$optimised_package/Package.swift"
  optimised_log=.build-optimised/build.log
  set -m
  SWIFT_DETERMINISTIC_HASHING=1 nice -n 19 swift build "${optimised_options[@]}" --build-tests > "$optimised_log" 2>&1 &
  set +m
  optimised_build=$!
  trap 'kill -- "-$optimised_build" 2> /dev/null || true' EXIT
}

# test_optimised: after start_building_optimised.
test_optimised() {
  renice -n 0 -g "$optimised_build" > /dev/null 2>&1 || true
  if ! wait "$optimised_build"; then
    cat "$optimised_log"
    fail 'the tests do not build optimised'
  fi
  trap - EXIT
  name_failures limited 90 swift test "${optimised_options[@]}" --skip-build --no-parallel
}

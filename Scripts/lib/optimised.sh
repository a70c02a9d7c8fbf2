# shellcheck shell=bash
# The tests of the store once more, optimised: such code copies and destroys values at other moments, and their padding
# differs.

# test_optimised: in a package that has these tests and no others, since a package builds all of its tests.
test_optimised() {
  local folder=.build-optimised/package options
  mkdir -p "$folder/Sources" "$folder/Tests"
  ln -sfn "$PWD/Sources/Concord" "$folder/Sources/Concord"
  ln -sfn "$PWD/Tests/ConcordTests" "$folder/Tests/ConcordTests"
  # The settings are those of the package.
  {
    sed -n '1,/^]/p' Package.swift | grep -v CompilerPluginSupport
    printf '\nlet package = Package(\n  name: "Concord",\n'
    sed -n '/^  platforms: /p' Package.swift
    printf '  targets: [\n    .target(name: "Concord", swiftSettings: settings),\n'
    printf '    .testTarget(name: "ConcordTests", dependencies: ["Concord"], swiftSettings: settings),\n  ])\n'
  } > "$folder/Package.swift"
  options=(--package-path "$folder" --scratch-path .build-optimised --configuration release -Xswiftc -enable-testing)
  SWIFT_DETERMINISTIC_HASHING=1 swift build "${options[@]}" --build-tests
  limited 90 swift test "${options[@]}" --skip-build --no-parallel
}

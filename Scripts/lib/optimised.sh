# shellcheck shell=bash
# The tests of the store once more, optimised: such code copies and destroys values at other moments, and their padding
# differs. With them goes the test that a build for release has no inspector.

optimised_package=.build-optimised/package
# Without debug information, which takes the compiler as long as all the rest: each macro of a test is a file of its own to it.
optimised_options=(--package-path "$optimised_package" --scratch-path .build-optimised --configuration release
  -debug-info-format none -Xswiftc -enable-testing)
optimised_build=
optimised_log=.build-optimised/build.log

# start_building_optimised PROCESS: writes a package that has these tests and no others, since a package builds all of its tests, and
# builds it in the background, when another process has ended. What else runs goes first.
start_building_optimised() {
  mkdir -p "$optimised_package/Sources" "$optimised_package/Tests/ConcordInspectorTests"
  share_versions "$optimised_package"
  ln -sfn "$PWD/Sources/Concord" "$optimised_package/Sources/Concord"
  ln -sfn "$PWD/Tests/ConcordTests" "$optimised_package/Tests/ConcordTests"
  ln -sfn "$PWD/Tests/ConcordTestHeap" "$optimised_package/Tests/ConcordTestHeap"
  ln -sfn "$PWD/Sources/ConcordInspector" "$optimised_package/Sources/ConcordInspector"
  ln -sfn "$PWD/Tests/ConcordInspectorTests/ReleaseTests.swift" "$optimised_package/Tests/ConcordInspectorTests/ReleaseTests.swift"
  # The settings are those of the package.
  {
    sed -n '1,/^]/p' Package.swift | grep -v CompilerPluginSupport
    printf '\nlet package = Package(\n  name: "Concord",\n'
    sed -n '/^  platforms: /p' Package.swift
    grep 'swhitty/FlyingFox' Package.swift | sed 's/^/  dependencies: [/; s/,$/],/'
    printf '  targets: [\n    .target(name: "Concord", swiftSettings: settings + [.define("Inspector")]),\n'
    printf '    .target(\n      name: "ConcordInspector", dependencies: ["Concord", "FlyingFox", %s],\n' \
      '.product(name: "FlyingSocks", package: "FlyingFox")'
    printf '      swiftSettings: settings + [.define("Inspector")]),\n'
    printf '    .testTarget(\n      name: "ConcordInspectorTests", dependencies: ["ConcordInspector"],\n'
    printf '      swiftSettings: settings + [.define("Inspector")]),\n'
    printf '    .target(name: "ConcordTestHeap", path: "Tests/ConcordTestHeap", swiftSettings: settings),\n'
    # File by file, with a compiler for each core: all at once takes a single one ten minutes.
    printf '    .testTarget(\n      name: "ConcordTests", dependencies: ["Concord", "ConcordTestHeap"], swiftSettings: settings + [%s]),\n  ])\n' \
      '.unsafeFlags(["-no-whole-module-optimization", "-enable-batch-mode"])'
  } > "$optimised_package/Package.swift"
  build_in_background "$optimised_log" after "$1" env SWIFT_DETERMINISTIC_HASHING=1 swift build "${optimised_options[@]}" --build-tests
  optimised_build=$background
}

# test_optimised: after start_building_optimised.
test_optimised() {
  finish_building "$optimised_build" "$optimised_log" 'the optimised tests'
  name_failures limited 90 swift test "${optimised_options[@]}" --skip-build --no-parallel
}

# shellcheck shell=bash
# The tests of synchronisation, which need hummingbird, in a package of their own: what the trait Server adds is compiled for
# nothing else.

# check_server: builds and runs the tests of ConcordSync and ConcordServer.
check_server() {
  local folder=.build/server
  mkdir -p "$folder"
  ln -sfn "$PWD/Tests/ConcordSyncTests" "$folder/ConcordSyncTests"
  write_if_changed "$folder/Package.swift" "// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature(\"ExistentialAny\"), .enableUpcomingFeature(\"InternalImportsByDefault\"),
  .enableUpcomingFeature(\"MemberImportVisibility\"), .define(\"Server\"), .define(\"Persistence\"),
]
let package = Package(
  name: \"ServerTests\",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: \"Concord\", path: \"$PWD\", traits: [\"Persistence\", \"Server\"]),
    .package(url: \"https://github.com/hummingbird-project/hummingbird\", from: \"2.28.1\"),
    .package(url: \"https://github.com/swift-server/swift-service-lifecycle\", from: \"2.13.0\"),
    .package(url: \"https://github.com/apple/swift-http-types\", from: \"1.8.0\"),
    .package(url: \"https://github.com/apple/swift-nio\", from: \"2.101.0\"),
    .package(url: \"https://github.com/apple/swift-log\", from: \"1.6.0\"),
    .package(url: \"https://github.com/groue/GRDB.swift\", from: \"7.10.0\"),
  ],
  targets: [
    .testTarget(
      name: \"ConcordSyncTests\",
      dependencies: [
        .product(name: \"ConcordServer\", package: \"Concord\"),
        .product(name: \"ConcordTestSupport\", package: \"Concord\"),
        .product(name: \"Hummingbird\", package: \"hummingbird\"),
        .product(name: \"ServiceLifecycle\", package: \"swift-service-lifecycle\"),
        .product(name: \"HTTPTypes\", package: \"swift-http-types\"),
        .product(name: \"NIOCore\", package: \"swift-nio\"),
        .product(name: \"Logging\", package: \"swift-log\"),
        .product(name: \"GRDB\", package: \"GRDB.swift\"),
      ], path: \"ConcordSyncTests\", swiftSettings: settings)
  ])"
  build_server_tests "$folder"
  name_failures limited 15 swift test --package-path "$folder" --skip-build --no-parallel
}

# build_server_tests FOLDER: fails on a warning in a file of this repository.
build_server_tests() {
  local log=$1/build.log
  swift build --package-path "$1" --build-tests 2>&1 | tee "$log" || fail 'the tests of synchronisation do not build'
  if grep -E "($PWD|ConcordSyncTests)/.*\.swift:[0-9]+:[0-9]+: warning:" "$log" | grep -v -E '/\.build[^/]*/.*checkouts/'; then
    fail 'the tests of synchronisation build with warnings'
  fi
}

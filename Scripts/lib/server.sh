# shellcheck shell=bash
# The tests of synchronisation, which need hummingbird, in a package of their own: what the trait Server adds is compiled for
# them and the example only.

server_build=
server_is_built=

# start_building_server: builds these tests and the example in the background.
start_building_server() {
  write_server_package
  build_in_background "$server_package/build.log" build_all_for_server
  server_build=$background
}

build_all_for_server() {
  share_versions "$server_package" Examples/Bookstore
  swift_build_server --package-path "$server_package" --build-tests && swift_build_example --build-tests
}

# finish_building_server: waits for them, once, and fails on a warning in a file of this repository.
finish_building_server() {
  if [ -n "$server_is_built" ]; then return; fi
  finish_building "$server_build" "$server_package/build.log" 'the tests of synchronisation, or the example,'
  if grep -E "($PWD|ConcordSyncTests|ConcordSyncProcess|ConcordInspectorTests)/.*\.swift:[0-9]+:[0-9]+: warning:" "$server_package/build.log" |
    grep -v -E '/\.build[^/]*/.*(checkouts|\.derived)/'; then
    # A file that is not compiled again does not warn again, so that the next run builds all of them anew.
    touch Tests/ConcordSyncTests/*.swift Tests/ConcordSyncProcess/*.swift Tests/ConcordInspectorTests/*.swift
    find Examples/Bookstore -name '*.swift' -exec touch {} +
    fail 'the tests of synchronisation, or the example, build with warnings'
  fi
  server_is_built=yes
}

# check_server MINUTES OPTION…: builds and runs the tests of ConcordSync and ConcordServer; those over PostgreSQL where it is installed.
# The options are those of `swift test`.
check_server() {
  local minutes=$1 database='' run=()
  shift
  if [ -z "$server_build" ]; then
    write_server_package
    build_in_background "$server_package/build.log" swift_build_server --package-path "$server_package" --build-tests
    server_build=$background
  fi
  finish_building_server
  if have_server_database; then
    database=$(mktemp -d)
    # The server runs as another user where this script runs as root.
    chmod 755 "$database"
    run=(python3 -B Scripts/lib/postgresql.py "$database/data" CONCORD_POSTGRESQL)
  fi
  # Otherwise Swift Testing keeps a backtrace of each error that is thrown, which FuzzTests would count.
  SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0 \
    name_failures limited "$minutes" ${run[@]+"${run[@]}"} swift test --package-path "$server_package" --skip-build --no-parallel "$@"
  if [ -n "$database" ]; then rm -rf "$database"; fi
}

# server_traits: prints the traits of this package that these tests and the example need. Traits that are listed in another order become flags in
# another order, and then all is compiled anew.
server_traits() { printf '[.defaults, "Inspector", %s"Server"]' "$(if have_libpq; then printf '"PostgreSQL", '; fi)"; }

have_server_database() { have_libpq && have_postgresql_server && have_command python3; }

write_server_package() {
  local folder=$server_package definition='' product=''
  # As the example is built, so that both share what is compiled.
  if have_libpq; then
    definition=', .define("PostgreSQL")'
    product='.product(name: "ConcordPostgreSQL", package: "Concord"),'
  fi
  set_up_server
  mkdir -p "$folder"
  ln -sfn "$PWD/Tests/ConcordSyncTests" "$folder/ConcordSyncTests"
  ln -sfn "$PWD/Tests/ConcordInspectorTests" "$folder/ConcordInspectorTests"
  ln -sfn "$PWD/Tests/ConcordSyncProcess" "$folder/ConcordSyncProcess"
  ln -sfn "$PWD/Tests/ConcordShiftedClock" "$folder/ConcordShiftedClock"
  write_if_changed "$folder/Package.swift" "// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature(\"ExistentialAny\"), .enableUpcomingFeature(\"InternalImportsByDefault\"),
  .enableUpcomingFeature(\"MemberImportVisibility\"), .define(\"Server\"), .define(\"Inspector\"), .define(\"Persistence\")$definition,
]
let package = Package(
  name: \"ServerTests\",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: \"Concord\", path: \"$PWD\", traits: $(server_traits)),
    .package(url: \"https://github.com/hummingbird-project/hummingbird\", from: \"2.28.1\"),
    .package(url: \"https://github.com/swift-server/swift-service-lifecycle\", from: \"2.13.0\"),
    .package(url: \"https://github.com/apple/swift-http-types\", from: \"1.8.0\"),
    .package(url: \"https://github.com/apple/swift-nio\", from: \"2.101.0\"),
    .package(url: \"https://github.com/apple/swift-log\", from: \"1.6.0\"),
    .package(url: \"https://github.com/apple/swift-metrics\", from: \"2.5.0\"),
    .package(url: \"https://github.com/apple/swift-distributed-tracing\", from: \"1.3.0\"),
    .package(url: \"https://github.com/groue/GRDB.swift\", from: \"7.10.0\"),
  ],
  targets: [
    .target(name: \"ConcordShiftedClock\", path: \"ConcordShiftedClock\"),
    .executableTarget(
      name: \"SyncProcess\",
      dependencies: [
        \"ConcordShiftedClock\",
        .product(name: \"ConcordServer\", package: \"Concord\"),
        $product
        .product(name: \"Hummingbird\", package: \"hummingbird\"),
        .product(name: \"Logging\", package: \"swift-log\"),
        .product(name: \"Metrics\", package: \"swift-metrics\"),
      ], path: \"ConcordSyncProcess\", swiftSettings: settings),
    .testTarget(
      name: \"ConcordSyncTests\",
      dependencies: [
        \"SyncProcess\",
        .product(name: \"ConcordServer\", package: \"Concord\"),
        .product(name: \"ConcordTestSupport\", package: \"Concord\"),
        $product
        .product(name: \"Hummingbird\", package: \"hummingbird\"),
        .product(name: \"ServiceLifecycle\", package: \"swift-service-lifecycle\"),
        .product(name: \"HTTPTypes\", package: \"swift-http-types\"),
        .product(name: \"NIOCore\", package: \"swift-nio\"),
        .product(name: \"Logging\", package: \"swift-log\"),
        .product(name: \"Metrics\", package: \"swift-metrics\"),
        .product(name: \"MetricsTestKit\", package: \"swift-metrics\"),
        .product(name: \"InMemoryTracing\", package: \"swift-distributed-tracing\"),
        .product(name: \"Tracing\", package: \"swift-distributed-tracing\"),
        .product(name: \"GRDB\", package: \"GRDB.swift\"),
        .product(name: \"GRDBSQLite\", package: \"GRDB.swift\"),
      ], path: \"ConcordSyncTests\", swiftSettings: settings),
    .testTarget(
      name: \"ConcordInspectorTests\",
      dependencies: [
        .product(name: \"ConcordInspector\", package: \"Concord\"),
        .product(name: \"ConcordServer\", package: \"Concord\"),
      ], path: \"ConcordInspectorTests\", swiftSettings: settings),
  ])"
}

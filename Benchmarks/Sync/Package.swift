// swift-tools-version: 6.2
import PackageDescription

// Without `MemberImportVisibility`, because the C types of the shared files are seen through another module beside NIO.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

// Apart from the other benchmark, which compiles no web server.
let package = Package(
  name: "SyncBenchmarks",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "SyncBenchmarks", targets: ["SyncBenchmarks"])],
  traits: [.trait(name: "PostgreSQL", description: "Rows for servers over a PostgreSQL database, which need libpq")],
  dependencies: [
    .package(
      name: "Concord", path: "../..",
      traits: ["Persistence", "Server", .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .executableTarget(
      name: "SyncBenchmarks",
      dependencies: [
        "CHeap",
        .product(name: "ConcordServer", package: "Concord"),
        .product(name: "ConcordPostgreSQL", package: "Concord", condition: .when(traits: ["PostgreSQL"])),
        .target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings),
    .target(name: "CHeap"),
    .systemLibrary(
      name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
  ]
)

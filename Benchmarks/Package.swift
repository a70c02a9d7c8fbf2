// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "Benchmarks", targets: ["Benchmarks"])],
  traits: [
    .trait(name: "Macros", description: "Rows for what @Entity generates, which compile swift-syntax"),
    .trait(name: "Inspector", description: "Rows for what an inspector costs, which compile FlyingFox"),
    .trait(name: "PostgreSQL", description: "Rows for stores in a PostgreSQL database, which need libpq"),
  ],
  dependencies: [
    // Without traits, as by default, the benchmark compiles neither swift-syntax nor OpenCombine.
    .package(
      name: "Concord", path: "..",
      traits: [
        "Persistence", .trait(name: "Macros", condition: .when(traits: ["Macros"])),
        .trait(name: "Inspector", condition: .when(traits: ["Inspector"])),
        .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ]),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CHeap",
        .target(name: "CCores", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "Concord", package: "Concord"),
        .product(name: "ConcordConsistency", package: "Concord"),
        .product(name: "ConcordPersistence", package: "Concord"),
        .product(name: "ConcordConnect", package: "Concord"),
        .product(name: "ConcordInspector", package: "Concord", condition: .when(traits: ["Inspector"])),
        .product(name: "ConcordPostgreSQL", package: "Concord", condition: .when(traits: ["PostgreSQL"])),
        .target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "ConcordMacros", package: "Concord", condition: .when(traits: ["Macros"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .target(name: "CHeap"),
    .target(name: "CCores"),
    .systemLibrary(
      name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
  ]
)

// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Concord",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Concord", targets: ["Concord"]),
    .library(name: "ConcordLogging", targets: ["ConcordLogging"]),
    .library(name: "ConcordMacros", targets: ["ConcordMacros"]),
    .library(name: "ConcordConsistency", targets: ["ConcordConsistency"]),
    .library(name: "ConcordConsistencyMacros", targets: ["ConcordConsistencyMacros"]),
    .library(name: "ConcordCombine", targets: ["ConcordCombine"]),
    .library(name: "ConcordCohesionKit", targets: ["ConcordCohesionKit"]),
    .library(name: "ConcordModel", targets: ["ConcordModel"]),
    .library(name: "ConcordPersistence", targets: ["ConcordPersistence"]),
    .library(name: "ConcordPersistenceMacros", targets: ["ConcordPersistenceMacros"]),
    .executable(name: "concord", targets: ["ConcordTool"]),
    .library(name: "ConcordConnect", targets: ["ConcordConnect"]),
    .library(name: "ConcordConnectLogging", targets: ["ConcordConnectLogging"]),
    .library(name: "ConcordTestSupport", targets: ["ConcordTestSupport"]),
    .library(name: "ConcordPostgreSQL", targets: ["ConcordPostgreSQL"]),
    .library(name: "ConcordSync", targets: ["ConcordSync"]),
    .library(name: "ConcordServer", targets: ["ConcordServer"]),
    .library(name: "ConcordInspector", targets: ["ConcordInspector"]),
  ],
  traits: [
    .trait(name: "Macros", description: "@Entity, @PersistentEntity and the like, which compile swift-syntax"),
    .trait(name: "OpenCombine", description: "Publishers where the system has no Combine"),
    .trait(name: "Persistence", description: "Stores in SQLite files, which compile GRDB"),
    .trait(
      name: "Tool", description: "The tool that looks into these files, which compiles swift-argument-parser",
      enabledTraits: ["Persistence"]),
    .trait(name: "PostgreSQL", description: "Stores in a PostgreSQL database, which need libpq"),
    .trait(name: "Server", description: "The server's half of synchronisation, which compiles hummingbird"),
    .trait(name: "Inspector", description: "The page that shows what is inside a store, which compiles FlyingFox"),
    .default(enabledTraits: ["Macros", "OpenCombine", "Persistence", "Tool"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    // A web server for tests, and for the inspector. Who does not use that does not resolve it.
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    .target(name: "Concord", swiftSettings: settings),
    .target(
      name: "ConcordLogging",
      dependencies: ["Concord", .product(name: "Logging", package: "swift-log")],
      swiftSettings: settings),
    .target(name: "ConcordCohesionKit", dependencies: ["Concord"], swiftSettings: settings),
    .target(name: "ConcordConsistency", dependencies: ["Concord"], swiftSettings: settings),
    .target(
      name: "ConcordCombine",
      dependencies: [
        "Concord",
        .product(
          name: "OpenCombine", package: "OpenCombine",
          condition: .when(platforms: [.linux], traits: ["OpenCombine"])),
      ],
      swiftSettings: settings),
    // What persistent entities are described with. It knows neither GRDB nor macros, so that both may know it.
    .target(name: "ConcordModel", dependencies: ["Concord"], swiftSettings: settings),
    .target(
      name: "ConcordPersistence",
      dependencies: [
        "ConcordModel",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Persistence"])),
        .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["Persistence"])),
      ],
      swiftSettings: settings),
    // The program is called concord. Its module is not, because some file systems cannot tell that from Concord.
    .executableTarget(
      name: "ConcordTool",
      dependencies: [
        "ConcordPersistence",
        .target(name: "ConcordPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Tool"])),
        .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["Tool"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
      ],
      swiftSettings: settings),
    // Work: actions, merging, schedules, web services. Nothing is compiled for it that persistence does not need.
    .target(name: "ConcordConnect", dependencies: ["ConcordPersistence"], swiftSettings: settings),
    // Stores that many machines share. Without its trait it is empty, and libpq is not needed.
    .target(
      name: "ConcordPostgreSQL",
      dependencies: [
        "ConcordPersistence", .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: settings),
    .systemLibrary(
      name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // The device's half of synchronisation. Nothing is compiled for it that connecting does not need.
    .target(name: "ConcordSync", dependencies: ["ConcordConnect"], swiftSettings: settings),
    // The server's half. Without its trait it is empty, and hummingbird is not resolved.
    .target(
      name: "ConcordServer",
      dependencies: [
        "ConcordSync",
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Server"])),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Server"])),
        .target(name: "CCompression", condition: .when(traits: ["Server"])),
      ],
      swiftSettings: settings),
    .systemLibrary(name: "CCompression", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    // The page that shows what is inside a store. Without its trait it is empty, and FlyingFox is not resolved. It knows the store only:
    // what is shown beside it describes itself.
    .target(
      name: "ConcordInspector",
      dependencies: [
        "Concord",
        .product(name: "FlyingFox", package: "FlyingFox", condition: .when(traits: ["Inspector"])),
        .product(name: "FlyingSocks", package: "FlyingFox", condition: .when(traits: ["Inspector"])),
      ],
      swiftSettings: settings),
    // Apart from ConcordLogging, whose users need not compile persistence.
    .target(
      name: "ConcordConnectLogging",
      dependencies: ["ConcordConnect", .product(name: "Logging", package: "swift-log")],
      swiftSettings: settings),
    // What users need to test their own code.
    .target(name: "ConcordTestSupport", dependencies: ["ConcordConnect"], swiftSettings: settings),
    .target(
      name: "ConcordMacros",
      dependencies: [
        "Concord",
        .target(name: "ConcordMacrosPlugin", condition: .when(traits: ["Macros"])),
      ],
      swiftSettings: settings),
    .target(
      name: "ConcordConsistencyMacros", dependencies: ["ConcordMacros", "ConcordConsistency"], swiftSettings: settings),
    .target(
      name: "ConcordPersistenceMacros", dependencies: ["ConcordMacros", "ConcordModel"], swiftSettings: settings),
    .macro(
      name: "ConcordMacrosPlugin",
      dependencies: [
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ],
      swiftSettings: settings),
    .testTarget(name: "ConcordTests", dependencies: ["Concord", "ConcordTestHeap"], swiftSettings: settings),
    // The measure of the heap.
    .target(name: "ConcordTestHeap", path: "Tests/ConcordTestHeap", swiftSettings: settings),
    // What tests keep of log lines.
    .target(
      name: "ConcordTestLogging", dependencies: [.product(name: "Logging", package: "swift-log")],
      path: "Tests/ConcordTestLogging", swiftSettings: settings),
    .testTarget(
      name: "ConcordLoggingTests",
      dependencies: [
        "Concord", "ConcordLogging", "ConcordTestLogging", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    // Without `ExistentialAny`, because the earlier documentation writes `Error`.
    .testTarget(name: "ConcordCohesionKitTests", dependencies: ["Concord", "ConcordCohesionKit", "ConcordCombine"]),
    .testTarget(name: "DocumentationTests", dependencies: ["Concord"], swiftSettings: settings),
    // Without `ExistentialAny`, because the earlier documentation writes `[ConsistentObject]`.
    .testTarget(name: "ConcordConsistencyTests", dependencies: ["Concord", "ConcordConsistency"]),
    .testTarget(name: "ConcordMacrosTests", dependencies: ["ConcordMacros"], swiftSettings: settings),
    .testTarget(
      name: "ConcordConsistencyMacrosTests", dependencies: ["ConcordConsistencyMacros"], swiftSettings: settings),
    .testTarget(
      name: "ConcordMacrosPluginTests",
      dependencies: [
        "ConcordMacrosPlugin",
        .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(
          name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax",
          condition: .when(traits: ["Macros"])),
      ],
      swiftSettings: settings),
    .testTarget(name: "ConcordModelTests", dependencies: ["ConcordModel"], swiftSettings: settings),
    // What the tests start beside them, and kill. They do not import it: its module may be compiled after theirs.
    .executableTarget(
      name: "ConcordTestProcess",
      dependencies: [
        "ConcordPersistence", "ConcordConnect", "ConcordTestShared",
        .target(name: "ConcordPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      path: "Tests/ConcordTestProcess",
      swiftSettings: settings),
    // What that program and the tests that start it both know.
    .target(
      name: "ConcordTestShared",
      dependencies: [
        "ConcordPersistence", "ConcordConnect",
        .target(name: "ConcordPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      path: "Tests/ConcordTestShared",
      swiftSettings: settings),
    .testTarget(
      name: "ConcordPersistenceTests",
      dependencies: [
        "ConcordPersistence", "ConcordTestHeap", "ConcordTestProcess", "ConcordTestShared",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Persistence"])),
        .target(name: "ConcordPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ConcordPostgreSQLTests",
      dependencies: [
        "ConcordPersistence", "ConcordPostgreSQL", "ConcordTestProcess", "ConcordTestShared",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ConcordPersistenceMacrosTests",
      dependencies: [
        "ConcordPersistenceMacros", "ConcordPersistence",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Persistence"])),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ConcordToolTests",
      dependencies: [
        "ConcordPersistence", "ConcordTool", "ConcordTestProcess", "ConcordTestShared",
        .target(name: "ConcordPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Tool"])),
      ],
      swiftSettings: settings),
    // Without `ExistentialAny`, because the earlier documentation writes `PersistentContainer`.
    .testTarget(name: "ConcordCoherenceTests", dependencies: ["ConcordPersistence", "ConcordConnect"]),
    // The same files, in Swift 5.
    .testTarget(
      name: "ConcordCoherenceSwift5Tests", dependencies: ["ConcordPersistence", "ConcordConnect"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "ConcordConnectTests",
      dependencies: [
        "ConcordConnect", "ConcordTestSupport", "ConcordTestProcess", "ConcordTestShared",
        .target(name: "ConcordPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "FlyingFox", package: "FlyingFox"), .product(name: "FlyingSocks", package: "FlyingFox"),
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Persistence"])),
      ], swiftSettings: settings),
    .testTarget(
      name: "ConcordConnectLoggingTests",
      dependencies: [
        "ConcordConnect", "ConcordConnectLogging", "ConcordTestLogging", "ConcordTestSupport",
        .product(name: "FlyingFox", package: "FlyingFox"), .product(name: "FlyingSocks", package: "FlyingFox"),
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: settings),
    .testTarget(
      name: "ConcordSyncTests",
      dependencies: [
        "ConcordSync", "ConcordServer", "ConcordTestSupport",
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Server"])),
        .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Server"])),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Server"])),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: .when(traits: ["Server"])),
      ], swiftSettings: settings),
    .testTarget(
      name: "ConcordInspectorTests", dependencies: ["ConcordInspector", "ConcordConnect", "ConcordSync"],
      swiftSettings: settings),
    .testTarget(name: "ConcordCombineTests", dependencies: ["Concord", "ConcordCombine"], swiftSettings: settings),
  ]
)

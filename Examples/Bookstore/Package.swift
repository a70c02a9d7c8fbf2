// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Bookstore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .executable(name: "bookstore", targets: ["bookstore"])
  ],
  traits: [
    .trait(name: "PostgreSQL", description: "Stores in a PostgreSQL database, which need libpq"),
    .default(enabledTraits: []),
  ],
  dependencies: [
    .package(
      name: "Concord", path: "../..",
      traits: [.defaults, "Inspector", "Server", .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
  ],
  targets: [
    // The entities, and the screens of a terminal.
    .target(
      name: "BookstoreKit",
      dependencies: [
        .product(name: "ConcordConsistencyMacros", package: "Concord"),
        .product(name: "ConcordConsistency", package: "Concord"),
        .product(name: "ConcordPersistence", package: "Concord"),
        .product(name: "ConcordPersistenceMacros", package: "Concord"),
      ],
      resources: [.copy("catalogue.ndjson")],
      swiftSettings: settings),
    // What the server and its customers know: carts, and what customers do.
    .target(
      name: "BookstoreShared",
      dependencies: [
        "BookstoreKit",
        .product(name: "ConcordPersistenceMacros", package: "Concord"),
        .product(name: "ConcordSync", package: "Concord"),
      ],
      swiftSettings: settings),
    // What the server and the page share: listening.
    .target(
      name: "BookstoreWeb",
      dependencies: [
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    // The shop as a server of devices.
    .target(
      name: "BookstoreServer",
      dependencies: [
        "BookstoreKit", "BookstoreShared", "BookstoreWeb",
        .product(name: "ConcordServer", package: "Concord"),
        .product(name: "ConcordPostgreSQL", package: "Concord", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    // A customer of that server, with a store of its own, and the page that shows it.
    .target(
      name: "BookstoreClient",
      dependencies: [
        "BookstoreKit", "BookstoreShared", "BookstoreWeb",
        .product(name: "ConcordInspector", package: "Concord"),
        .product(name: "ConcordSync", package: "Concord"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      resources: [.copy("site")],
      swiftSettings: settings),
    .executableTarget(
      name: "bookstore",
      dependencies: [
        "BookstoreKit", "BookstoreServer", "BookstoreClient", "BookstoreWeb",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "ConcordSync", package: "Concord"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BookstoreKitTests",
      dependencies: [
        "BookstoreKit", "bookstore", .product(name: "Concord", package: "Concord"),
        .product(name: "ConcordPersistence", package: "Concord"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BookstoreServerTests",
      dependencies: [
        "BookstoreKit", "BookstoreServer", "BookstoreClient", "BookstoreShared", "BookstoreWeb", "bookstore",
        .product(name: "ConcordSync", package: "Concord"),
        .product(name: "ConcordPersistenceMacros", package: "Concord"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      swiftSettings: settings),
  ]
)

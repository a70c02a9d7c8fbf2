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
      traits: [.defaults, .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
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
    // What the server and the page share: listening.
    .target(
      name: "BookstoreWeb",
      dependencies: [
        .product(name: "FlyingFox", package: "FlyingFox"), .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      swiftSettings: settings),
    // The shop as a web service. Its customers need nothing of Concord: another program, in another language, could be one.
    .target(
      name: "BookstoreServer",
      dependencies: [
        "BookstoreKit", "BookstoreWeb",
        .product(name: "ConcordPersistence", package: "Concord"),
        .product(name: "ConcordPersistenceMacros", package: "Concord"),
        .product(name: "ConcordPostgreSQL", package: "Concord", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "FlyingFox", package: "FlyingFox"),
      ],
      swiftSettings: settings),
    // A customer of that service, with a store of its own, and the page that shows it.
    .target(
      name: "BookstoreClient",
      dependencies: [
        "BookstoreKit", "BookstoreWeb",
        .product(name: "ConcordConnect", package: "Concord"),
        .product(name: "ConcordPersistence", package: "Concord"),
        .product(name: "ConcordPersistenceMacros", package: "Concord"),
        .product(name: "FlyingFox", package: "FlyingFox"),
        .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      resources: [.copy("site")],
      swiftSettings: settings),
    .executableTarget(
      name: "bookstore",
      dependencies: [
        "BookstoreKit", "BookstoreServer", "BookstoreClient", "BookstoreWeb",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
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
        "BookstoreKit", "BookstoreServer", "BookstoreClient", "BookstoreWeb", "bookstore",
        .product(name: "ConcordConnect", package: "Concord"),
        .product(name: "ConcordPersistenceMacros", package: "Concord"),
        .product(name: "FlyingFox", package: "FlyingFox"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings),
  ]
)

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
  dependencies: [
    .package(name: "Concord", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
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
    .executableTarget(
      name: "bookstore",
      dependencies: [
        "BookstoreKit",
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
  ]
)

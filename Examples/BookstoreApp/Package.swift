// swift-tools-version: 6.2
import PackageDescription

// For Apple's systems: elsewhere there is no SwiftUI, and this package is empty.
let package = Package(
  name: "BookstoreApp",
  platforms: [.macOS(.v15), .iOS(.v18)],
  dependencies: [
    .package(name: "Concord", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "BookstoreApp",
      dependencies: [.product(name: "ConcordMacros", package: "Concord")],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)

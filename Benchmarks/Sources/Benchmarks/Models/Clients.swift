import Foundation

/// Programs that use the store, as others would write them, in a package of their own in a temporary folder.
///
/// Each is built once. The first build compiles the store, the others nothing but the program.
final class Clients {
  /// What the build of a program came to.
  struct Build {
    /// The bytes of code, with constants.
    var text: Double
    /// The nanoseconds it took.
    var time: Double
  }

  private let concord: URL
  /// What their builds are measured with.
  var stopwatch = Stopwatch()
  private let folder = FileManager.default.temporaryDirectory.appending(path: "concord-client-\(UUID().uuidString)")
  private var first: Build?
  private var withGRDB: Build?
  private var builds: [Int: Build] = [:]

  /// - Parameter concord: the folder of the package that they depend on.
  init(concord: URL) { self.concord = concord }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The build of a program of one line, and of the store with it.
  func withStore() throws -> Build {
    if let first { return first }
    let build = try build(
      Self.source(pairs: 0) + "// built with the store\n",
      with: #".package(name: "Concord", path: "\#(concord.path)", traits: [])"#,
      product: #".product(name: "Concord", package: "Concord")"#)
    first = build
    return build
  }

  /// The build of a program of one line that uses GRDB, and of GRDB with it.
  func besideGRDB() throws -> Build {
    if let withGRDB { return withGRDB }
    let other = Clients(concord: concord)
    other.stopwatch = stopwatch
    let build = try other.build(
      "import GRDB\n\nlet queue = try DatabaseQueue()\n",
      with: #".package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")"#,
      product: #".product(name: "GRDB", package: "GRDB.swift")"#)
    withGRDB = build
    return build
  }

  /// The build of a program and of what it depends on, in a new package.
  private func build(_ source: String, with package: String, product: String) throws -> Build {
    try FileManager.default.createDirectory(
      at: folder.appending(path: "Sources/Client"), withIntermediateDirectories: true)
    try write(Self.manifest(package: package, product: product), to: "Package.swift")
    try write(source, to: "Sources/Client/main.swift")
    try Program.run("swift", "package", "--package-path", folder.path, "resolve")
    return try build()
  }

  /// The build of a program with so many pairs of a flat entity and an aggregate, the store being built.
  func alone(pairs: Int) throws -> Build {
    if let build = builds[pairs] { return build }
    _ = try withStore()
    try write(Self.source(pairs: pairs), to: "Sources/Client/main.swift")
    let build = try build()
    builds[pairs] = build
    return build
  }

  private func build() throws -> Build {
    let command = ["swift", "build", "--package-path", folder.path, "--configuration", "release"]
    let start = now
    try Program.run(command)
    let time = now - start
    let program = try Program.run(command + ["--show-bin-path"]).trimmingCharacters(in: .newlines) + "/Client"
    // A line of titles, then one of figures, of which the first is the text.
    let figures = try Program.run("size", program).split(separator: "\n").last?.split(whereSeparator: \.isWhitespace)
    guard let text = figures?.first.flatMap({ Double($0) }) else {
      throw WrongResult(description: "`size` says nothing of \(program)")
    }
    return Build(text: text, time: time)
  }

  /// What has passed on the clock that was asked for: on the wall, or on the cores for what was built.
  private var now: Double { stopwatch.kind == .wall ? stopwatch.now : Program.processorTime }

  private func write(_ text: String, to path: String) throws {
    try text.write(to: folder.appending(path: path), atomically: true, encoding: .utf8)
  }

  private static func manifest(package: String, product: String) -> String {
    """
    // swift-tools-version: 6.2
    import PackageDescription

    let package = Package(
      name: "Client",
      platforms: [.macOS(.v15)],
      dependencies: [\(package)],
      targets: [.executableTarget(name: "Client", dependencies: [\(product)])])

    """
  }

  private static func source(pairs: Int) -> String {
    let line = "import Concord\n\nlet store = EntityStore(delivery: .immediate)\n"
    return ([line] + (0..<pairs).map(pair)).joined(separator: "\n")
  }

  /// An entity and an aggregate of it, and everything that is done with entities.
  private static func pair(_ number: Int) -> String {
    """
    struct Flat\(number): Identifiable, Equatable, Sendable {
      let id: Int
      var title: String
      var count: Int
    }

    struct Whole\(number): Aggregate, Equatable {
      let id: String
      var name: String
      var first: Flat\(number)?
      var parts: [Flat\(number)]

      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\\.first), .init(\\.parts)] }
    }

    func use\(number)() {
      let flat = Flat\(number)(id: 1, title: "One", count: 1)
      let flatObserver = store.store(flat)
      let wholeObserver = store.store(Whole\(number)(id: "a", name: "A", first: nil, parts: [flat]))
      let subscriptions = [
        flatObserver.observe { print($0.title) },
        wholeObserver.observe { print($0.name, $0.parts.count) },
      ]
      print(store.find(Flat\(number).self, id: 1)?.value.count ?? 0)
      print(store.find(Whole\(number).self, id: "a")?.value.name ?? "")
      store.update(Flat\(number).self, id: 1) { $0.count += 1 }
      store.update(Whole\(number).self, id: "a") { $0.name = "B" }
      store.remove(Flat\(number).self, id: 1)
      store.remove(Whole\(number).self, id: "a")
      for subscription in subscriptions { subscription.unsubscribe() }
    }

    use\(number)()

    """
  }
}

#if Tool
  import ConcordPersistence
  import Foundation

  /// A folder that goes when the test ends.
  func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-tool-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }

  /// A container with one file. The file is closed at the end.
  @discardableResult
  func withShop<R>(
    at file: URL, remembersDeletions: Bool = true, _ body: (BackgroundContext) throws -> R
  ) throws -> R {
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Shop", model: try shopModel())
    var options = StoreConfiguration.Default.options
    if !remembersDeletions { options[ConcordRememberedDeletionsOption] = 0 }
    let store = try container.attachPersistentStore(
      at: file.deletingLastPathComponent(),
      for: StoreConfiguration(fileName: file.lastPathComponent, options: options))
    defer { try? container.detach(persistentStore: store) }
    return try body(container.newBackgroundContext())
  }

  /// The file that most tests look at.
  func makeShop(_ folder: URL, books: Int = 0, bits: Int = 0) throws -> URL {
    let file = folder.appending(path: "Shop.sqlite")
    try withShop(at: file) { context in
      let (melville, austen) = (Author(id: "HM", name: "Herman Melville"), Author(id: "JA", name: "Jane Austen"))
      context.insert(
        Book(
          id: "MOBY", title: "Moby-Dick; or, \"The Whale\"", year: 1851, isbn: "978-0", author: melville,
          reviews: [Review(id: 2, text: "Long"), Review(id: 1, text: "Tab\there\\\u{301}")],
          byLanguage: ["de": melville]))
      context.insert(Book(id: "EMMA", title: "Emma", year: 1815, author: austen, byLanguage: [:]))
      context.insert(Book(id: "PNP", title: "Pride and Prejudice", year: 1813, author: austen))
      for number in 0..<books {
        context.insert(Book(id: "B\(number)", title: "Book \(number)", year: 1900 + number % 100, author: austen))
      }
      for number in 0..<bits { context.insert(Bits(number)) }
      try context.save()
    }
    return file
  }
#endif

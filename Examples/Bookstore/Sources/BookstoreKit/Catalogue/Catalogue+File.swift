import Foundation

extension Catalogue {
  /// Reads the catalogue at `path`, or the one that comes with the example.
  public static func open(_ path: String?) throws(CatalogueError) -> Catalogue {
    let file = path ?? bundled
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: file))
    } catch {
      throw .unreadable(file: file, reason: error.localizedDescription)
    }
    do {
      return try Catalogue(lines: data)
    } catch {
      throw .malformed(file: file, line: error.line, reason: error.reason)
    }
  }

  /// Where the example's own catalogue is.
  private static var bundled: String {
    let name = "catalogue.ndjson"
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent(name)
    return ExampleFiles.url(of: name, in: "Bookstore_BookstoreKit", source: source).path
  }
}

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

  /// Where the example's own catalogue is: beside the executable, or, when only the executable was moved, in the source.
  private static var bundled: String {
    let bundle = "Bookstore_BookstoreKit"
    let places = [Bundle.main.bundleURL, Bundle.main.resourceURL].compactMap { $0 }
    let candidates = places.flatMap { place in
      ["\(bundle).resources", "\(bundle).bundle", "\(bundle).bundle/Contents/Resources"].map {
        place.appendingPathComponent($0).appendingPathComponent("catalogue.ndjson").path
      }
    }
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("catalogue.ndjson").path
    return candidates.first { FileManager.default.fileExists(atPath: $0) } ?? source
  }
}

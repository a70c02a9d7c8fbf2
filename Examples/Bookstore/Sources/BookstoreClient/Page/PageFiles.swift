import BookstoreKit
import FlyingFox
import Foundation

/// The page's own files.
struct PageFiles: Sendable {
  private let folder: URL

  init() { folder = ExampleFiles.url(of: "site", in: "Bookstore_BookstoreClient", source: Self.source) }

  /// Where the source is, if the program was moved away from its files.
  private static var source: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("site")
  }

  /// A file, or nothing if the page has no such.
  func response(_ path: String) -> HTTPResponse? {
    let types = ["/": "text/html", "/page.css": "text/css", "/page.js": "text/javascript"]
    guard let type = types[path] else { return nil }
    let name = path == "/" ? "index.html" : String(path.dropFirst())
    guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else { return nil }
    return HTTPResponse(statusCode: .ok, headers: [.contentType: "\(type); charset=utf-8"], body: data)
  }
}

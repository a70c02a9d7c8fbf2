import BookstoreKit
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The page's own files.
struct PageFiles: Sendable {
  private let folder: URL

  init() { folder = ExampleFiles.url(of: "site", in: "Bookstore_BookstoreClient", source: Self.source) }

  /// Where the source is, if the program was moved away from its files.
  private static var source: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("site")
  }

  /// The paths of the files, with their types.
  static let types = [
    "/": "text/html", "/page.css": "text/css", "/page.js": "text/javascript", "/both.css": "text/css",
  ]

  /// A file, or that there is none.
  func response(_ path: String) -> Response {
    let name = path == "/" ? "index.html" : String(path.dropFirst())
    guard let type = Self.types[path], let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else {
      return Response(status: .notFound)
    }
    return Response(
      status: .ok, headers: [.contentType: "\(type); charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
  }

  /// A page that shows two others side by side.
  func both(_ other: URL) -> Response {
    let text = """
      <!doctype html><html lang="en"><meta charset="utf-8"><title>Bookstore: side by side</title>
      <link rel="icon" href="data:,"><link rel="stylesheet" href="/both.css">
      <iframe src="\(other)" title="One device"></iframe><iframe src="/" title="Another one"></iframe></html>
      """
    return Response(
      status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}

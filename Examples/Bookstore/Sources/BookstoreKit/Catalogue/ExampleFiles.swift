package import Foundation

/// The files that come with the example.
package enum ExampleFiles {
  /// Where a file of a target is: beside the executable, or, when only the executable was moved, in the source.
  package static func url(of name: String, in bundle: String, source: URL) -> URL {
    let places = [Bundle.main.bundleURL, Bundle.main.resourceURL].compactMap { $0 }
    let candidates = places.flatMap { place in
      ["\(bundle).resources", "\(bundle).bundle", "\(bundle).bundle/Contents/Resources"].map {
        place.appendingPathComponent($0).appendingPathComponent(name)
      }
    }
    return candidates.first { FileManager.default.fileExists(atPath: $0.path) } ?? source
  }
}

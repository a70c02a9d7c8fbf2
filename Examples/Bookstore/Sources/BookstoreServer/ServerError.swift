import Foundation

/// The reason why a shop cannot be opened.
public enum ServerError: Error, Equatable, CustomStringConvertible {
  /// The folder cannot be made, or nothing can be written into it.
  case folderNotWritable(String, reason: String)
  /// Another server works in the folder.
  case folderTaken(String)
  /// The store is none of a server, is damaged, or cannot be reached.
  case storeUnusable(String, reason: String)

  public var description: String {
    switch self {
    case .folderNotWritable(let folder, let reason): "\(folder) is no folder to write into: \(reason)"
    case .folderTaken(let folder): "another server works in \(folder)"
    case .storeUnusable(let store, let reason): "\(store) cannot be used: \(reason)"
    }
  }
}

/// Why a request is refused.
struct Refusal: Error, Equatable {
  var status: Int
  var reason: String

  static func malformed(_ reason: String) -> Refusal { Refusal(status: 400, reason: reason) }
  static func notFound(_ what: String) -> Refusal { Refusal(status: 404, reason: "There is no \(what).") }
  static func conflict(_ reason: String) -> Refusal { Refusal(status: 409, reason: reason) }
  static func invalid(_ reason: String) -> Refusal { Refusal(status: 422, reason: reason) }
}

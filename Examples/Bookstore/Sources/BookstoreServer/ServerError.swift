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

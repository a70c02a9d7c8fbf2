public import Foundation

/// The place where a shop is kept.
public enum ShopPlace: Sendable {
  /// The file `server.sqlite` in a folder, which one server has at a time.
  case folder(URL)
  /// A PostgreSQL database, which any number of servers share.
  case postgreSQL(String)

  /// The place that a user names: a URL that begins with `postgresql:` or `postgres:`, or else the path of a folder.
  public init(_ name: String) {
    let isURL = ["postgresql:", "postgres:"].contains { name.lowercased().hasPrefix($0) }
    self = isURL ? .postgreSQL(name) : .folder(URL(fileURLWithPath: name, isDirectory: true))
  }
}

import ConcordPersistence
public import Foundation

/// Where a shop keeps what it has.
public enum Place: Sendable, Equatable {
  /// Nowhere: it is gone with the process.
  case memory
  /// In the file `bookstore.sqlite` of a folder.
  case folder(URL)

  /// The folder of a shop of which nothing else is said.
  public static let usual = Shop.Container.defaultStoreLocation()
}

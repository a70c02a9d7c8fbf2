public import ConcordModel
package import Foundation

/// A description of a store that is to be attached to a container.
///
/// ```swift
/// StoreConfiguration(name: "TransientData", type: NSInMemoryStoreType)
/// ```
public final class StoreConfiguration: Sendable {
  /// Options by their keys, such as `NSInferMappingModelAutomaticallyOption`.
  public typealias Options = [String: any Hashable & Sendable]

  /// The default arguments of the initializers.
  public enum Default {
    /// The default of the file's name: the name of the container or of the configuration.
    public static let fileName: String? = nil
    /// The default of the configuration's name: a store without a configuration.
    public static let name: String? = nil
    /// The default type: an SQLite file.
    public static let type = NSSQLiteStoreType
    /// The default for files that do not fit the model: they are not replaced.
    public static let overwriteIncompatibleStore = false
    /// The default options, with which schemas are migrated where that can be inferred.
    public static let options: Options = [
      NSInferMappingModelAutomaticallyOption: true, NSMigratePersistentStoresAutomaticallyOption: true,
    ]
  }

  /// The name of the file, or its path in the folder; if `nil`, it is made from the container, the configuration, in lower case, and the type:
  /// `Library.persistentdata.sqlite`. Configurations whose names differ by upper and lower case alone need file names: attaching the second one is
  /// refused otherwise. However the same characters are spelled, with composed or with separate accents, the file is the same: it has the composed
  /// ones, unless only one with the given spelling exists, which an earlier version has made.
  public let fileName: String?
  /// The configuration of the model that the store keeps; `nil`, or empty, for all entities that belong to no other.
  public let name: String?
  /// The type of the store.
  public let type: StoreType
  /// Whether a file that does not fit the model, and cannot be migrated, is replaced by a new one. It is kept under another name. A database,
  /// which other programs may use, is never replaced.
  public let overwriteIncompatibleStore: Bool
  /// The options of the store.
  public let options: Options

  /// Creates a configuration.
  public init(
    fileName: String? = Default.fileName, name: String? = Default.name, type: StoreType = Default.type,
    overwriteIncompatibleStore: Bool = Default.overwriteIncompatibleStore, options: Options = Default.options
  ) {
    self.fileName = fileName
    self.name = name
    self.type = type
    self.overwriteIncompatibleStore = overwriteIncompatibleStore
    self.options = options
  }

  /// Returns the URL of the file, for a container with a name.
  ///
  /// - Throws: ``/ConcordModel/StoreError/storeFailed(store:reason:)`` for a name that leads out of the folder, as one that is made of a
  ///   user's name may, or that no file can have, or that is too long; for a container without a name, unless there is a ``fileName``.
  func url(prefix: String, in folder: URL) throws -> URL? {
    if !type.hasFile { return nil }
    let parts = [prefix, declaredName?.lowercased(), type.rawValue.lowercased()].compactMap { $0 }
    let given = parts.joined(separator: ".")
    if fileName == nil, prefix.isEmpty {
      throw StoreError.storeFailed(
        store: given,
        reason: "the container has no name, with which the name of its file begins; give it one, or use a fileName")
    }
    let path = fileName ?? given.canonicallyComposed
    let names = path.fileNames
    guard names.allSatisfy({ !["", ".", ".."].contains($0) && $0.isPartOfFileName }) else {
      throw StoreError.storeFailed(
        store: path, reason: "this is no name of a file in its folder; use a name without '..', and not an empty one")
    }
    let most = Self.mostBytesOfName
    guard names.allSatisfy({ $0.utf8.count <= String.mostBytesOfFileName }), (names.last?.utf8.count ?? 0) <= most
    else {
      throw StoreError.storeFailed(
        store: path, reason: "no file can have so long a name; use one of at most \(most) bytes")
    }
    let file = folder.appendingPathComponent(path)
    if fileName != nil || path.utf8.elementsEqual(given.utf8) { return file }
    // Where two spellings are two files, an earlier version has made the given one.
    let earlier = folder.appendingPathComponent(given)
    let manager = FileManager.default
    return manager.fileExists(atPath: earlier.path) && !manager.fileExists(atPath: file.path) ? earlier : file
  }

  /// The greatest length of the name of a store's file: SQLite adds as much to it for a file beside it.
  static var mostBytesOfName: Int { String.mostBytesOfFileName - "-journal".utf8.count }

  /// The name of a configuration that a model can declare; `nil` for none.
  var declaredName: String? { name.flatMap { $0.isEmpty ? nil : $0 } }

  /// The time for which the store remembers deletions, in seconds.
  package var deletionTime: TimeInterval {
    let option = options[ConcordRememberedDeletionsOption]
    return (option as? Double ?? (option as? Int).map(Double.init)).map { max(0, $0) * DeletionLimits.day }
      ?? DeletionLimits.time
  }

  /// Whether an option is on or missing.
  func isOn(_ option: String) -> Bool { (options[option] as? Bool) ?? true }
}

/// Whether a file of an earlier model is migrated when it is attached. The two options of Core Data say the same here: if one is
/// `false`, such a file is incompatible.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Whether a file of an earlier model is migrated when it is attached, like ``NSMigratePersistentStoresAutomaticallyOption``.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// The time to wait for other connections that have locked a file, in seconds (`Double`); 5 if not given.
public let ConcordBusyTimeoutOption = "ConcordBusyTimeoutOption"
/// The number of days for which a store remembers what was deleted (`Double` or `Int`); 30 if not given, and none if 0.
///
/// A value with a given stamp that is older than the deletion of its entity is not inserted as long as the deletion is remembered.
public let ConcordRememberedDeletionsOption = "ConcordRememberedDeletionsOption"
/// Whether attaching moves entities into the store of their configuration that were saved to a store without one, before this was
/// attached (`Bool`); `false` if not given: then attaching throws ``/ConcordModel/StoreError/keptElsewhere(store:in:entities:)``.
public let ConcordMoveEntitiesOption = "ConcordMoveEntitiesOption"

extension StoreConfiguration: Equatable {
  public static func == (a: StoreConfiguration, b: StoreConfiguration) -> Bool {
    a.fileName == b.fileName && a.name == b.name && a.type == b.type
      && a.overwriteIncompatibleStore == b.overwriteIncompatibleStore
      && a.options.mapValues { AnyHashable($0) } == b.options.mapValues { AnyHashable($0) }
  }
}

extension StoreConfiguration: CustomStringConvertible {
  public var description: String {
    let parts = [fileName.map { "fileName: '\($0)'" }, name.map { "name: '\($0)'" }, "type: \(type)"]
    return "<StoreConfiguration> (\(parts.compactMap { $0 }.joined(separator: ", ")))"
  }
}

public import Foundation

extension String: PersistentValue {
  public static var storageClass: StorageClass { .text }
  public static var comparison: StoredComparison { .text }
  public var storedValue: StoredValue { .text(self) }

  // Strings are equal if they are canonically equivalent, so the key is the composed form.
  public var storedKey: StoredValue { .text(canonicallyComposed) }

  public init(storedValue: StoredValue) throws {
    guard case .text(let value) = storedValue else {
      throw StoreError.unreadable(storedValue, as: String.self)
    }
    self = value
  }

  @inlinable public init(from source: RowSource, at position: Int) throws {
    guard let value = source.text(at: position) else {
      throw StoreError.unreadable(source.value(at: position), as: String.self)
    }
    self = value
  }
}

extension Character: PersistentValue {
  public static var storageClass: StorageClass { .text }
  public var storedValue: StoredValue { .text(String(self)) }
  public var storedKey: StoredValue { String(self).storedKey }

  public init(storedValue: StoredValue) throws {
    guard case .text(let text) = storedValue, text.count == 1, let value = text.first else {
      throw StoreError.unreadable(storedValue, as: Character.self)
    }
    self = value
  }
}

extension UUID: PersistentValue {
  public static var storageClass: StorageClass { .text }
  public static var comparison: StoredComparison { .equality }
  public var storedValue: StoredValue { .text(uuidString) }

  public init(storedValue: StoredValue) throws {
    guard case .text(let text) = storedValue, let value = UUID(uuidString: text) else {
      throw StoreError.unreadable(storedValue, as: UUID.self)
    }
    self = value
  }
}

extension Data: PersistentValue {
  public static var storageClass: StorageClass { .blob }
  public static var comparison: StoredComparison { .equality }
  public var storedValue: StoredValue { .blob(self) }

  public init(storedValue: StoredValue) throws {
    guard case .blob(let value) = storedValue else { throw StoreError.unreadable(storedValue, as: Data.self) }
    self = value
  }
}

extension URL: PersistentValue {
  public static var storageClass: StorageClass { .text }

  // A URL relative to another is stored as JSON, which keeps both parts. No URL begins with a brace.
  public var storedValue: StoredValue {
    get throws {
      guard let baseURL else { return .text(relativeString) }
      return try JSONCoding<RelativeURL>.encode(RelativeURL(base: baseURL.absoluteString, relative: relativeString))
    }
  }

  public init(storedValue: StoredValue) throws {
    guard case .text(let text) = storedValue else { throw StoreError.unreadable(storedValue, as: URL.self) }
    let parts = text.hasPrefix("{") ? try JSONCoding<RelativeURL>.decode(storedValue) : nil
    guard
      let value = parts.map({ URL(string: $0.relative, relativeTo: URL(string: $0.base)) }) ?? URL(string: text)
    else { throw StoreError.unreadable(storedValue, as: URL.self) }
    self = value
  }
}

/// The stored form of a URL with a base.
private struct RelativeURL: Codable {
  let base: String
  let relative: String
}

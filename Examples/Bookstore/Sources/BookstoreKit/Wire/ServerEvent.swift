public import Foundation

/// What the server tells those who follow its feed: one entity, as it is from a version on. The first event of a feed has none.
public struct ServerEvent: Codable, Sendable, Equatable {
  public var version: Int
  public var book: Book?
  public var author: Author?
  public var line: LineOfCart?

  public init(version: Int, book: Book? = nil, author: Author? = nil, line: LineOfCart? = nil) {
    (self.version, self.book, self.author, self.line) = (version, book, author, line)
  }
}

/// A book in a customer's cart, as the server says it.
public struct LineOfCart: Codable, Sendable, Equatable {
  public var customer: String
  public var book: Book.ID
  /// One for each copy, in the order in which they were put into the cart.
  public var copies: [String]
  public var version: Int

  public init(customer: String, book: Book.ID, copies: [String], version: Int) {
    (self.customer, self.book, self.copies, self.version) = (customer, book, copies, version)
  }
}

/// What a request carries, and why one is refused.
public enum Wire {
  public struct Price: Codable, Sendable {
    public var cents: Int
    public init(cents: Int) { self.cents = cents }
  }

  public struct Name: Codable, Sendable {
    public var name: String
    public init(name: String) { self.name = name }
  }

  public struct Copy: Codable, Sendable {
    public var id: String
    public var book: Book.ID
    public init(id: String, book: Book.ID) { (self.id, self.book) = (id, book) }
  }

  public struct Refusal: Codable, Sendable {
    public var error: String
    public init(error: String) { self.error = error }
  }

  public struct Status: Codable, Sendable {
    public var version: Int
    /// Whether the shop refuses what customers send.
    public var isRefusing: Bool
    public init(version: Int, isRefusing: Bool) { (self.version, self.isRefusing) = (version, isRefusing) }
  }

  public struct Refusing: Codable, Sendable {
    public var isRefusing: Bool
    public init(isRefusing: Bool) { self.isRefusing = isRefusing }
  }

  /// JSON, the same for the same value.
  public static func data(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }
}

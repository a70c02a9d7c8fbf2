package import BookstoreKit
import Foundation

// What others do: it reaches this customer through the server's feed only.

extension Storefront {
  /// Changes a price on the server.
  package func setPrice(of book: Book.ID, cents: Int) async throws {
    try await network.sendAsStaff("PUT", "/books/\(book)/price", Wire.Price(cents: cents))
  }

  /// Changes the price that the server has by some cents.
  package func changePrice(of book: Book.ID, by cents: Int) async throws {
    let present = try await network.getAsStaff("/books/\(book)", Book.self).cents
    let (sum, isTooLarge) = present.addingReportingOverflow(cents)
    try await setPrice(of: book, cents: isTooLarge ? .max : max(0, sum))
  }

  /// Makes the server refuse what customers send.
  package func setRefusing(_ isRefusing: Bool) async throws {
    try await network.sendAsStaff("PUT", "/refusing", Wire.Refusing(isRefusing: isRefusing))
  }

  package func isRefusing() async throws -> Bool {
    try await network.getAsStaff("/", Wire.Status.self).isRefusing
  }
}

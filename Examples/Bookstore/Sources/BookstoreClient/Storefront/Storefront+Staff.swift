package import BookstoreKit
import ConcordConnect
import Foundation

// What others do: it reaches this customer through the server's feed only.

/// A server that is not known by the name under which it was asked, so that it answers nothing.
package struct MisdirectedServer: Error, CustomStringConvertible {
  let server: URL

  package var description: String {
    "the server at \(server) does not go by that name (421); it is reached as 127.0.0.1 or localhost, at its own port"
  }
}

extension Storefront {
  /// Asks the server whether it answers under its name. One that is away may do so later.
  ///
  /// - Throws: ``MisdirectedServer`` if it never will.
  package func checkServer() async throws {
    do {
      _ = try await network.getAsStaff("/", Wire.Status.self)
    } catch TransportError.status(421, _, _) {
      throw MisdirectedServer(server: network.serverURL)
    } catch {}
  }

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

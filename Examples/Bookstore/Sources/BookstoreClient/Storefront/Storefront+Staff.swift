package import BookstoreKit
import BookstoreShared
import ConcordSync
import Foundation

// What others do: it reaches this customer by synchronisation only.

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
      _ = try await isRefusing()
    } catch TransportError.status(421, _, _) {
      throw MisdirectedServer(server: network.serverURL)
    } catch {}
  }

  /// Changes the price that the server has by some cents.
  package func changePrice(of book: Book.ID, by cents: Int) async throws {
    try await network.askStaff("POST", "/books/\(book)/price", PriceChange(cents: cents))
  }

  /// Makes the server refuse what customers send.
  package func setRefusing(_ isRefusing: Bool) async throws {
    try await network.askStaff("POST", "/refusing", Refusing(isRefusing: isRefusing))
  }

  package func isRefusing() async throws -> Bool {
    try JSONDecoder().decode(Refusing.self, from: try await network.askStaff("GET", "/")).isRefusing
  }
}

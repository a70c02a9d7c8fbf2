import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Who refers to what is changed and not saved")
struct PendingReferencesTests {
  @Test("What is kept of references is what a look through all changes finds, whatever is changed")
  func sameAsSearched() throws {
    let model = try libraryModel()
    let (books, authors, reviews) = (
      try model.entity(Book.self), try model.entity(Author.self), try model.entity(Review.self)
    )
    var random = SystemRandomNumberGenerator()
    func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    func book() throws -> (EntityKey, PendingChange) {
      let id = "\(below(20))"
      let author = Author(id: "\(below(5))", name: "")
      var book = Book(id: id, title: "", author: author)
      book.reviews = (0..<below(4)).map { _ in Review(id: below(6), text: "") }
      book.editor = below(2) == 0 ? Author(id: "\(below(5))", name: "") : nil
      let row = below(4) == 0 ? nil : try books.row(of: book, stamp: 1)
      return (EntityKey(books, .text(id)), PendingChange(base: .unknown, row: row, stamp: 1))
    }
    var (kept, searched) = (PendingChanges(), PendingChanges())
    for step in 0..<500 {
      let (key, change) = try book()
      let new = below(5) == 0 ? nil : change
      kept[key] = new
      searched[key] = new
      if step == 20 { kept.knowReferences() }
      for number in 0..<6 {
        for target in [EntityKey(authors, .text("\(number)")), EntityKey(reviews, .integer(Int64(number)))] {
          #expect(kept.referrers(to: target, in: books) == searched.referrers(to: target, in: books))
        }
      }
    }
  }

  /// The time of this thread alone, in seconds: what others do does not count.
  private func time(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
    let start = now()
    try body()
    return now() - start
  }

  @Test("Deleting beside pending aggregates costs what is deleted, and not that times the aggregates")
  func linear() throws {
    func deleting(_ count: Int) throws -> Double {
      try StoreKind.memory.withCoordinator(libraryModel()) { coordinator in
        let context = coordinator.newContext()
        for id in 0..<count {
          var book = Book(id: "\(id)", title: "", author: Author(id: "\(id)", name: ""))
          book.reviews = [Review(id: id, text: "")]
          context.insert(book)
        }
        let time = try time { for id in 0..<count { try context.delete(Review.self, id: id) } }
        #expect(try context.find(Book.self, id: "0")?.reviews == [])
        return time
      }
    }
    _ = try deleting(10)
    // Eight times as many: eight times the work, and not sixty-four times.
    let (few, many) = (try deleting(250), try deleting(2_000))
    #expect(many < few * 24)
  }
}

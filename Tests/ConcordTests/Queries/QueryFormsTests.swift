import Concord
import Foundation
import Testing

/// The forms in which the store is asked, as a reader writes them.
@Suite("The forms of queries")
struct QueryFormsTests {
  private struct Project: Identifiable, Hashable {
    let id: String
    var name = ""
  }

  private struct Note: Aggregate, Equatable {
    let id: Int
    var title: String
    var due: Date?
    var minutes = 0
    var isDone = false
    var project: Project?
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.project)] }
  }

  private struct Customer: Identifiable, Equatable {
    let id: Int
    var name: String
  }

  private struct Order: Identifiable, Equatable {
    let id: Int
    var customer: Int
  }

  private let store = EntityStore(delivery: .immediate)

  private func day(_ number: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(number) * 86_400) }

  private func notes() -> [EntityObserver<Note>] {
    [
      Note(id: 1, title: "Paint", due: day(2), minutes: 90, project: Project(id: "house")),
      Note(id: 2, title: "Call", due: day(1), minutes: 5),
      Note(id: 3, title: "Read", due: day(1), minutes: 30, isDone: true, project: Project(id: "house")),
      Note(id: 4, title: "Answer", due: day(1), minutes: 1, project: Project(id: "office")),
    ].map { store.store($0) }
  }

  @Test("A query with a predicate, an order and a limit is observed as everything is")
  func queries() async {
    let kept = notes()
    let open = store.query(
      Note.self, where: #Predicate { !$0.isDone }, sortBy: [SortDescriptor(\.due), SortDescriptor(\.title)], limit: 50)
    #expect(open.value.map(\.id) == [4, 2, 1])
    let (told, differences) = (Log<[Int]>(), Log<Int>())
    let subscriptions = [
      open.observe { notes in told.append(notes.map(\.id)) },
      open.observeDifferences { difference in differences.append(difference.inserted.count) },
    ]
    store.update(Note.self, id: 3) { $0.isDone = false }
    #expect(told.values == [[4, 2, 1], [4, 2, 3, 1]] && differences.values == [3, 1])
    for await notes in open.values {
      #expect(notes.count == 4)
      break
    }
    #expect(open.observed.value.count == 4)
    let late = store.query(Note.self, where: { $0.minutes > 60 }, sortBy: [SortDescriptor(\.due)])
    #expect(late.value.map(\.id) == [1])
    withExtendedLifetime((kept, subscriptions)) {}
  }

  @Test("Aggregates and groups are asked for on one line, groups by an entity or its id")
  func aggregates() {
    let kept = notes()
    #expect(store.query(Note.self).count.value == 4)
    #expect(store.query(Note.self).sum(\.minutes).value == 126)
    #expect(store.query(Note.self).min(\.due).value == day(1))
    let groups = store.query(Note.self).group(by: \.project)
    #expect(groups.value.map { $0.id?.id } == ["house", nil, "office"])
    #expect(groups.value.map { $0.elements.map(\.id) } == [[1, 3], [2], [4]])
    // An entity is one truth: a change of it renames the group, and makes none.
    store.update(Project.self, id: "house") { $0.name = "House" }
    #expect(groups.value.map { $0.id?.name } == ["House", nil, ""])
    let byID = store.query(Note.self).group(by: \.project?.id)
    #expect(byID.value.map(\.id) == ["house", nil, "office"])
    withExtendedLifetime(kept) {}
  }

  @Test("A join is asked for on one line")
  func joins() {
    let kept = store.store(Customer(id: 7, name: "Steinbeck"))
    let orders = store.store([Order(id: 1, customer: 7), Order(id: 2, customer: 8), Order(id: 3, customer: 7)])
    let pairs = store.query(Order.self).joined(with: Customer.self) { $0.customer == $1.id }
    #expect(pairs.value.map { "\($0.left.id) \($0.right.name)" } == ["1 Steinbeck", "3 Steinbeck"])
    withExtendedLifetime((kept, orders)) {}
  }
}

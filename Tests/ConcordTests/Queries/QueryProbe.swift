import Concord
import Foundation

/// One query with an operator, everything that it told, and a naive computation of the same.
struct QueryProbe {
  let name: String
  private let subscriptions: [Subscription]
  /// Compares with the state of all entities. What was told is compared only with a committed state.
  private let failures: (_ errands: [Errand], _ helpers: [Helper], _ isCommitted: Bool) -> [String]

  func failures(_ errands: [Errand], _ helpers: [Helper], isCommitted: Bool) -> [String] {
    failures(errands, helpers, isCommitted).map { "\(name): \($0)" }
  }

  /// Leaves the query unread until `resume()`.
  func pause() { for subscription in subscriptions { subscription.pause() } }
  func resume() { for subscription in subscriptions { subscription.resume() } }

  private init<Value: Sendable, Plain>(
    _ name: String, _ observer: EntityObserver<Value>, _ plain: @escaping (Value) -> Plain,
    isSame: @escaping (Plain, Plain) -> Bool, _ naive: @escaping ([Errand], [Helper]) -> Plain
  ) {
    self.name = name
    let told = Log<Value>()
    subscriptions = [observer.observe(buffering: .every) { told.append($0) }]
    failures = { errands, helpers, isCommitted in
      let expected = naive(errands, helpers)
      var failures: [String] = []
      if !isSame(plain(observer.value), expected) { failures.append("reads \(plain(observer.value)), not \(expected)") }
      if isCommitted, let last = told.last, !isSame(plain(last), expected) {
        failures.append("told \(plain(last)), not \(expected)")
      }
      return failures
    }
  }

  /// A query whose differences are applied one after the other, too.
  static func list(
    _ name: String, _ observer: EntityObserver<EntityResults<Errand>>, _ naive: @escaping ([Errand]) -> [Errand]
  ) -> QueryProbe {
    let rebuilt = Log<[Errand]>()
    let problems = Log<String>()
    let subscription = observer.observeDifferences(buffering: .every) { difference in
      let old = rebuilt.last ?? []
      let new = applied(difference, to: old)
      if new != difference.elements { problems.append("a difference gives \(new), not \(difference.elements)") }
      let ids = Set(old.map(\.id)).intersection(new.map(\.id))
      let changed = Set(difference.updated.map(\.new.id))
      for id in ids
      where old.first(where: { $0.id == id }) != new.first(where: { $0.id == id }) && !changed.contains(id) {
        problems.append("a change of \(id) is not told")
      }
      rebuilt.append(new)
    }
    let probe = QueryProbe(name, observer, Array.init, isSame: ==) { errands, _ in naive(errands) }
    return QueryProbe(name, probe.subscriptions + [subscription]) { errands, helpers, isCommitted in
      var failures = probe.failures(errands, helpers, isCommitted) + problems.values
      if isCommitted, let last = rebuilt.last, last != naive(errands) {
        failures.append("differences give \(last), not \(naive(errands))")
      }
      let value = observer.value
      if !value.isEmpty, value.indices.map({ value[$0] }) != Array(value) { failures.append("positions differ") }
      return failures
    }
  }

  private init(
    _ name: String, _ subscriptions: [Subscription], _ failures: @escaping ([Errand], [Helper], Bool) -> [String]
  ) {
    (self.name, self.subscriptions, self.failures) = (name, subscriptions, failures)
  }

  /// Applies a difference as a list on a screen does: removals, then insertions, then moves and updates.
  private static func applied(_ difference: EntityDifference<Errand>, to old: [Errand]) -> [Errand] {
    let gone = Set(difference.removed.map(\.offset) + difference.moved.map(\.oldOffset))
    var elements = old.indices.filter { !gone.contains($0) }.map { old[$0] }
    let coming = difference.inserted.map { ($0.offset, $0.element) } + difference.moved.map { ($0.offset, $0.new) }
    for (offset, element) in coming.sorted(by: { $0.0 < $1.0 }) {
      elements.insert(element, at: min(offset, elements.count))
    }
    for pair in difference.updated where elements.indices.contains(pair.offset) { elements[pair.offset] = pair.new }
    return elements
  }

  // MARK: All of them

  private static func order(_ a: Double, _ b: Double) -> Int {
    if a.isNaN || b.isNaN { return a.isNaN ? (b.isNaN ? 0 : 1) : -1 }
    return a < b ? -1 : a > b ? 1 : 0
  }

  private static func order(_ a: Double?, _ b: Double?) -> Int {
    guard let a, let b else { return a == nil ? (b == nil ? 0 : -1) : 1 }
    return order(a, b)
  }

  /// The scalars of the composed form.
  private static func order(_ a: String, _ b: String) -> Int {
    let (a, b) = (a.precomposedStringWithCanonicalMapping, b.precomposedStringWithCanonicalMapping)
    return a.unicodeScalars.lexicographicallyPrecedes(b.unicodeScalars)
      ? -1 : b.unicodeScalars.lexicographicallyPrecedes(a.unicodeScalars) ? 1 : 0
  }

  private static func sorted(_ errands: [Errand], _ orders: (Errand, Errand) -> Int...) -> [Errand] {
    errands.sorted { a, b in
      for order in orders {
        let result = order(a, b)
        if result != 0 { return result < 0 }
      }
      return a.id < b.id
    }
  }

  // The comparator is named, since Apple's Foundation has another one by default.
  private static var byTitle: SortDescriptor<Errand> { SortDescriptor(\.title, comparator: .lexical) }

  static func all(_ store: EntityStore) -> [QueryProbe] {
    let descriptors: [SortDescriptor<Errand>] = [SortDescriptor(\.due, order: .reverse), byTitle]
    func byDue(_ errands: [Errand]) -> [Errand] {
      sorted(errands, { order($1.due, $0.due) }, { order($0.title, $1.title) })
    }
    let two = 2
    return [
      list("all", store.query(Errand.self)) { sorted($0) },
      list("sorted", store.query(Errand.self, sortBy: descriptors), byDue),
      list("first", store.query(Errand.self, sortBy: descriptors, limit: 3)) { Array(byDue($0).prefix(3)) },
      list(
        "page",
        store.query(
          FetchDescriptor<Errand>(
            predicate: #Predicate { $0.minutes > 0 },
            sortBy: [SortDescriptor(\.title, comparator: .lexical, order: .reverse)],
            fetchLimit: 4, fetchOffset: 2))
      ) {
        Array(sorted($0.filter { $0.minutes > 0 }, { order($1.title, $0.title) }).dropFirst(2).prefix(4))
      },
      list("topic", store.query(Errand.self, where: #Predicate { $0.topic == two && $0.minutes >= 0 })) {
        sorted($0.filter { $0.topic == 2 && $0.minutes >= 0 })
      },
      list(
        "inside",
        store.query(
          Errand.self, where: { $0.project?.isOpen ?? false },
          sortBy: [SortDescriptor(\.weight), SortDescriptor(\.minutes, order: .reverse)])
      ) {
        sorted(
          $0.filter { $0.project?.isOpen ?? false }, { order($0.weight, $1.weight) },
          { order(Double($1.minutes), Double($0.minutes)) })
      },
      list(
        "contained",
        store.query(
          Errand.self,
          where: #Predicate { $0.project?.isOpen == true || $0.helpers.contains { helper in helper.topic == two } })
      ) {
        sorted($0.filter { $0.project?.isOpen == true || $0.helpers.contains { $0.topic == 2 } })
      },
      QueryProbe("count", store.query(Errand.self, where: { $0.topic < 2 }).count, { $0 }, isSame: ==) { errands, _ in
        errands.count { $0.topic < 2 }
      },
    ] + aggregates(store) + combinations(store)
  }

  private static func aggregates(_ store: EntityStore) -> [QueryProbe] {
    let all = store.query(Errand.self)
    return [
      QueryProbe("sum of integers", all.sum(\.minutes), { $0 }, isSame: ==) { errands, _ in
        let sum = errands.reduce(Decimal(0)) { $0 + Decimal($1.minutes) }
        return sum > Decimal(Int.max) ? .max : (sum as NSDecimalNumber).intValue
      },
      QueryProbe("sum", all.sum(\.weight), { "\($0)" }, isSame: ==) { errands, _ in exactSum(errands.map(\.weight)) },
      QueryProbe("average", all.average(\.topic), { $0 }, isSame: ==) { errands, _ in
        errands.isEmpty ? nil : Double(errands.reduce(0) { $0 + $1.topic }) / Double(errands.count)
      },
      QueryProbe("average of numbers", all.average(\.weight), { "\($0 as Any)" }, isSame: ==) { errands, _ in
        let sum = Double(exactSum(errands.map(\.weight))) ?? 0
        return "\((errands.isEmpty ? nil : sum / Double(errands.count)) as Double? as Any)"
      },
      QueryProbe("max of an optional", all.max(\.due), { $0 }, isSame: ==) { errands, _ in
        errands.compactMap(\.due).filter { !$0.isNaN }.max()
      },
      QueryProbe("min", all.min(\.due), { $0 }, isSame: ==) { errands, _ in
        errands.compactMap(\.due).filter { !$0.isNaN }.min()
      },
      QueryProbe("max", all.max(\.minutes), { $0 }, isSame: ==) { errands, _ in errands.map(\.minutes).max() },
    ]
  }

  /// The sum of decimal numbers, none of which here is rounded as such, but for the greatest and least, which are told apart.
  private static func exactSum(_ numbers: [Double]) -> String {
    if numbers.contains(where: \.isNaN) { return "nan" }
    let huge = numbers.reduce(0) { $0 + ($1 == 1e300 ? 1 : $1 == -1e300 ? -1 : 0) }
    if huge != 0 { return "\(Double(huge) * 1e300)" }
    // Multiples of 2^-60 are exact as such: 0.1, 0.2 and 0.3 are.
    let rest = numbers.filter { abs($0) < 1e299 && abs($0) != 1e-300 }
    let tiny = numbers.count { $0 == 1e-300 }
    let units = rest.reduce(Int128(0)) { $0 + Int128($1 * 0x1p60) }
    if units == 0 { return "\(tiny == 0 ? 0 : Double(tiny) * 1e-300)" }
    // A tiny part decides only ties.
    return "\(Double(units * 4 + (tiny > 0 ? 1 : 0)) * 0x1p-62)"
  }

  private static func combinations(_ store: EntityStore) -> [QueryProbe] {
    let firstErrands = store.query(Errand.self, sortBy: [byTitle], limit: 9)
    func firstByTitle(_ errands: [Errand]) -> [Errand] {
      Array(sorted(errands, { order($0.title, $1.title) }).prefix(9))
    }
    func sections<Key: Hashable>(_ errands: [Errand], by key: (Errand) -> Key) -> [String] {
      var keys: [Key] = []
      for errand in errands where !keys.contains(key(errand)) { keys.append(key(errand)) }
      return keys.map { one in "\(one): \(errands.filter { key($0) == one }.map(\.id))" }
    }
    let busy = store.query(Errand.self, where: { $0.minutes > 0 }, sortBy: [byTitle], limit: 7)
    let known = store.query(
      Helper.self, where: #Predicate { $0.id != 1 }, sortBy: [SortDescriptor(\.name, comparator: .lexical)], limit: 4)
    return [
      QueryProbe(
        "sections", firstErrands.sections(by: \.topic), { $0.map { "\($0.id): \($0.elements.map(\.id))" } }, isSame: ==
      ) { errands, _ in
        sections(firstByTitle(errands), by: \.topic)
      },
      QueryProbe(
        "sections of all", store.query(Errand.self, sortBy: [byTitle]).sections(by: \.title),
        { $0.map { "\($0.id): \($0.elements.map(\.id))" } }, isSame: ==
      ) { errands, _ in
        sections(sorted(errands, { order($0.title, $1.title) }), by: \.title)
      },
      QueryProbe(
        "group", store.query(Errand.self).group(by: \.project?.id),
        { $0.map { "\($0.id as Any): \($0.elements.map(\.id))" } }, isSame: ==
      ) { errands, _ in
        sections(sorted(errands), by: \.project?.id)
      },
      QueryProbe(
        "join of two properties",
        store.query(Errand.self).joined(with: Helper.self) { $0.topic == $1.topic && $0.title == $1.name },
        { $0.map { "\($0.left.id) \($0.right.id)" } }, isSame: ==
      ) { errands, helpers in
        sorted(errands).flatMap { errand in
          helpers.filter { $0.topic == errand.topic && $0.name == errand.title }.sorted { $0.id < $1.id }.map {
            "\(errand.id) \($0.id)"
          }
        }
      },
      QueryProbe(
        "join of two queries, the optional property first", known.joined(with: busy) { $0.topic == $1.topic },
        { $0.map { "\($0.left.id) \($0.left.name) \($0.right.id) \($0.right.title)" } }, isSame: ==
      ) { errands, helpers in
        let left = helpers.filter { $0.id != 1 }.sorted {
          let result = order($0.name, $1.name)
          return result != 0 ? result < 0 : $0.id < $1.id
        }.prefix(4)
        let right = sorted(errands.filter { $0.minutes > 0 }, { order($0.title, $1.title) }).prefix(7)
        return left.flatMap { helper in
          right.filter { $0.topic == helper.topic }.map {
            "\(helper.id) \(helper.name) \($0.id) \($0.title)"
          }
        }
      },
      QueryProbe(
        "join", firstErrands.joined(with: Helper.self) { $0.topic == $1.topic },
        { $0.map { "\($0.left.id) \($0.right.id) \($0.right.name)" } }, isSame: ==
      ) { errands, helpers in
        firstByTitle(errands).flatMap { errand in
          helpers.filter { $0.topic == errand.topic }.sorted { $0.id < $1.id }.map {
            "\(errand.id) \($0.id) \($0.name)"
          }
        }
      },
    ]
  }
}

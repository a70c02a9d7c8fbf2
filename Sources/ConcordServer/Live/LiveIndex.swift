#if Server
  import ConcordSync

  /// The waiting requests, by the values that their predicates compare for equality, so that a commit costs what it concerns.
  struct LiveIndex {
    private struct Waiting {
      weak var ticket: LiveTicket?
      let predicates: [RowPredicate]
      let place: WaitingPlace
    }

    /// The requests that concern the rows of one type.
    private struct Roots {
      /// By a column and the value that it is compared with, the numbers of requests and predicates.
      var byValue: [StoredColumn: [Compared: Set<Place>]] = [:]
      /// The other ones.
      var others: Set<Place> = []

      var isEmpty: Bool { byValue.isEmpty && others.isEmpty }
      var all: Set<Place> {
        byValue.values.reduce(into: others) { all, places in for places in places.values { all.formUnion(places) } }
      }
    }

    /// The most values of one predicate that are indexed.
    private static let mostValues = 100

    private struct Place: Hashable {
      let number: Int
      let predicate: Int
    }

    private var waiting: [Int: Waiting] = [:]
    private var devices: [DeviceName: Set<Int>] = [:]
    private var users: [String: Int] = [:]
    private var roots: [EntityDescription: Roots] = [:]
    /// The requests whose predicates look at other rows.
    private var others: Set<Place> = []

    var isEmpty: Bool { waiting.isEmpty }
    var count: Int { waiting.count }
    private(set) var predicateCount = 0
    func count(of user: String) -> Int { users[user] ?? 0 }
    var all: [LiveTicket] { waiting.values.compactMap(\.ticket) }

    func tickets(of device: DeviceName) -> [LiveTicket] {
      (devices[device] ?? []).compactMap { waiting[$0]?.ticket }
    }

    func tickets(at place: WaitingPlace) -> [LiveTicket] {
      (devices[place.device] ?? []).compactMap { waiting[$0] }.filter { $0.place == place }.compactMap(\.ticket)
    }

    mutating func add(_ number: Int, _ ticket: LiveTicket, _ predicates: [RowPredicate], _ place: WaitingPlace) {
      let device = place.device
      waiting[number] = Waiting(ticket: ticket, predicates: predicates, place: place)
      predicateCount += predicates.count
      devices[device, default: []].insert(number)
      users[device.user, default: 0] += 1
      for (index, predicate) in predicates.enumerated() {
        let place = Place(number: number, predicate: index)
        if !predicate.isOfColumns {
          others.insert(place)
        } else if let (column, values) = Self.equality(of: predicate) {
          for value in values {
            roots[predicate.entity, default: Roots()].byValue[column, default: [:]][value, default: []].insert(place)
          }
          // What holds for no row waits for none, and needs a type.
          if values.isEmpty { roots[predicate.entity, default: Roots()].others.insert(place) }
        } else {
          roots[predicate.entity, default: Roots()].others.insert(place)
        }
      }
    }

    private static func equality(of predicate: RowPredicate) -> (column: StoredColumn, values: Set<Compared>)? {
      guard let (column, values) = predicate.equality, values.count <= mostValues else { return nil }
      return (column, Set(values.map(Compared.init)))
    }

    mutating func remove(_ number: Int) {
      guard let gone = waiting.removeValue(forKey: number) else { return }
      let device = gone.place.device
      predicateCount -= gone.predicates.count
      devices[device]?.remove(number)
      if devices[device]?.isEmpty == true { devices[device] = nil }
      users[device.user, default: 1] -= 1
      if users[device.user] == 0 { users[device.user] = nil }
      for (index, predicate) in gone.predicates.enumerated() {
        let place = Place(number: number, predicate: index)
        others.remove(place)
        roots[predicate.entity]?.others.remove(place)
        if let (column, values) = Self.equality(of: predicate) {
          for value in values {
            roots[predicate.entity]?.byValue[column]?[value]?.remove(place)
            if roots[predicate.entity]?.byValue[column]?[value]?.isEmpty == true {
              roots[predicate.entity]?.byValue[column]?[value] = nil
            }
          }
          if roots[predicate.entity]?.byValue[column]?.isEmpty == true {
            roots[predicate.entity]?.byValue[column] = nil
          }
        }
        if roots[predicate.entity]?.isEmpty == true { roots[predicate.entity] = nil }
      }
    }

    /// The types of the rows that somebody subscribes to, by the columns of these rows.
    var types: Set<EntityDescription> { Set(roots.keys) }

    /// The types of the rows that somebody subscribes to.
    var allTypes: Set<EntityDescription> {
      others.reduce(into: types) { types, place in
        if let predicate = predicate(place) { types.insert(predicate.entity) }
      }
    }

    /// Finds the requests that changes may concern.
    ///
    /// - Complexity: the number of rows, and of the requests that are found.
    func concerned(by changes: LiveChanges) -> [LiveTicket] {
      if changes.isEmpty { return [] }
      var found: Set<Int> = []
      for row in changes.rows {
        if let roots = roots[row.key.entity] { find(row, roots, &found) }
      }
      for (entity, roots) in roots where changes.wholeTypes.contains(entity) {
        for place in roots.all { found.insert(place.number) }
      }
      // A predicate that looks at other rows may change with any row.
      for place in others { found.insert(place.number) }
      return found.compactMap { waiting[$0]?.ticket }
    }

    private func predicate(_ place: Place) -> RowPredicate? { waiting[place.number]?.predicates[place.predicate] }

    /// Finds the requests that a row concerns, with the number of predicates that were looked at for it.
    func concerned(by row: LiveChanges.Row) -> (tickets: [LiveTicket], looked: Int) {
      var found: Set<Int> = []
      let looked = roots[row.key.entity].map { find(row, $0, &found) } ?? 0
      return (found.compactMap { waiting[$0]?.ticket }, looked)
    }

    /// - Returns: the number of predicates that were looked at.
    @discardableResult
    private func find(_ row: LiveChanges.Row, _ roots: Roots, _ found: inout Set<Int>) -> Int {
      var places = roots.others
      for (column, byValue) in roots.byValue {
        switch column {
        case .key: places.formUnion(byValue[Compared(row.key.id)] ?? [])
        case .position(let position):
          if row.values.indices.contains(position) { places.formUnion(byValue[Compared(row.values[position])] ?? []) }
        }
      }
      for place in places where !found.contains(place.number) {
        guard let predicate = predicate(place) else { continue }
        if (try? predicate.holds(row.values, key: row.key.id)) ?? true { found.insert(place.number) }
      }
      return places.count
    }
  }

  /// A value as predicates compare it: texts as Swift does, numbers that a store compares as equal as one.
  private enum Compared: Hashable {
    case text(String)
    case value(StoredValue)

    init(_ value: StoredValue) {
      switch value {
      case .text(let text): self = .text(text)
      case .real(let number): self = .value(Int64(exactly: number).map { .integer($0) } ?? value)
      default: self = .value(value)
      }
    }
  }
#endif

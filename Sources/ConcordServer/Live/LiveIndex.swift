#if Server
  import ConcordSync

  /// The waiting requests, by the values that their predicates compare for equality, so that a commit costs what it concerns.
  struct LiveIndex {
    private struct Waiting {
      weak var ticket: LiveTicket?
      let predicates: [RowPredicate]
      let device: DeviceName
    }

    /// The requests that concern the rows of one type.
    private struct Roots {
      /// By the position of a column and the value that it is compared with, the numbers of requests and predicates.
      var byValue: [Int: [StoredValue: Set<Place>]] = [:]
      /// The other ones.
      var others: Set<Place> = []

      var isEmpty: Bool { byValue.isEmpty && others.isEmpty }
    }

    private struct Place: Hashable {
      let number: Int
      let predicate: Int
    }

    private var waiting: [Int: Waiting] = [:]
    private var devices: [DeviceName: Set<Int>] = [:]
    private var roots: [EntityDescription: Roots] = [:]
    /// Those whose predicates look at other rows.
    private var others: Set<Place> = []

    var isEmpty: Bool { waiting.isEmpty }
    var count: Int { waiting.count }
    var all: [LiveTicket] { waiting.values.compactMap(\.ticket) }

    func tickets(of device: DeviceName) -> [LiveTicket] {
      (devices[device] ?? []).compactMap { waiting[$0]?.ticket }
    }

    mutating func add(_ number: Int, _ ticket: LiveTicket, _ predicates: [RowPredicate], _ device: DeviceName) {
      waiting[number] = Waiting(ticket: ticket, predicates: predicates, device: device)
      devices[device, default: []].insert(number)
      for (index, predicate) in predicates.enumerated() {
        let place = Place(number: number, predicate: index)
        if !predicate.isOfColumns {
          others.insert(place)
        } else if let (position, value) = predicate.equality {
          roots[predicate.entity, default: Roots()].byValue[position, default: [:]][value.compared, default: []].insert(
            place)
        } else {
          roots[predicate.entity, default: Roots()].others.insert(place)
        }
      }
    }

    mutating func remove(_ number: Int) {
      guard let gone = waiting.removeValue(forKey: number) else { return }
      devices[gone.device]?.remove(number)
      if devices[gone.device]?.isEmpty == true { devices[gone.device] = nil }
      for (index, predicate) in gone.predicates.enumerated() {
        let place = Place(number: number, predicate: index)
        others.remove(place)
        roots[predicate.entity]?.others.remove(place)
        if let (position, value) = predicate.equality {
          let value = value.compared
          roots[predicate.entity]?.byValue[position]?[value]?.remove(place)
          if roots[predicate.entity]?.byValue[position]?[value]?.isEmpty == true {
            roots[predicate.entity]?.byValue[position]?[value] = nil
          }
          if roots[predicate.entity]?.byValue[position]?.isEmpty == true {
            roots[predicate.entity]?.byValue[position] = nil
          }
        }
        if roots[predicate.entity]?.isEmpty == true { roots[predicate.entity] = nil }
      }
    }

    /// The types of the rows that somebody subscribes to.
    var types: Set<EntityDescription> { Set(roots.keys) }

    /// Finds the requests that changes may concern.
    ///
    /// - Complexity: the number of rows, and of the requests that are found.
    func concerned(by changes: LiveChanges) -> [LiveTicket] {
      if changes.isEmpty { return [] }
      var found: Set<Int> = []
      for row in changes.rows {
        if let roots = roots[row.key.entity] { find(row, roots, &found) }
      }
      // A predicate that looks at other rows may change with any row.
      for place in others { found.insert(place.number) }
      return found.compactMap { waiting[$0]?.ticket }
    }

    private func predicate(_ place: Place) -> RowPredicate? { waiting[place.number]?.predicates[place.predicate] }

    private func find(_ row: LiveChanges.Row, _ roots: Roots, _ found: inout Set<Int>) {
      var places = roots.others
      for (position, byValue) in roots.byValue where row.values.indices.contains(position) {
        places.formUnion(byValue[row.values[position].compared] ?? [])
      }
      for place in places where !found.contains(place.number) {
        guard let predicate = predicate(place) else { continue }
        if (try? predicate.holds(row.values, key: row.key.id)) ?? true { found.insert(place.number) }
      }
    }
  }

  extension StoredValue {
    /// The same for numbers that a store compares as equal.
    fileprivate var compared: StoredValue {
      if case .real(let value) = self, let integer = Int64(exactly: value) { .integer(integer) } else { self }
    }
  }
#endif

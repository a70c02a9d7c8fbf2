#if Persistence
  @testable import ConcordPersistence

  /// A store of one table as an independent model of migrations has it: what becomes of each property, by what the documentation says.
  struct ModelledSchema {
    struct Column {
      var slot: Slot
      /// The name in an earlier model that was carried over already.
      var noted: String?
      var cells: [Cell]
    }

    var columns: [Column]
    /// The types that the values were stored from, by name: several descriptions where all values could be read as each.
    private var known: [[String: String]]
    /// Whether the store does not say which types its values were stored from.
    var forgot = false
    /// Whether all types that values could be read as are known; otherwise the last.
    let knowsAll: Bool

    init(_ slots: [Slot], rows: [[Cell]], knowsAll: Bool) {
      columns = slots.enumerated().map { index, slot in
        Column(slot: slot, noted: slot.original, cells: rows.map { $0[index] })
      }
      known = [Self.codings(slots)]
      self.knowsAll = knowsAll
    }

    private static func codings(_ slots: [Slot]) -> [String: String] {
      Dictionary(uniqueKeysWithValues: slots.map { ($0.name, $0.kind.coding) })
    }

    var rows: [[Cell]] {
      (columns.first?.cells ?? []).indices.map { row in columns.map { $0.slot.shown($0.cells[row]) } }
    }

    private func column(_ name: String?) -> Column? {
      columns.first { $0.slot.name.lowercased() == name?.lowercased() }
    }

    /// Where the values of a property come from.
    private struct Origin {
      let column: Column
      let isRenamed: Bool
    }

    private func origin(of slot: Slot) -> Origin? {
      let same = column(slot.name)
      guard let original = column(slot.original), original.slot.name != same?.slot.name else {
        return same.map { Origin(column: $0, isRenamed: false) }
      }
      if let same, same.noted?.lowercased() == original.slot.name.lowercased() {
        return Origin(column: same, isRenamed: false)
      }
      return Origin(column: original, isRenamed: true)
    }

    /// Returns what a store is after it was attached with other properties; `nil` if they are to be refused.
    func attached(_ slots: [Slot], rowCount: Int) throws -> ModelledSchema? {
      var result = self
      result.columns = []
      result.forgot = false
      var taken: Set<String> = []
      var isChanged = Set(columns.map(\.slot.name)) != Set(slots.map(\.name))
      for slot in slots {
        let mark = Array(repeating: Cell.value(try slot.mark), count: rowCount)
        let nothing = Cell.nothing(slot)
        guard let origin = origin(of: slot) else {
          isChanged = true
          let cells: [Cell]
          if slot.isMigrated {
            if slot.kind.isCollection { return nil }
            cells = mark
          } else if slot.isDefaulted, slot.canHaveDefault {
            cells = mark
          } else if slot.isOptional || slot.kind.isCollection {
            cells = Array(repeating: nothing, count: rowCount)
          } else {
            return nil
          }
          result.columns.append(Column(slot: slot, noted: slot.original, cells: cells))
          continue
        }
        let old = origin.column
        if forgot, origin.isRenamed, column(slot.name) != nil,
          slots.contains(where: { $0.name.lowercased() == slot.original?.lowercased() && $0.original != nil })
        {
          return nil
        }
        if origin.isRenamed || old.slot.name != slot.name || old.slot.isOptional != slot.isOptional
          || old.slot.kind.storageClass != slot.kind.storageClass
        {
          isChanged = true
        }
        let isKnown = isKnown(slot, old)
        var cells: [Cell]
        let isWanted = slot.kind.isCollection ? old.slot.kind.isCollection : isKnown
        if slot.isMigrated, origin.isRenamed || !isWanted {
          if slot.kind.isCollection { return nil }
          isChanged = true
          cells = mark
        } else {
          guard isKnown && !slot.kind.isCollection || isReadable(slot, old) else { return nil }
          if isKnown || old.cells.contains(where: { !$0.isNothing }) || slot.isCoded(like: old.slot) {
            guard taken.insert(old.slot.name).inserted else { return nil }
          }
          cells = old.cells.map { slot.carried($0) }
        }
        if !slot.isOptional, cells.contains(where: \.isNothing) {
          if slot.kind.isCollection {
            cells = cells.map { $0.isNothing ? .elements([]) : $0 }
          } else if slot.isMigrated || slot.isDefaulted && slot.canHaveDefault {
            cells = zip(cells, mark).map { $0.isNothing ? $1 : $0 }
          } else {
            return nil
          }
        }
        result.columns.append(
          Column(slot: slot, noted: slot.original ?? (origin.isRenamed ? nil : old.noted), cells: cells))
      }
      let codings = Self.codings(slots)
      if !isChanged, !forgot, known.contains(codings) {
        // Nothing is noted.
        for index in slots.indices { result.columns[index].noted = column(slots[index].name)?.noted }
      } else if isChanged || forgot || !knowsAll {
        result.known = [codings]
      } else {
        result.known.append(codings)
      }
      return result
    }

    private func isKnown(_ slot: Slot, _ old: Column) -> Bool {
      if case .value(let kind) = slot.kind, case .value(let other) = old.slot.kind, forgot {
        return kind.storageClass == other.storageClass && old.cells.allSatisfy { $0.value.map(kind.canRead) ?? false }
      }
      return known.contains { $0[old.slot.name] == slot.kind.coding }
    }

    /// Whether values of another type may be carried over, if none is not one of the new type.
    private func isReadable(_ slot: Slot, _ old: Column) -> Bool {
      if old.cells.allSatisfy(\.isNothing) { return true }
      switch (slot.kind, old.slot.kind) {
      case (.value(let kind), .value(let other)):
        return kind.family == other.family && old.cells.allSatisfy { $0.value.map(kind.canRead) ?? false }
      case (.collection(let shape, let target), .collection(let otherShape, let otherTarget)):
        let isEmpty = old.cells.allSatisfy { $0 == .elements(nil) || $0 == .elements([]) }
        return isEmpty || target == otherTarget && shape.keyClass == otherShape.keyClass
      default: return false
      }
    }
  }

  extension Cell {
    static func nothing(_ slot: Slot) -> Cell {
      if !slot.kind.isCollection { return .value(.null) }
      return slot.isOptional ? .elements(nil) : .elements([])
    }

    var value: StoredValue? { if case .value(let value) = self { value } else { nil } }
  }

  extension SlotKind {
    /// What a column says of it.
    var coding: String {
      switch self {
      case .value(let kind): "\(kind)"
      case .reference(let target): "reference(\(target))"
      case .collection: "collection"
      }
    }
  }

  extension Slot {
    /// Relations have no default.
    var canHaveDefault: Bool { if case .value = kind { true } else { false } }

    /// Whether the column of the other is one for this one, whatever it holds.
    func isCoded(like other: Slot) -> Bool {
      switch (kind, other.kind) {
      case (.value(let a), .value(let b)): a.family == b.family
      case (.collection, .collection): true
      default: kind == other.kind
      }
    }

    /// What of another property becomes of a cell in this one.
    func carried(_ cell: Cell) -> Cell {
      if cell.isNothing { return kind.isCollection ? .elements(nil) : .value(.null) }
      return cell
    }

    /// What this property shows of a cell. What was stored for an array stays as it is below a set, and is there again for an array.
    func shown(_ cell: Cell) -> Cell {
      guard case .collection(.set, _) = kind, case .elements(let elements?) = cell else { return cell }
      return Slot.sorted(elements)
    }
  }
#endif

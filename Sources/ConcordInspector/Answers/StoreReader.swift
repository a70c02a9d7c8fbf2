#if Inspector
  import Concord
  import Foundation

  /// Answers what the page asks of a store and of its recorded transactions.
  final class StoreReader: Sendable {
    let store: EntityStore
    let recorder: Recorder
    let types = EntityTypes()
    let parts: [InspectedPart]
    private let places = CallPlaces()
    private let neighbourhood: Neighbourhood
    /// The list that was shown last, for its next page. It keeps no values, which nobody would let go of when the page is closed.
    private let listed = Locked<Listing?>(nil)

    struct Listing: Sendable {
      let type: ObjectIdentifier
      let search: String
      let at: Int?
      let writes: UInt64
      /// The number of the last transaction.
      let last: Int
      let keys: [InspectedKey]
    }

    init(_ store: EntityStore, _ recorder: Recorder, _ parts: [InspectedPart]) {
      (self.store, self.recorder, self.parts) = (store, recorder, parts)
      neighbourhood = Neighbourhood(store, types)
    }

    // MARK: Overview

    /// Whether the state after a transaction is known: nothing since has been left out of the log.
    func isKnown(_ number: Int) -> Bool {
      let log = recorder.log
      return number >= log.earliest && number <= log.lastNumber && !store.inspectedGap
    }

    func overview(at number: Int?) -> Overview {
      let log = recorder.log
      var counts = countsByType()
      for (key, change) in changes(since: number, log) { counts[key.type, default: 0] += change.backwards }
      let found = counts.filter { $0.value > 0 }.map { type, count in
        let names = types.names(of: type)
        return Overview.TypeCount(name: names.name, key: names.key, count: count)
      }
      return Overview(
        types: found.sorted { ($0.name, $0.key) < ($1.name, $1.key) },
        layers: store.inspectedLayers().map { keys in keys.prefix(100).map { types.reference($0) } },
        writes: store.inspectedWrites, last: log.lastNumber,
        earliest: store.inspectedGap ? log.lastNumber : log.earliest, isPaused: recorder.isPaused,
        recordsEverything: recorder.recordsEverything, parts: parts.map(\.name), at: number)
    }

    private func countsByType() -> [ObjectIdentifier: Int] {
      var counts: [ObjectIdentifier: Int] = [:]
      for (type, count) in store.inspectedTypes() {
        types.add(type)
        counts[ObjectIdentifier(type)] = count
      }
      return counts
    }

    /// Returns what was different after a transaction; nothing for the present.
    private func changes(since number: Int?, _ log: TransactionLog) -> [InspectedKey: ChangeSince] {
      guard let number else { return [:] }
      let changes = log.changes(since: number)
      for change in changes.values { types.add(change.type) }
      return changes
    }

    // MARK: Entities

    func entities(of key: String, search: String, offset: Int, limit: Int, at number: Int?) -> EntityList? {
      guard let type = type(key) else { return nil }
      let (log, writes) = (recorder.log, store.inspectedWrites)
      let known = listed.withLock { listed in
        let isSame = listed.map {
          $0.type == type && $0.search == search && $0.at == number && $0.writes == writes && $0.last == log.lastNumber
        }
        return isSame ?? false ? listed : nil
      }
      let changes = changes(since: number, log).filter { $0.key.type == type }
      let keys = known?.keys ?? list(type, search, changes)
      if known == nil {
        let listing = Listing(type: type, search: search, at: number, writes: writes, last: log.lastNumber, keys: keys)
        listed.withLock { $0 = listing }
      }
      let shown = Array(keys.dropFirst(offset).prefix(limit))
      let stored = store.inspectedEntities(shown)
      let items = shown.compactMap { key -> EntityList.Item? in
        let item = if let change = changes[key] { InspectedSummary(past: change.old, key) } else { stored[key] }
        return item.map { item in
          EntityList.Item(
            id: EntityTypes.text(of: key.id), hash: EntityTypes.hash(of: key.id),
            text: line(of: item.value).cutForInspector(300), observers: item.observers,
            holders: item.holders, parents: item.parents)
        }
      }
      return EntityList(total: keys.count, offset: offset, items: items)
    }

    private func list(
      _ type: ObjectIdentifier, _ search: String, _ changes: [InspectedKey: ChangeSince]
    ) -> [InspectedKey] {
      var items = store.inspectedEntities(of: type)
      if !changes.isEmpty {
        items.removeAll { changes[$0.key] != nil }
        items += changes.compactMap { InspectedSummary(past: $1.old, $0) }
      }
      var described = items.map { (position: ListPosition(of: $0.key.id), item: $0) }
      if !search.isEmpty {
        described = described.filter { position, item in
          position.text.localizedCaseInsensitiveContains(search)
            || line(of: item.value).localizedCaseInsensitiveContains(search)
        }
      }
      return described.sorted { $0.position < $1.position }.map(\.item.key)
    }

    private func line(of value: Any) -> String { ValueReader.tree(of: value, types, limit: 60).line }

    /// - Parameter hash: what tells the entity from other entities whose ids have the same text; `nil` for any of them.
    func entity(of key: String, id: String, hash: String?, at number: Int?) -> EntityAnswer? {
      let mark = places.unanswered
      guard let type = type(key) else { return nil }
      let log = recorder.log
      let changes = changes(since: number, log)
      guard let key = find(type, id, hash, log) else { return nil }
      let found = store.inspectedEntity(key)
      let value: Any? = if let change = changes[key] { change.old } else { found?.value }
      let history = log.transactions.reversed().filter { $0.changes.contains { $0.key == key } }
      guard value != nil || !history.isEmpty else { return nil }
      return EntityAnswer(
        entity: types.reference(key), value: value.map { ValueReader.tree(of: $0, types) },
        keepers: number == nil ? found.map { keepers(key, $0) } : nil, history: history.prefix(100).map(line),
        isResolving: places.unanswered > mark)
    }

    private func type(_ key: String) -> ObjectIdentifier? {
      if let type = types.type(key) { return type }
      _ = countsByType()
      for transaction in recorder.log.transactions { for change in transaction.changes { types.add(change.type) } }
      return types.type(key)
    }

    /// Returns the key that a text stands for.
    private func find(_ type: ObjectIdentifier, _ id: String, _ hash: String?, _ log: TransactionLog) -> InspectedKey? {
      func isMeant(_ key: InspectedKey) -> Bool {
        (hash == nil || EntityTypes.hash(of: key.id) == hash) && EntityTypes.text(of: key.id) == id
      }
      for candidate in EntityTypes.ids(id) where hash == nil || EntityTypes.hash(of: candidate) == hash {
        let key = InspectedKey(type: type, id: candidate)
        if let found = store.inspectedEntities([key])[key], ObjectIdentifier(Swift.type(of: found.value)) == type {
          return key
        }
      }
      if let found = store.inspectedEntities(of: type).first(where: { isMeant($0.key) }) {
        return found.key
      }
      for transaction in log.transactions.reversed() {
        for change in transaction.changes where ObjectIdentifier(change.type) == type {
          if isMeant(change.key) { return change.key }
        }
      }
      return nil
    }

    /// - Parameter hash: as above.
    func neighbours(
      of key: String, id: String, hash: String?, side: InspectedSide, offset: Int, limit: Int
    ) -> NeighbourList? {
      guard let type = type(key), let key = find(type, id, hash, recorder.log) else { return nil }
      return neighbourhood.list(of: key, side, offset: offset, limit: limit)
    }

    private func keepers(_ key: InspectedKey, _ entity: InspectedEntity) -> EntityAnswer.Keepers {
      let (parents, children) = (neighbourhood.first(of: key, .parents), neighbourhood.first(of: key, .children))
      return EntityAnswer.Keepers(
        stamp: Self.text(of: entity.stamp), observers: entity.observers.map(observer),
        observerCount: entity.observerCount, holders: entity.holders, held: held(entity.holderOrigins),
        relays: entity.relays, aliases: entity.aliases,
        parents: parents.items, parentCount: parents.total, children: children.items, childCount: children.total,
        layers: entity.layers, path: entity.path.map { types.reference($0) })
    }

    private func held(_ origins: [CallOrigin]) -> [EntityAnswer.Held] {
      let groups = Dictionary(grouping: origins) { places.places(of: $0) }.filter { !$0.key.isEmpty }
      let held = groups.map { EntityAnswer.Held(places: $0, count: $1.count) }
      return Array(held.sorted { ($1.count, $0.places[0]) < ($0.count, $1.places[0]) }.prefix(20))
    }

    /// A stamp in words: most are dates.
    private static func text(of stamp: Stamp) -> String {
      if stamp == -.infinity { return "none" }
      let date = Date(timeIntervalSinceReferenceDate: stamp)
      let isDate = stamp > 600_000_000 && stamp < 3_000_000_000
      return isDate ? "\(stamp) (\(date.formatted(.iso8601)))" : "\(stamp)"
    }

    private func observer(_ observer: InspectedObserver) -> EntityAnswer.Observer {
      EntityAnswer.Observer(
        places: places.places(of: observer.origin), line: observer.line, isEvery: observer.isEvery,
        isPaused: observer.isPaused)
    }

    // MARK: Transactions

    func transactions(before number: Int?, limit: Int) -> TransactionList {
      let mark = places.unanswered
      let log = recorder.log
      let items = log.transactions.reversed().lazy.filter { $0.number < number ?? .max }
      return TransactionList(
        items: items.prefix(limit).map(line), first: log.transactions.first?.number ?? 0, last: log.lastNumber,
        isResolving: places.unanswered > mark)
    }

    private func line(_ transaction: LoggedTransaction) -> TransactionLine {
      for change in transaction.changes { types.add(change.type) }
      let first = transaction.changes.prefix(3).map { change in
        "\(change.kind) \(types.names(of: ObjectIdentifier(change.type)).name) \(EntityTypes.text(of: change.id))"
      }
      let rest = transaction.changes.count - first.count
      let duration = transaction.commit?.duration.map { $0.seconds * 1e6 }
      return TransactionLine(
        number: transaction.number, date: transaction.date.timeIntervalSince1970, context: transaction.context,
        summary: first.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : ""),
        changes: transaction.changes.count, told: transaction.commit?.toldCount ?? 0, duration: duration,
        place: places.places(of: transaction.commit?.origin).first, isAfterGap: transaction.isAfterGap)
    }

    func transaction(_ number: Int) -> TransactionAnswer? {
      let mark = places.unanswered
      guard let transaction = recorder.log.transaction(number) else { return nil }
      _ = countsByType()
      let line = line(transaction)
      let receivers = transaction.commit?.told.map { receiver in
        TransactionAnswer.Receiver(
          entity: receiver.key.map { types.reference($0) }, place: places.places(of: receiver.origin).first,
          line: receiver.line)
      }
      return TransactionAnswer(
        line: line, places: places.places(of: transaction.commit?.origin),
        changes: transaction.changes.prefix(200).map(change), receivers: receivers ?? [],
        isResolving: places.unanswered > mark)
    }

    private func change(_ change: ChangeSet.Change) -> TransactionAnswer.Change {
      TransactionAnswer.Change(
        entity: types.reference(change.key), kind: "\(change.kind)", fields: fields(change.old, change.new))
    }

    /// The leaves of two values that are not the same.
    private func fields(_ old: Any?, _ new: Any?) -> [TransactionAnswer.Field] {
      let (old, new) = (leaves(old), leaves(new))
      let before = Dictionary(old, uniquingKeysWith: { first, _ in first })
      let after = Dictionary(new, uniquingKeysWith: { first, _ in first })
      let names = new.map(\.0) + old.map(\.0).filter { after[$0] == nil }
      let fields = names.compactMap { name -> TransactionAnswer.Field? in
        before[name] == after[name] ? nil : TransactionAnswer.Field(name: name, old: before[name], new: after[name])
      }
      return Array(fields.prefix(200))
    }

    private func leaves(_ value: Any?) -> [(String, String)] {
      value.map { ValueReader.tree(of: $0, types, limit: 500).leaves.map { ($0.path, $0.text) } } ?? []
    }

    // MARK: Queries and parts

    func queries() -> QueryList {
      let mark = places.unanswered
      let found = store.inspectedQueries().map { query in
        QueryList.Query(
          type: EntityTypes.name(of: query.type), plan: query.plan, size: query.size, looks: query.looks,
          waiting: query.waiting, observers: query.observers.map(observer))
      }
      return QueryList(
        queries: found.sorted { ($0.type, $0.plan.joined()) < ($1.type, $1.plan.joined()) },
        isResolving: places.unanswered > mark)
    }

    func part(_ index: Int) async -> PartAnswer? {
      let mark = places.unanswered
      guard parts.indices.contains(index) else { return nil }
      let sections = await parts[index].sections().map { section in
        PartAnswer.Section(
          title: section.title, empty: section.empty, rows: section.rows.map(row), total: section.total)
      }
      return PartAnswer(name: parts[index].name, sections: sections, isResolving: places.unanswered > mark)
    }

    private func row(_ row: InspectedRow) -> PartAnswer.Row {
      PartAnswer.Row(
        id: row.id, title: row.title, details: row.details, isProblem: row.isProblem, actions: row.actions,
        observers: row.observers.map(observer))
    }
  }

  extension InspectedSummary {
    /// An entity in the past, of which only the value is known; `nil` if it was not stored.
    fileprivate init?(past value: (any Identifiable & Sendable)?, _ key: InspectedKey) {
      guard let value else { return nil }
      self.init(key: key, value: value, observers: 0, holders: 0, parents: 0)
    }
  }

  extension InspectedQuery {
    /// The way in which the query is kept up to date, in words.
    var plan: [String] {
      var lines: [String] = []
      if let demand {
        lines.append("found by \(demand): changes of other entities cost nothing")
      } else if hasCondition {
        lines.append("its condition is evaluated for each new value of the type")
      } else {
        lines.append("all entities of the type")
      }
      let properties = sorts == 1 ? "1 property" : "\(sorts) properties"
      lines.append(sorts == 0 ? "in the order of ids" : "sorted by \(properties), then by id")
      if window.lowerBound > 0 || window.upperBound < .max {
        let end = window.upperBound == .max ? "" : "\(window.upperBound)"
        lines.append("shown: \(window.lowerBound)..<\(end)")
      }
      return lines
    }
  }
#endif

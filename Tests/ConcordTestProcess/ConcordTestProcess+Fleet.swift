import Concord
import ConcordPersistence
import ConcordTestShared
import Foundation

// Not Foundation's.
private typealias Progress = ConcordTestShared.Progress

// Processes that share one database. PLACE is `postgresql://…#schema`.
extension ConcordTestProcess {
  /// `append PLACE CLIENT COUNT`: so many transactions of random appends to lists, and reads of them, each printed as a line of a history.
  static func append(_ place: String, client: Int, count: Int) throws {
    let model = try processModel()
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: model)
    let rows = try container.attachStore(at: place).rows
    guard let entity = model.entities.first(where: { $0.name == "Entry" }) else { return }
    say("ready")
    _ = readLine()
    var value = client * 1_000_000
    for number in 0..<count {
      let plan = (0..<Int.random(in: 1...4)).map { _ in (list: Int.random(in: 0..<5), isAppend: Bool.random()) }
      let isReadOnly = number % 4 == 0
      var operations: [History.Operation] = []
      func visit(_ reading: any RowReading, _ writing: (any RowWriting)?) throws {
        operations = []
        for (list, isAppend) in plan {
          let key = EntityKey(entity, .integer(Int64(list)))
          let row = try reading.row(of: key)
          var values: [Int] = []
          if case .text(let text) = row?.values[1] { values = text.split(separator: ",").compactMap { Int($0) } }
          guard isAppend, let writing else {
            operations.append(.read(list: list, values: values))
            continue
          }
          value += 1
          operations.append(.append(list: list, value: value))
          let text = (values + [value]).map(String.init).joined(separator: ",")
          let new = StoredRow(
            values: [.integer(Int64(list)), .text(text)], collections: [], stamp: (row?.stamp ?? 0) + 1)
          if let row {
            try writing.update(new, replacing: row, for: key)
          } else if try !writing.insert(new, for: key) {
            throw StoreError.locked(store: rows.name)
          }
        }
      }
      do {
        if isReadOnly {
          try rows.read { try visit($0, nil) }
        } else {
          try rows.write(origin: nil) { try visit($0, $0) }
        }
        say(History.Transaction(operations, isReadOnly ? .seen : .committed).line)
      } catch {
        say("failed \(error)")
        say(History.Transaction(operations, .aborted).line)
      }
    }
    say("done")
  }

  /// `fleet PLACE ID`: counts up in a row of its own, and prints `saved N` when N is acknowledged, `failed` otherwise, and `wrong` when what is
  /// stored afterwards is not what it should be. `show` prints what a live query of all rows shows, `stop` ends the counting.
  static func fleet(_ place: String, id: Int) throws {
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: try processModel()) {
      _ in
      say("async")
    }
    func persistently<R>(_ body: () throws -> R) -> R {
      while true {
        do { return try body() } catch {
          say("failed \(error)")
          usleep(50_000)
        }
      }
    }
    _ = persistently { try container.attachStore(at: place) }
    let all = persistently {
      try container.viewContext.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.id)]))
    }
    let isStopped = Locked(false)
    Thread.detachNewThread {
      while let line = readLine() {
        if line == "stop" { isStopped.withLock { $0 = true } }
        if line == "show" { say("shows \(all.value.map { "\($0.id)=\($0.last)" }.joined(separator: " "))") }
      }
      exit(0)
    }
    let context = container.newBackgroundContext()
    var last = persistently { try container.newBackgroundContext().find(Progress.self, id: id)?.last ?? 0 }
    say("begins \(last)")
    while !isStopped.withLock({ $0 }) {
      let start = Date()
      do {
        context.insert(Progress(id: id, last: last + 1))
        try context.save()
        last += 1
        say("saved \(last)")
      } catch {
        say("failed \(error)")
        context.rollback()
        let stored = persistently { try container.newBackgroundContext().find(Progress.self, id: id)?.last ?? 0 }
        // Only a failure that says so may have been a success.
        let isKnown = !"\(error)".contains("not known")
        if stored != last, isKnown || stored != last + 1 { say("wrong \(stored) after \(last): \(error)") }
        last = stored
      }
      let seconds = -start.timeIntervalSinceNow
      if seconds > 90 { say("slow \(seconds)") }
      usleep(5000)
    }
    say("stopped \(last)")
    withExtendedLifetime(all) { while true { sleep(1) } }
  }

  /// `attach PLACE`: attaches with a later model when it reads a line.
  static func attach(_ place: String) throws {
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: try laterProcessModel())
    say("ready")
    _ = readLine()
    do {
      try container.attachStore(at: place)
      say("attached \(try container.newBackgroundContext().count(FetchDescriptor<NotedEntry>()))")
    } catch { say("failed \(error)") }
  }
}

import Concord
import ConcordConnect
import ConcordModel
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

  /// `fleet PLACE ID STRATEGY`: counts up in a row of its own, and prints `saved N` when N is acknowledged, `failed` otherwise, `wrong` when what
  /// is stored afterwards is not what it should be, and `async` for what it is told in the background. `show` prints what a live query of all rows
  /// shows. `hold` lets it rest, and print how many files and sockets it has; `go on` ends that, and `stop` the counting.
  static func fleet(_ place: String, id: Int, strategy: String) async throws {
    let isMixed = strategy == "mixed"
    let told: AsyncErrorHandlerBlock = { error in
      guard let save = error as? BackgroundSaveError else { return say("async \(error)") }
      let ids = save.changes.compactMap { change in if case .integer(let id) = change.key.id { "\(id)" } else { nil } }
      say("async save \(ids.joined(separator: " ")) pending \(save.isPending)")
    }
    let model = try processModel()
    let container: any PersistentContainer =
      isMixed
      ? GenericPersistentContainer<ContextStrategy.Mixed>(name: "Process", model: model, asyncErrorBlock: told)
      : GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: model, asyncErrorBlock: told)
    func persistently<R>(_ body: () async throws -> R) async -> R {
      while true {
        do { return try await body() } catch {
          say("failed \(error)")
          usleep(50_000)
        }
      }
    }
    _ = await persistently { try container.attachStore(at: place) }
    let all = await persistently {
      try container.viewContext.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.id)]))
    }
    let (isStopped, isHeld) = (Locked(false), Locked(false))
    Thread.detachNewThread {
      while let line = readLine() {
        switch line {
        case "stop": isStopped.withLock { $0 = true }
        case "show": say("shows \(all.value.map { "\($0.id)=\($0.last)" }.joined(separator: " "))")
        case "hold": isHeld.withLock { $0 = true }
        default: isHeld.withLock { $0 = false }
        }
      }
      exit(0)
    }
    let context = container.newBackgroundContext()
    func flush() async throws {
      do { try await container.flush() } catch {
        say("background \(error)")
        throw error
      }
    }
    func stored() throws -> Int { try container.newBackgroundContext().find(Progress.self, id: id)?.last ?? 0 }
    var last = await persistently { try stored() }
    var longest = 0.0
    say("begins \(last)")
    while !isStopped.withLock({ $0 }) {
      if isHeld.withLock({ $0 }) {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        say("held \(descriptors)")
        while isHeld.withLock({ $0 }), !isStopped.withLock({ $0 }) { usleep(5000) }
        continue
      }
      let start = Date()
      do {
        if isMixed {
          container.viewContext.insert(Progress(id: id, last: last + 1))
          try container.viewContext.save()
          try await flush()
        } else {
          context.insert(Progress(id: id, last: last + 1))
          try context.save()
        }
        last += 1
        say("saved \(last)")
      } catch {
        say("failed \(error)")
        if isMixed {
          // What the view could not save it still has; what the background could not write is tried again.
          await persistently {
            if container.viewContext.hasChanges { try container.viewContext.save() }
            try await flush()
          }
          let stored = await persistently { try stored() }
          if stored == last + 1 { say("saved \(stored)") } else { say("wrong \(stored) after \(last): \(error)") }
          last = stored
        } else {
          context.rollback()
          let stored = await persistently { try stored() }
          // Only a failure that says so may have been a success.
          let isKnown = !"\(error)".contains("not known")
          if stored != last, isKnown || stored != last + 1 { say("wrong \(stored) after \(last): \(error)") }
          last = stored
        }
      }
      let seconds = -start.timeIntervalSinceNow
      longest = max(longest, seconds)
      if seconds > 90 { say("slow \(seconds)") }
      usleep(5000)
    }
    say("longest \(Int(longest * 1000))")
    say("stopped \(last)")
    withExtendedLifetime(all) { while true { sleep(1) } }
  }

  /// `equal PLACE PAIRS TIMES SEED`: writes so many times to one of some pairs of rows: mostly to both, which it keeps equal, and sometimes stays open
  /// for a while between them, or only touches one of them. It prints `differs` for each state of a live query in which a pair is not equal, `seen N`
  /// and `done` at the end; `show` prints what the live query shows.
  static func equal(_ place: String, pairs: Int, times: Int, seed: UInt64) throws {
    let model = try processModel()
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: model)
    let rows = try container.attachStore(at: place).rows
    guard let entity = model.entities.first(where: { $0.name == "Progress" }) else { return }
    let all = try container.viewContext.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.id)]))
    let seen = Locked(0)
    let subscription = all.map { $0 }.observe(buffering: .every) { rows in
      seen.withLock { $0 += 1 }
      let last = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0.last) })
      for id in 0..<pairs where last[2 * id] != last[2 * id + 1] {
        say("differs \(id): \(last[2 * id] ?? -1) and \(last[2 * id + 1] ?? -1)")
      }
    }
    say("ready")
    Thread.detachNewThread {
      _ = readLine()
      var random = SeededNumbers(seed: seed)
      for turn in 0..<times {
        let pair = Int.random(in: 0..<pairs, using: &random)
        // Some stay open for seconds once.
        let isLong = seed % 4 == 0 && turn == times / 2
        let isTouch = !isLong && Int.random(in: 0..<4, using: &random) == 0
        var pause =
          Int.random(in: 0..<12, using: &random) == 0 ? UInt32.random(in: 100_000...1_500_000, using: &random) : 0
        if isLong { pause = 3_000_000 }
        let first = Int.random(in: 0..<2, using: &random)
        do {
          try rows.write(origin: nil) { writing in
            for place in isTouch ? [first] : [first, 1 - first] {
              let key = EntityKey(entity, .integer(Int64(2 * pair + place)))
              guard let old = try writing.row(of: key), case .integer(let last) = old.values[1] else { return }
              var new = old
              if !isTouch { new.values[1] = .integer(last + 1) }
              new.stamp += 1
              try writing.update(new, replacing: old, for: key)
              // It is written, and visible to nobody, while this is open; once only, since it may have to be run again.
              if pause > 0, !isTouch, place == first {
                _ = try writing.row(of: key)
                usleep(pause)
                pause = 0
              }
            }
          }
        } catch { say("failed \(error)") }
        usleep(UInt32.random(in: 0...8000, using: &random))
      }
      say("seen \(seen.withLock { $0 })")
      say("done")
      while let line = readLine() {
        if line == "show" { say("shows \(all.value.map { "\($0.id)=\($0.last)" }.joined(separator: " "))") }
      }
      exit(0)
    }
    withExtendedLifetime(subscription) { dispatchMain() }
  }

  /// `relay PLACE URL FIRST COUNT TALLIES SEED`: forwards so many actions from a number on, and prints `queued N` for each when it is durable, `sends`
  /// whenever it has become the one that sends, and `done` when nothing is left to be sent.
  static func relay(_ place: String, _ url: URL, first: Int, count: Int, tallies: Int, seed: UInt64) async throws {
    let connect = try tallyConnect(at: place, server: url, tallies: tallies)
    try await connect.start()
    Task {
      var wasSender = false
      while true {
        let isSender = connect.outbox.isSender
        if isSender, !wasSender { say("sends") }
        wasSender = isSender
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    var random = SeededNumbers(seed: seed)
    for number in first..<first + count {
      let tally = Int.random(in: 0..<tallies, using: &random)
      while true {
        do {
          try await connect.forward(AddNumber(tally: tally, number: number))
          break
        } catch { say("failed \(error)") }
      }
      say("queued \(number)")
      try await Task.sleep(for: .milliseconds(Int.random(in: 0...10, using: &random)))
    }
    await connect.outbox.idle()
    say(connect.outbox.deadLetters.isEmpty ? "done" : "wrong \(connect.outbox.deadLetters)")
    withExtendedLifetime(connect) { while true { sleep(1) } }
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

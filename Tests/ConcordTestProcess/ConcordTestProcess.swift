import Concord
import ConcordConnect
import ConcordPersistence
import ConcordTestShared
import Foundation

/// A process that tests start, talk to, and kill.
///
/// `save FOLDER STRATEGY`: saves without end, and prints `saved N` when save N is durable.
/// `serve FOLDER`: for each line that it reads it saves an entry with that text, and prints `done`; prints `sees TEXT` when a live
/// query shows what another process has saved.
/// `forward FOLDER URL ACTIONS TALLIES SEED`: forwards what is missing of so many actions, and prints `queued N` for each when it is
/// durable, `sends` when it is the one that sends, and `done` when all have reached the server and the view shows them.
/// `full FOLDER KILOBYTES`: does everything in files that cannot become larger, and once more where they can; see `ConcordTestProcess+Full`.
/// `full-outbox FOLDER KILOBYTES`: forwards into files that cannot become larger, and sends when they can.
/// `fixed FOLDER`: does everything in a folder that it may not write to.
/// `count FOLDER STRATEGY TIMES`: adds one so many times, and prints `done`; it prints `ready` and waits for a line before.
/// `pairs FOLDER TIMES`: gives the entries 1 and 2 one new text so many times, each time in one transaction.
/// `swap FOLDER TIMES SEED`: lets seats exchange and hand on their places so many times; it prints `done`.
/// `carry FOLDER`: carries entries over from an earlier store, from where it was interrupted; prints `reading` for each batch, and `done`.
/// `undo` and `undo-forward`: see `ConcordTestProcess+Undo`.
/// `append`, `fleet`, `equal`, `relay` and `attach`: see `ConcordTestProcess+Fleet`.
/// `words PLACE SEED`: see `ConcordTestProcess+Words`.
/// `idle FOLDER`: follows a file for two seconds, and prints how many microseconds of the processor that took.
@main
struct ConcordTestProcess {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { return }
    let folder = URL(fileURLWithPath: arguments[2])
    switch arguments[1] {
    case "save": try await save(folder, strategy: arguments.count > 3 ? arguments[3] : "direct")
    case "serve": try serve(folder)
    case "forward":
      guard let url = URL(string: arguments[3]), let actions = Int(arguments[4]), let tallies = Int(arguments[5]),
        let seed = UInt64(arguments[6])
      else { return }
      try await forward(arguments[2], url, actions, tallies, seed)
    case "full": try await full(folder, kilobytes: arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0)
    case "full-outbox": try await fullOutbox(folder, kilobytes: arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0)
    case "fixed": try fixed(folder)
    case "count":
      guard let times = Int(arguments[4]) else { return }
      switch arguments[3] {
      case "mixed": try await count(arguments[2], ContextStrategy.Mixed.self, times)
      case "indirectNested": try await count(arguments[2], ContextStrategy.IndirectNested.self, times)
      case "directIndependent": try await count(arguments[2], ContextStrategy.DirectIndependent.self, times)
      default: try await count(arguments[2], ContextStrategy.Direct.self, times)
      }
    case "pairs":
      let context = try container(folder, strategy: "direct").newBackgroundContext()
      for number in 1...(Int(arguments[3]) ?? 0) {
        for id in 1...2 { try context.update(Entry.self, id: id) { $0.text = "\(number)" } }
        try context.save()
        if number.isMultiple(of: 8) { usleep(1000) }
      }
      say("done")
    case "swap":
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Seats", model: try seatModel())
      try container.attachPersistentStore(at: folder)
      var seats = SeatExchange(seed: UInt64(arguments[4]) ?? 0)
      for _ in 0..<(Int(arguments[3]) ?? 0) { try seats.step(container.newBackgroundContext()) }
      say("done")
    case "carry": try carry(folder)
    case "append":
      guard let client = Int(arguments[3]), let count = Int(arguments[4]) else { return }
      try append(arguments[2], client: client, count: count)
    case "fleet": try await fleet(arguments[2], id: Int(arguments[3]) ?? 0, strategy: arguments[4])
    case "equal":
      guard let pairs = Int(arguments[3]), let times = Int(arguments[4]), let seed = UInt64(arguments[5]) else {
        return
      }
      try equal(arguments[2], pairs: pairs, times: times, seed: seed)
    case "relay":
      let numbers = arguments.dropFirst(4).compactMap { Int($0) }
      guard let url = URL(string: arguments[3]), numbers.count == 4 else { return }
      try await relay(
        arguments[2], url, first: numbers[0], count: numbers[1], tallies: numbers[2], seed: UInt64(numbers[3]))
    case "attach": try attach(arguments[2])
    case "undo": try await undo(arguments[2], strategy: arguments[3])
    case "undo-forward":
      let numbers = arguments.dropFirst(4).compactMap { Int($0) }
      guard let url = URL(string: arguments[3]), numbers.count == 3 else { return }
      try await undoForwarded(
        arguments[2], url, tallies: numbers[0], first: numbers[1], seed: UInt64(numbers[2]))
    case "words": try words(arguments[2], seed: UInt64(arguments[3]) ?? 0)
    default: try await idle(folder)
    }
  }

  static func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

  static func container(_ folder: URL, strategy: String) throws -> any PersistentContainer {
    let model = try processModel()
    let container: any PersistentContainer =
      switch strategy {
      case "mixed": GenericPersistentContainer<ContextStrategy.Mixed>(name: "Process", model: model)
      case "indirectNested": GenericPersistentContainer<ContextStrategy.IndirectNested>(name: "Process", model: model)
      default: GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: model)
      }
    try container.attachPersistentStore(at: folder)
    return container
  }

  private static func carry(_ folder: URL) throws {
    let model = try Model("Carry", entities: [Entry.self, CarriedOver.self])
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Carry", model: model)
    try container.attachPersistentStore(at: folder)
    try carryOver(Entry.self, to: container, batch: 20) { offset, limit in
      say("reading")
      return offset < 2000 ? (offset..<offset + limit).map { Entry(id: $0, text: "\($0)") } : nil
    }
    say("done")
    while true { sleep(1) }
  }

  private static func save(_ folder: URL, strategy: String) async throws {
    let container = try container(folder, strategy: strategy)
    let (view, context) = (container.viewContext, container.newBackgroundContext())
    var number = try context.find(Progress.self, id: 0)?.last ?? 0
    while true {
      number += 1
      let entries = [Entry(id: number, text: "\(number)"), Entry(id: -number, text: "\(-number)")]
      if strategy == "mixed" {
        for entry in entries { view.insert(entry) }
        view.insert(Progress(id: 0, last: number))
        try view.save()
      } else {
        for entry in entries { context.insert(entry) }
        context.insert(Progress(id: 0, last: number))
        try context.save()
      }
      // Direct saves are durable when they return, others after a flush, which comes seldom.
      if strategy == "direct" {
        say("saved \(number)")
      } else if number % 5 == 0 {
        try await container.flush()
        say("saved \(number)")
      }
    }
  }

  private static func count<S: ContextStrategyType>(_ place: String, _ strategy: S.Type, _ times: Int) async throws {
    let counting = try CountingUp(strategy) { try $0.attachStore(at: place) }
    let context: BackgroundContext = counting.container.newBackgroundContext()
    say("ready")
    _ = readLine()
    for _ in 0..<times { try counting.addOne(context) }
    try await counting.finish()
    say("done")
  }

  private static func forward(_ place: String, _ url: URL, _ actions: Int, _ tallies: Int, _ seed: UInt64) async throws
  {
    let connect = try tallyConnect(at: place, server: url, tallies: tallies)
    let stored = try connect.newBackgroundContext().fetch(FetchDescriptor<Tally>())
    // What was forwarded before is pending, or stored.
    let forwarded = stored.reduce(0) { $0 + $1.count } + connect.outbox.pending.count
    try await connect.start()
    Task {
      while !connect.outbox.isSender { try await Task.sleep(for: .milliseconds(10)) }
      say("sends")
    }
    for number in forwarded..<max(forwarded, actions) {
      // Any order of tallies, the same for a seed.
      let tally = Int((UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ seed) >> 33) % tallies
      try await connect.forward(AddNumber(tally: tally, number: number))
      say("queued \(number)")
    }
    await connect.outbox.idle()
    var shown = 0
    for id in 0..<tallies { shown += try connect.viewContext.find(Tally.self, id: id)?.value.count ?? 0 }
    say(connect.outbox.deadLetters.isEmpty && shown == actions ? "done" : "wrong: \(shown) are shown")
    try await connect.stop()
  }

  private static func serve(_ folder: URL) throws {
    let container = try container(folder, strategy: "direct")
    let entries = try container.viewContext.query(FetchDescriptor<Entry>())
    let seen = Locked<Set<Int>>(Set(entries.value.map(\.id)))
    let subscription = entries.map { $0 }.observe(buffering: .every) { entries in
      for entry in entries where seen.withLock({ $0.insert(entry.id).inserted }) { say("sees \(entry.text)") }
    }
    say("ready")
    DispatchQueue.global().async {
      let context = container.newBackgroundContext()
      while let line = readLine() {
        let id = (1_000_000 + seen.withLock { $0.count })
        seen.withLock { _ = $0.insert(id) }
        context.insert(Entry(id: id, text: line))
        do { try context.save() } catch { say("error \(error)") }
        say("done")
      }
      exit(0)
    }
    withExtendedLifetime(subscription) { dispatchMain() }
  }

  private static func idle(_ folder: URL) async throws {
    let container = try container(folder, strategy: "direct")
    let entries = try container.viewContext.query(FetchDescriptor<Entry>())
    try await Task.sleep(for: .milliseconds(300))
    let start = processorTime()
    try await Task.sleep(for: .seconds(2))
    say("\(processorTime() - start)")
    withExtendedLifetime(entries) {}
  }

  private static func processorTime() -> Int {
    Int(Double(clock()) / Double(CLOCKS_PER_SEC) * 1_000_000)
  }
}

import Concord
import ConcordConnect
import ConcordPersistence
import ConcordTestShared
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension ConcordTestProcess {
  /// Lets no file of this process become larger, as a full disk does; `nil` lets them again.
  private static func limitFiles(kilobytes: Int?) {
    signal(SIGXFSZ, SIG_IGN)
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
      let resource = RLIMIT_FSIZE
    #endif
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = kilobytes.map { rlim_t($0) * 1024 } ?? limit.rlim_max
    setrlimit(resource, &limit)
  }

  private static func failure(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "nothing"
    } catch let error as StoreError { return "\(error)" } catch { return "untyped \(error)" }
  }

  /// Prints what fails while there is no room, and what is there before, meanwhile and afterwards. Without a limit, whoever starts it
  /// has made a disk that is small, and makes room when it is told `waits`.
  static func full(_ folder: URL, kilobytes: Int) async throws {
    let errors = Locked<[String]>([])
    let model = try processModel()
    let container = GenericPersistentContainer<ContextStrategy.Mixed>(name: "Process", model: model) { error in
      errors.withLock { $0.append((error as? BackgroundSaveError).map { "\($0.error) \($0.isPending)" } ?? "\(error)") }
    }
    let store = try container.attachPersistentStore(at: folder)
    let context = container.newBackgroundContext()
    var saved = 0
    func fill() throws {
      for number in saved..<10_000 {
        context.insert(Entry(id: number, text: String(repeating: "\(number % 10)", count: 20_000)))
        try context.save()
        saved += 1
      }
    }
    if kilobytes > 0 { limitFiles(kilobytes: kilobytes) }
    say("save: \(failure(fill))")
    say("once more: \(failure { try context.save() })")
    say("kept: \(context.hasChanges)")
    let stored = container.newBackgroundContext()
    say("whole: \(try stored.count(FetchDescriptor<Entry>()) == saved)")
    say("update: \(failure { try context.update(Entry.self, id: 0) { $0.text += "!" }; try context.save() })")
    say("delete: \(failure { try context.delete(Entry.self, id: 1); try context.save() })")
    let view = container.viewContext
    view.insert(Entry(id: -1, text: String(repeating: "v", count: 100_000)))
    try view.save()
    do { try await container.flush(); say("flush: nothing") } catch { say("flush: \(error)") }
    say("seen: \(try view.find(Entry.self, id: -1) != nil)")
    let other = GenericPersistentContainer<ContextStrategy.Direct>(name: "Other", model: model)
    say("attach: \(failure { try other.attachPersistentStore(at: folder.appending(path: "new")) })")
    say("waits")
    if kilobytes > 0 { limitFiles(kilobytes: nil) } else { _ = readLine() }
    try context.save()
    try await container.flush()
    say("told: \(Set(errors.withLock { $0 }).sorted())")
    let again = container.newBackgroundContext()
    say("saved: \(try again.find(Entry.self, id: 0)?.text.hasSuffix("!") == true)")
    say("deleted: \(try again.find(Entry.self, id: 1) == nil)")
    say("shown: \(try again.find(Entry.self, id: -1) != nil)")
    say("all: \(try again.count(FetchDescriptor<Entry>()) == saved + 1)")
    // A limit of each file has room for a new one.
    if other.persistentStores.isEmpty { try other.attachPersistentStore(at: folder.appending(path: "new")) }
    try container.detach(persistentStore: store)
    say("done")
  }

  /// Prints what forwarding does while there is no room, and what has become of all that was forwarded afterwards.
  static func fullOutbox(_ folder: URL, kilobytes: Int) async throws {
    let service = KeyService()
    let errors = Locked<[String]>([])
    let connect = GenericConnect<ContextStrategy.Mixed>(
      name: "Tallies", model: try tallyModel(), asyncErrorBlock: { error in errors.withLock { $0.append("\(error)") } },
      transport: service, forwarding: [AddNumber.self],
      outboxPolicy: OutboxPolicy(backoff: Backoff(base: .milliseconds(10), cap: .milliseconds(50))))
    try connect.attachPersistentStore(at: folder)
    let context = connect.newBackgroundContext()
    for id in 0..<4 { context.insert(Tally(id: id)) }
    try context.save()
    let screens = try (0..<4).compactMap { try connect.viewContext.find(Tally.self, id: $0) }
    func shown() -> Int { screens.reduce(0) { $0 + $1.value.count } }
    limitFiles(kilobytes: kilobytes)
    var queued: Set<String> = []
    func forward() async -> String {
      do {
        for number in queued.count..<10_000 {
          queued.insert(try await connect.forward(AddNumber(tally: number % 4, number: number)).key.rawValue)
        }
        return "nothing"
      } catch let error as StoreError { return "\(error)" } catch { return "untyped \(error)" }
    }
    say("forward: \(await forward())")
    say("once more: \(await forward())")
    let isWhole = connect.outbox.pending.count == queued.count && shown() == queued.count
    say("pending: \(isWhole && !queued.isEmpty)")
    // The service answers, and that cannot be noted.
    try await connect.start()
    try await Task.sleep(for: .milliseconds(500))
    say("kept: \(connect.outbox.pending.map(\.key.rawValue).allSatisfy(queued.contains))")
    say("shown: \(shown() == queued.count)")
    say("asked: \(service.keys.withLock { !$0.isEmpty && $0.isSubset(of: queued) })")
    limitFiles(kilobytes: nil)
    await connect.outbox.idle()
    say("sent: \(service.keys.withLock { $0 == queued })")
    say("empty: \(connect.outbox.pending.isEmpty && connect.outbox.deadLetters.isEmpty)")
    let tallies = try connect.newBackgroundContext().fetch(FetchDescriptor<Tally>())
    say("stored: \(tallies.reduce(0) { $0 + $1.count } == queued.count)")
    let isInOrder = tallies.allSatisfy { tally in
      tally.log == (0..<queued.count).filter { $0 % 4 == tally.id }.map { " \($0)" }.joined()
    }
    say("in order: \(isInOrder)")
    say("all: \(shown() == queued.count)")
    try await connect.stop()
    say("done")
  }

  /// Prints what fails where nothing may be written.
  static func fixed(_ folder: URL) throws {
    // Nothing is forbidden to the superuser.
    if geteuid() == 0 { seteuid(65_534) }
    let model = try processModel()
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: model)
    say("attach: \(failure { try container.attachPersistentStore(at: folder) })")
    say("new: \(failure { try container.attachPersistentStore(at: folder.appending(path: "new")) })")
    let other = GenericPersistentContainer<ContextStrategy.Direct>(name: "Other", model: model)
    say("beside: \(failure { try other.attachPersistentStore(at: folder) })")
    say("done")
  }
}

/// Takes everything, and notes the keys.
private final class KeyService: Transport {
  let keys = Locked<Set<String>>([])

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    keys.withLock { _ = $0.insert(request.headers["Idempotency-Key"] ?? "") }
    return TransportResponse(status: 204)
  }
}

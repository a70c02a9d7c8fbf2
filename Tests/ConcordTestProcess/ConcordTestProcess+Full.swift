import Concord
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

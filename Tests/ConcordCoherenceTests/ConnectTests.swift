import ConcordConnect
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The code of the earlier system's documentation about actions, with structs in place of managed objects.
@Suite("Coherence's documentation of Connect, word for word", .serialized)
struct ConnectTests {
  struct Book: PersistentEntity, Equatable {
    let id: Int
    var title: String
    var price: Double

    static let persistentProperties: [PersistentProperty<Book>] = [
      .init("id", \.id), .init("title", \.title), .init("price", \.price),
    ]
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), title: try row.read(), price: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(price)
    }
    init(id: Int, title: String, price: Double = 0) {
      self.id = id
      self.title = title
      self.price = price
    }
  }

  class MyGenericAction: GenericAction {

    internal var canceled: Bool = false

    ///
    /// This will be executed by the container
    ///
    func execute() throws {

      guard !canceled else { return }

      /// Perform work here
    }

    func cancel() {
      self.canceled = true
    }
  }

  struct MyWebServiceTask {
    let parameter1: Double
    let parameter2: Double
  }

  class MyWebService {
    func execute(request: MyWebServiceTask) -> ([Book], URLResponse?, Error?) {
      let url = URL(fileURLWithPath: "/")
      let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
      return (
        [Book(id: Int(request.parameter1), title: "Emma"), Book(id: Int(request.parameter2), title: "Persuasion")],
        response, nil
      )
    }
  }

  class MyEntityAction: EntityAction {
    typealias ManagedObjectType = Book

    internal var canceled: Bool = false

    private let webService: MyWebService
    private let parameter1: Double
    private let parameter2: Double

    ///
    /// Capture the parameters you require for the Web Service call in your init
    ///
    public init(webService: MyWebService, parameter1: Double, parameter2: Double) {
      self.webService = webService
      self.parameter1 = parameter1
      self.parameter2 = parameter2
    }

    ///
    /// This will be executed by the container passing you an `ActionContext` to use for your database work.
    ///
    func execute(context: ActionContext) throws {

      guard !canceled else { return }

      let (data, response, error) = webService.execute(
        request: MyWebServiceTask(parameter1: self.parameter1, parameter2: self.parameter2))

      guard !canceled else { return }

      if let response = response as? HTTPURLResponse {

        switch response.statusCode {

        case 200:
          ///
          /// Process the returned data
          ///
          try context.merge(objects: data, for: Book.self, ignoreAttributes: ["price"])
          break
        default:
          break
        }
      }

      ///
      ///  Errors can be thrown directly from actions.  The container will
      ///  catch them and report them back through the notification system
      ///  and you completion block if one was supplied.
      ///
      if let error = error {
        throw error
      }
    }
  }

  class MyAsyncAction: GenericAction {
    func execute() async throws { await Task.yield() }
    func cancel() {}
  }

  private func withModel(_ body: (Connect & ActionManager) async throws -> Void) async throws {
    try Model("MyModelName", entities: [Book.self]).register()
    let connect: Connect & ActionManager = GenericConnect<ContextStrategy.Mixed>(name: "MyModelName")
    try connect.attachPersistentStores(for: [StoreConfiguration(type: NSInMemoryStoreType)])
    try await connect.start()
    try await body(connect)
    try await connect.stop()
  }

  @Test("Quick start, with custom configurations and the asynchronous form")
  func quickStart() async throws {
    try Model("MyModelName", entities: [], configurations: ["TransientData": [], "PersistentData": [Book.self]])
      .register()
    func start() throws {
      let connect: Connect = GenericConnect<ContextStrategy.Mixed>(name: "MyModelName")

      try connect.attachPersistentStores(for: [
        StoreConfiguration(name: "TransientData", type: NSInMemoryStoreType),
        StoreConfiguration(name: "PersistentData", type: NSInMemoryStoreType),
      ])
      try connect.start()
      #expect(connect.persistentStores.count == 2)
      connect.suspended = true
      connect.suspended = false
      try connect.stop()
    }
    try start()

    let connect: Connect = GenericConnect<ContextStrategy.Mixed>(
      name: "MyModelName",
      asyncErrorBlock: { error in
        Issue.record(error)
      })
    try connect.attachPersistentStore(for: StoreConfiguration(type: NSInMemoryStoreType))
    await withCheckedContinuation { continuation in
      connect.start { (error) in
        // Your callback code
        #expect(error == nil)
        continuation.resume()
      }
    }
    await withCheckedContinuation { continuation in
      connect.stop { error in
        #expect(error == nil)
        continuation.resume()
      }
    }
  }

  @Test("A generic action")
  func genericAction() async throws {
    try await withModel { connect in
      let proxy: ActionProxy = try connect.execute(MyGenericAction()) { actionProxy in
        #expect(actionProxy.state == ActionState.finished)
      }
      await proxy.finished()
      #expect(proxy.completionStatus == ActionCompletionStatus.successful)
      let error: Error? = proxy.error
      #expect(error == nil)
      let other = try connect.execute(MyAsyncAction())
      await other.finished()
      #expect(other.completionStatus == .successful)
    }
  }

  @Test("An entity action, its statistics and its notifications")
  func entityAction() async throws {
    try await withModel { connect in
      var token: (any NSObjectProtocol)?
      // Another connect may come to lie where this one did, and tells of its actions, too.
      defer { token.map(NotificationCenter.default.removeObserver) }
      let found: ActionProxy = try await withCheckedThrowingContinuation { continuation in
        token = NotificationCenter.default.addObserver(
          forName: Notification.ActionDidFinishExecuting, object: connect, queue: nil
        ) { notification in
          if let proxy = notification.userInfo?[Notification.Key.ActionProxy] as? ActionProxy {
            continuation.resume(returning: proxy)
          }
        }
        do {
          try connect.execute(MyEntityAction(webService: MyWebService(), parameter1: 1, parameter2: 2))
        } catch { continuation.resume(throwing: error) }
      }
      #expect(found.completionStatus == .successful)
      let statistics: ActionStatistics = found.statistics
      let contextStatistics: ContextStatistics? = statistics.contextStatistics
      #expect(contextStatistics?.inserts == 2 && statistics.executionTime > 0)
      #expect(try connect.newBackgroundContext().count(FetchDescriptor<Book>()) == 2)
    }
  }

  @Test("An unmanaged entity")
  func unmanaged() async throws {
    struct Other: PersistentEntity {
      let id: Int
      static var persistentProperties: [PersistentProperty<Other>] { [.init("id", \.id)] }
      init(from row: inout RowReader) throws { id = try row.read() }
      func write(to row: inout RowWriter) throws { try row.write(id) }
    }
    class OtherAction: EntityAction {
      typealias ManagedObjectType = Other
      func execute(context: ActionContext) throws {}
      func cancel() {}
    }
    try await withModel { connect in
      do {
        try connect.execute(OtherAction())
        Issue.record("not refused")
      } catch Errors.unmanagedEntity(let message) {
        #expect(message.contains("'Other' not managed by Connect"))
      }
    }
  }
}

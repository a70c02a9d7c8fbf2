#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Hummingbird
  import Logging
  import Metrics

  struct User: Identifiable, Sendable { let id: Int }

  typealias ServerContainer = GenericPersistentContainer<ContextStrategy.Direct>
  typealias DeviceConnect = GenericConnect<ContextStrategy.Mixed>

  /// What the predicates of publications depend on beside users and parameters, as on the version of a server.
  enum Rules {
    /// The least weight of a cart.
    static func floor(_ rules: Int) -> Double { rules == 2 ? 1 : 0 }
  }

  struct MissingParameter: Error, CustomStringConvertible { let description = "the parameter 'least' is missing" }

  /// A logger that tells of errors only.
  let quietLog = {
    var logger = Logger(label: "shop")
    logger.logLevel = .error
    return logger
  }()

  struct UsersUnreadable: Error, CustomStringConvertible {
    let token: String
    var description: String { token }
  }

  func shopService(
    _ container: any PersistentContainer, _ limits: SyncLimits = SyncLimits(), _ rules: Kept<Int> = Kept(0),
    _ metrics: any MetricsFactory = MetricsSystem.factory, logger: Logger = quietLog,
    clock: any Clock<Duration> = ContinuousClock(),
    expired: Kept<Set<String>> = Kept([])
  ) -> SyncService<User> {
    let service = SyncService<User>(
      container,
      actions: [
        AddLine.self, RemoveLine.self, Append.self, Give.self, Rename.self, Overwrite.self, Reach.self, Retitle.self,
        Restock.self, Put.self, Take.self,
      ],
      limits: limits, metrics: metrics, logger: logger, clock: clock
    ) { request in
      // As where the table of the users cannot be read.
      if request.headers[.authorization] == "Bearer user-unknown" { throw UsersUnreadable(token: "secret") }
      // A user may have several tokens: user-1, user-1-second.
      guard let token = request.headers[.authorization], token.hasPrefix("Bearer user-"),
        !expired.withLock({ $0.contains(token) }),
        let id = Int(token.dropFirst("Bearer user-".count).prefix { $0 != "-" })
      else { return nil }
      return User(id: id)
    }
    service.publish("carts", of: Cart.self) { user, _ in
      let id = user.id
      let floor = Rules.floor(rules.withLock { $0 })
      return #Predicate<Cart> { $0.owner == id && $0.weight >= floor }
    }
    service.publish("heavy", of: Cart.self) { user, parameters in
      let id = user.id
      // As a server logs what it is asked for.
      precondition(!"\(parameters)".isEmpty)
      guard let least = parameters["least"]?.number.map({ $0 + Double(rules.withLock { $0 }) }) else {
        throw MissingParameter()
      }
      return #Predicate<Cart> { $0.owner == id && $0.weight >= least }
    }
    service.publish("books", of: Book.self) { _, _ in #Predicate<Book> { $0.stock > 0 } }
    service.publish("labels", of: Label.self) { user, _ in
      let id = user.id
      return #Predicate<Label> { $0.owner == id }
    }
    service.publish("with-book", of: Cart.self) { _, parameters in
      let title = parameters["title"]?.text ?? ""
      return #Predicate<Cart> { cart in cart.lines.contains { line in line.text == title } }
    }
    // Whoever takes a book changes what this has, also with carts of others.
    service.publish("by-stock", of: Cart.self) { _, parameters in
      let rest = parameters["rest"]?.integer.map { Int($0) } ?? 0
      return #Predicate<Cart> { cart in cart.lines.contains { line in (line.book?.stock ?? 0) % 2 == rest } }
    }
    service.allow(AddLine.self) { action, user, store in
      store.find(Cart.self, id: action.cart)?.value.owner == user.id
    }
    service.allow(RemoveLine.self) { action, user, store in
      store.find(Cart.self, id: action.cart)?.value.owner == user.id
    }
    service.allow(Append.self) { action, user, store in
      store.find(Cart.self, id: action.cart)?.value.owner == user.id
    }
    service.allow(Give.self) { action, user, store in
      store.find(Cart.self, id: action.cart)?.value.owner == user.id
    }
    service.allow(Rename.self) { _, _ in true }
    service.allow(Retitle.self) { action, _ in action.title != "forbidden" }
    service.allow(Restock.self) { _, _ in true }
    service.allow(Put.self) { action, user, store in store.find(Cart.self, id: action.cart)?.value.owner == user.id }
    service.allow(Take.self) { action, user, store in store.find(Cart.self, id: action.cart)?.value.owner == user.id }
    service.allow(Overwrite.self) { action, user in action.cart == user.id }
    service.allow(Reach.self) { action, user in action.cart == user.id }
    return service
  }
#endif

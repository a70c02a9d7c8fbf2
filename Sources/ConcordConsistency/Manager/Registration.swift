import Synchronization

/// An environment, where it is called, and the pushes it has not seen yet.
// Unchecked because of the environment, which is only touched where it was registered for.
final class Registration: @unchecked Sendable {
  private struct Mail {
    var waiting: [Unchecked<any ConsistentObject>] = []
    /// Whether somebody is calling the environment, and will go on until nothing is waiting.
    var isDelivering = false
  }

  private(set) weak var environment: (any ConsistentEnvironment)?
  private let place: Place
  private let mail = Mutex(Mail())

  init(_ environment: any ConsistentEnvironment, place: Place) {
    self.environment = environment
    self.place = place
    place.prepare()
  }

  /// Takes a push, to be delivered by a call of `deliver(from:)`.
  func post(_ object: Unchecked<any ConsistentObject>) {
    mail.withLock { $0.waiting.append(object) }
  }

  /// Calls the environment with all that is waiting, here if this is the place for it.
  func deliver(from isolation: (any Actor)?) {
    if place.isHere(isolation) {
      deliverHere()
    } else {
      place.async { self.deliverHere() }
    }
  }

  private func deliverHere() {
    guard mail.withLock({ mail in
      defer { mail.isDelivering = true }
      return !mail.isDelivering
    }) else { return }
    while let objects = takeWaiting() {
      for object in objects { environment?.update(with: object.value) }
    }
  }

  /// What is waiting; if nothing is, `nil`, and the delivery is over.
  private func takeWaiting() -> [Unchecked<any ConsistentObject>]? {
    mail.withLock { mail in
      guard !mail.waiting.isEmpty else {
        mail.isDelivering = false
        return nil
      }
      defer { mail.waiting = [] }
      return mail.waiting
    }
  }

  /// What the environment owns.
  func objects(from isolation: (any Actor)?) -> [any ConsistentObject] {
    if place.isHere(isolation) { return environment?.objects ?? [] }
    return place.sync { Unchecked(environment?.objects ?? []) }?.value ?? []
  }
}

/// The floor's observers: a closure per id.
///
/// A class, as the compiler would otherwise see which closure it is and put its body in the caller's place.
final class Observers<Value> {
  private var closures: [Int: @Sendable (Value) -> Void] = [:]

  @inline(never)
  func observe(_ id: Int, _ closure: @escaping @Sendable (Value) -> Void) { closures[id] = closure }

  func notify(_ id: Int, _ value: Value) { closures[id]?(value) }
}

/// What the floor keeps of one who observes an id.
final class KeptObserver {
  let id: Int
  let closure: @Sendable (Book) -> Void

  init(id: Int, closure: @escaping @Sendable (Book) -> Void) {
    self.id = id
    self.closure = closure
  }
}

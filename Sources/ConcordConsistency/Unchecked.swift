/// Carries a value to another thread.
// Unchecked because `ConsistentObject` does not require `Sendable`, which its classes could rarely promise; its
// documentation asks that what is merged or pushed can be read on any thread.
struct Unchecked<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}

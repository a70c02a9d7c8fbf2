public import Observation

extension EntityObserver {
  /// The value as an observable object, for SwiftUI and `withObservationTracking`.
  ///
  /// ```swift
  /// struct BookView: View {
  ///   @State var book: ObservedValue<Book>          // = observer.observed
  ///   var body: some View { Text(book.value.title) }
  /// }
  /// ```
  ///
  /// Each call makes a new object, to be kept as long as it is wanted.
  public var observed: ObservedValue<Value> { ObservedValue(self) }
}

/// A value in a store that tells when it has changed, made with ``EntityObserver/observed``.
///
/// It tells where the store calls its observers: by default on the main queue, and so on the main actor. It may be read
/// from any thread, and keeps the entity alive. Whoever reads `value` is told only of transactions that changed it.
///
/// Parts of the value are parts of the object, too: `book.title` is `book.value.title`. Where the value is an entity they can
/// be written, as SwiftUI's bindings do (`@Bindable var book: ObservedValue<Book>`, `$book.title`): each is an `update` of the
/// store, which changes this part and no other.
@dynamicMemberLookup
public final class ObservedValue<Value: Sendable>: Observable, Sendable {
  let source: ObserverSource<Value>
  private let registrar = ObservationRegistrar()
  // No `let`, because it needs `self`. Set once, in `init`, before anybody else has the object.
  nonisolated(unsafe) private(set) var subscription: Subscription?

  init(_ observer: EntityObserver<Value>) {
    source = observer.source
    subscription = observer.observe { [weak self] _ in self?.tell() }
  }

  /// The current value, as ``EntityObserver/value``: who has just written reads what was written, before observers are told.
  public var value: Value { access() }

  func access() -> Value {
    registrar.access(self, keyPath: \.anyValue)
    return source.value
  }

  /// What whoever reads the value or a part of it depends on.
  private var anyValue: Value { source.value }

  /// A part of the value.
  public subscript<Part>(dynamicMember part: KeyPath<Value, Part>) -> Part { value[keyPath: part] }

  // The first time nobody can have read it yet.
  private func tell() { registrar.withMutation(of: self, keyPath: \.anyValue) {} }
}

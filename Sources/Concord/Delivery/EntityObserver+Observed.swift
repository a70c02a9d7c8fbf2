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
  /// Each access creates a new object, which observes as long as it is retained.
  public var observed: ObservedValue<Value> { ObservedValue(self) }
}

/// An observable object with a value in a store, made with ``EntityObserver/observed``.
///
/// It reports changes where the store calls its observers: by default on the main queue, and so on the main actor. It may be
/// read from any thread, and retains the entity. Readers of `value` are notified only of transactions that changed it.
///
/// The members of the value are members of the object, too: `book.title` is `book.value.title`. If the value is an entity,
/// they can be written, as SwiftUI's bindings do (`@Bindable var book: ObservedValue<Book>`, `$book.title`): each write is an
/// `update` of the store that changes only this member.
@dynamicMemberLookup
public final class ObservedValue<Value: Sendable>: Observable, Sendable {
  let source: ObserverSource<Value>
  private let registrar = ObservationRegistrar()
  // A `var`, because its value needs `self`. Set once, in `init`, before the object is shared.
  nonisolated(unsafe) private(set) var subscription: Subscription?

  init(_ observer: EntityObserver<Value>) {
    source = observer.source
    subscription = observer.observe { [weak self] _ in self?.tell() }
  }

  /// The current value, as ``EntityObserver/value``: a writer reads its own write before observers are notified.
  public var value: Value { access() }

  func access() -> Value {
    registrar.access(self, keyPath: \.anyValue)
    return source.value
  }

  /// The property on which readers of the value or of a part of it depend.
  private var anyValue: Value { source.value }

  /// A part of the value.
  public subscript<Part>(dynamicMember part: KeyPath<Value, Part>) -> Part { value[keyPath: part] }

  // At the first call nothing can have read the value yet.
  private func tell() { registrar.withMutation(of: self, keyPath: \.anyValue) {} }
}

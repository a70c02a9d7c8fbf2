// One import in place of `import CohesionKit`: all of Concord, and the one name that Concord itself must not have, since
// whoever imports it beside `os` or `Logging` could not say `Logger` any more.
@_exported public import Concord

/// CohesionKit's name of ``EntityStoreLogger``.
///
/// ```swift
/// final class StoreLogger: Logger {
///   func didFailedToStore<T: Identifiable>(_ type: T.Type, id: T.ID, error: any Error) { print(type, id, error) }
/// }
/// ```
///
/// `didFailedToStore` is called for what is discarded as stale, with a ``StampError``, and for what is refused, with a
/// ``RefusalReason``.
@available(*, deprecated, renamed: "EntityStoreLogger")
public typealias Logger = EntityStoreLogger

// Replaces `import CohesionKit`: exports Concord, and adds the name `Logger`, which Concord itself must not declare, since it
// would be ambiguous in files that also import `os` or `Logging`.
@_exported public import Concord

/// CohesionKit's name of ``EntityStoreLogger``.
///
/// ```swift
/// final class StoreLogger: Logger {
///   func didFailedToStore<T: Identifiable>(_ type: T.Type, id: T.ID, error: any Error) { print(type, id, error) }
/// }
/// ```
///
/// `didFailedToStore` is called for stale writes, with a ``StampError``, and for refused ones, with a ``RefusalReason``.
@available(*, deprecated, renamed: "EntityStoreLogger")
public typealias Logger = EntityStoreLogger

/// A closure that receives errors from background work: a ``BackgroundSaveError``, or an error of reading what the view shows.
public typealias AsyncErrorHandlerBlock = @Sendable (any Error) -> Void

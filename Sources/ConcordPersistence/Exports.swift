@_exported public import ConcordModel

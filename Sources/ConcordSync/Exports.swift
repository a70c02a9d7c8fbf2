@_exported public import ConcordConnect

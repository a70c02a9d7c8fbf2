@_exported public import ConcordPersistence

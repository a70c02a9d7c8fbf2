// One import is enough to declare objects and to merge them.
@_exported public import ConcordConsistency
@_exported public import ConcordMacros

// One import is enough to declare entities and to describe their rows.
@_exported public import ConcordMacros
@_exported public import ConcordModel

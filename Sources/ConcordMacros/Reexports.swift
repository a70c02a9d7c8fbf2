// One import is enough to declare entities and to store them.
@_exported public import Concord

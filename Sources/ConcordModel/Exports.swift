@_exported public import Concord

// `#Predicate`, `SortDescriptor`, `Date` and `UUID` stand in the interface: whoever uses it needs no further import.
@_exported public import Foundation

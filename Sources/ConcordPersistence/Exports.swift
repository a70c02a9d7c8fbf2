@_exported public import ConcordModel
// Its types stand in the interface: URLs, predicates, orders.
@_exported public import Foundation

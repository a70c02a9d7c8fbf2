@_exported public import Concord
// Predicates, sort descriptors, dates and URLs stand in the interface.
@_exported public import Foundation

import Foundation

/// Whether tests that take long do all they can: in the optimised build, and in the other one with `Scripts/test --all`.
let isLong = ProcessInfo.processInfo.environment["CONCORD_LONG"] == "1"

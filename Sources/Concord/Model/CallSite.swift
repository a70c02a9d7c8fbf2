/// The place of a call in the user's code, which an inspector shows.
@usableFromInline package struct CallSite: Sendable {
  /// The module and the file, as in `Shop/BookScreen.swift`.
  package let file: StaticString
  package let line: UInt

  @usableFromInline init(_ file: StaticString, _ line: UInt) { (self.file, self.line) = (file, line) }

  /// The place of the inspector's own subscription to the transactions.
  static var recorder: CallSite { CallSite("", 0) }
  var isOfRecorder: Bool { line == 0 }

  /// Whether another module of this package has called, for somebody else.
  var isOfThisPackage: Bool {
    let module = "\(file)".prefix { $0 != "/" }
    return ["Concord", "ConcordCombine", "ConcordPersistence", "ConcordConnect", "ConcordSync", "ConcordServer"]
      .contains { $0 == module }
  }
}

/// The place from which the engine was called, as far as it is known.
package enum CallOrigin: Sendable {
  case site(CallSite)
  /// The inspector's note of the calling functions.
  case trace(any Sendable)
}

#if Server
  import Foundation

  /// Returns the sentence that tells a device why something is refused. What a store says of itself is not for strangers.
  ///
  /// - Parameter sentence: what is told of an error of a store.
  func toldReason(_ error: any Error, ofStore sentence: String) -> String {
    switch error {
    case is StoreError: sentence
    case let error as any LocalizedError: told(error.errorDescription ?? "\(error)")
    default: told("\(error)")
    }
  }

  /// Returns the beginning of a text, which is noted and told: an error may describe itself with all that it has, and a character may have any
  /// number of bytes.
  func told(_ text: String, bytes: Int = 1000) -> String {
    guard text.utf8.count > bytes else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: bytes)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return String(text[..<end])
  }
#endif

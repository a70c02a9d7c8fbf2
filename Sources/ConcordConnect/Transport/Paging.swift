import Foundation

/// The division of a web service's lists into pages.
public enum Paging: Sendable, Hashable {
  /// No pages: the body is an array.
  case none
  /// A header field `Link` with `rel="next"`: RFC 8288. The body is an array.
  case link
  /// A text that is sent back: the body is an object with an array `items`, and `next`, which is sent as `parameter`, or is missing,
  /// `null` or empty on the last page.
  case cursor(parameter: String = "cursor", items: String = "items", next: String = "next")
}

enum LinkHeader {
  /// The address that a `Link` field gives for a relation, after RFC 8288, section 3.
  static func target(_ relation: String, in field: String) -> String? {
    var rest = Substring(field)
    while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
      let target = rest[rest.index(after: open)..<close]
      let (parameters, remainder) = split(rest[rest.index(after: close)...])
      if parameters.contains(where: { $0.name == "rel" && names($0.value).contains(relation) }) {
        return String(target)
      }
      rest = remainder
    }
    return nil
  }

  private static func names(_ value: String) -> [String] { value.lowercased().split(separator: " ").map(String.init) }

  /// The parameters of one link, and what follows its comma. Texts in quotes may hold commas and semicolons.
  private static func split(
    _ text: Substring
  ) -> (parameters: [(name: String, value: String)], rest: Substring) {
    var parameters: [(name: String, value: String)] = []
    var current = ""
    var isQuoted = false
    var isEscaped = false
    func finish() {
      let parts = current.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      if parts.count == 2 { parameters.append((parts[0].lowercased(), parts[1])) }
      current = ""
    }
    for index in text.indices {
      let character = text[index]
      if isEscaped {
        current.append(character)
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if !isQuoted, character == ";" {
        finish()
      } else if !isQuoted, character == "," {
        finish()
        return (parameters, text[text.index(after: index)...])
      } else {
        current.append(character)
      }
    }
    finish()
    return (parameters, "")
  }
}

extension JSONValue {
  func problem(_ reason: String) -> JSONProblem { JSONProblem(line: line, reason: reason) }

  /// The fields of an object; `what` says what the object stands for.
  func fields(of what: String) throws(JSONProblem) -> [String: JSONValue] {
    guard case .object(let fields) = content else { throw problem("\(what) must be an object, found \(kind)") }
    return fields
  }

  func field(_ name: String, of what: String) throws(JSONProblem) -> JSONValue {
    guard let value = try fields(of: what)[name] else { throw problem("\(what) has no \"\(name)\"") }
    return value
  }

  func list(_ name: String, of what: String) throws(JSONProblem) -> [JSONValue] {
    let value = try field(name, of: what)
    guard case .array(let values) = value.content else {
      throw value.problem("\"\(name)\" of \(what) must be a list, found \(value.kind)")
    }
    return values
  }

  /// A string that says something: an empty one is refused.
  func text(_ name: String, of what: String) throws(JSONProblem) -> String {
    let value = try field(name, of: what)
    guard case .string(let text) = value.content else {
      throw value.problem("\"\(name)\" of \(what) must be a string, found \(value.kind)")
    }
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw value.problem("\"\(name)\" of \(what) is empty")
    }
    return text
  }

  func integer(_ name: String, of what: String, in range: ClosedRange<Int>) throws(JSONProblem) -> Int {
    let value = try field(name, of: what)
    guard case .number(let number) = value.content, let integer = Int(exactly: number) else {
      throw value.problem("\"\(name)\" of \(what) must be a whole number, found \(value.kind)")
    }
    guard range.contains(integer) else {
      throw value.problem(
        "\"\(name)\" of \(what) must be between \(range.lowerBound) and \(range.upperBound), found \(integer)")
    }
    return integer
  }
}

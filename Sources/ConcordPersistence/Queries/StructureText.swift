import ConcordModel
import Foundation

/// Writes a value, with all that it is made of, as a text that is equal for equal values in all processes.
///
/// What cannot be looked into, as a closure, is written as its type.
struct StructureText {
  private(set) var text = ""
  private var variables: [PredicateExpressions.VariableID: Int] = [:]
  /// Objects may refer to each other.
  private var depth = 0

  mutating func add(_ value: Any) {
    switch value {
    case let value as String: text += "\"\(value.utf8.count) \(value)\""
    case let value as Substring: add(String(value))
    case let value as Double: text += "d\(value.bitPattern)"
    case let value as Float: text += "f\(value.bitPattern)"
    case let value as any BinaryInteger: text += "\(type(of: value)) \(value)"
    case let value as Bool: text += "\(value)"
    case let value as Data: text += value.base64EncodedString()
    case let value as UUID: text += value.uuidString
    case let value as Date: text += "t\(value.timeIntervalSinceReferenceDate.bitPattern)"
    case let value as EntityDescription: text += value.name
    case let value as AnyKeyPath: text += "\(value)"
    // Variables are numbered anew in each process.
    case let value as PredicateExpressions.VariableID:
      variables[value] = variables[value] ?? variables.count
      text += "v\(variables[value] ?? 0)"
    default: addParts(of: value)
    }
  }

  private mutating func addParts(of value: Any) {
    guard depth < 100 else { return }
    let mirror = Mirror(reflecting: value)
    text += "\(type(of: value))("
    if case .enum = mirror.displayStyle, mirror.children.isEmpty { text += "\(value)" }
    let isOrdered = mirror.displayStyle != .set && mirror.displayStyle != .dictionary
    var parts: [String] = []
    for child in mirror.children {
      var part = StructureText()
      part.depth = depth + 1
      swap(&part.variables, &variables)
      part.add(child.value)
      swap(&part.variables, &variables)
      parts.append("\(child.label ?? "")=\(part.text)")
    }
    if !isOrdered { parts.sort() }
    text += parts.joined(separator: ",") + ")"
  }
}

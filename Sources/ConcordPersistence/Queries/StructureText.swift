import ConcordModel
import Foundation

/// Writes a value, with all that it is made of, as a text that is equal for equal values in all processes, and for no others.
///
/// What cannot be looked into, as a closure, is written as it describes itself.
struct StructureText {
  private(set) var text = ""
  private var variables: [PredicateExpressions.VariableID: Int] = [:]

  private enum Step {
    case text(String)
    /// A value within a number of objects.
    case value(Any, objects: Int)
  }

  mutating func add(_ value: Any) { add(value, objects: 0) }

  private mutating func add(_ value: Any, objects: Int) {
    // Without recursion: a predicate that is folded from a list is as deep as that is long.
    var open = [Step.value(value, objects: objects)]
    while let step = open.popLast() {
      switch step {
      case .text(let part): text += part
      case .value(let value, let objects):
        if let part = single(value) { text += part } else { open += steps(of: value, objects).reversed() }
      }
    }
  }

  /// Returns the text of a value without parts; `nil` if it may have some.
  private mutating func single(_ value: Any) -> String? {
    switch value {
    case let value as String: return "\"\(value.utf8.count) \(value)\""
    case let value as Substring: return single(String(value))
    case let value as Double: return "d\(value.bitPattern)"
    case let value as Float: return "f\(value.bitPattern)"
    case let value as any BinaryInteger: return "\(type(of: value)) \(value)"
    case let value as Bool: return "\(value)"
    case let value as Data: return value.base64EncodedString()
    case let value as UUID: return value.uuidString
    case let value as Date: return "t\(value.timeIntervalSinceReferenceDate.bitPattern)"
    case let value as EntityDescription: return value.name
    case let value as AnyKeyPath: return "\(value)"
    // Variables are numbered anew in each process.
    case let value as PredicateExpressions.VariableID:
      let number = variables[value] ?? variables.count
      variables[value] = number
      return "v\(number)"
    default: return nil
    }
  }

  private func name(ofTypeOf value: Any) -> String {
    let name = "\(type(of: value))"
    guard value is any PredicateExpression else { return name }
    // The parts name their own types. With those of all its parts the name of each expression would be as long as the predicate.
    return name.prefix { $0 != "<" } + ((value as? any CastExpression).map { " to \(type(of: $0).desired)" } ?? "")
  }

  private mutating func steps(of value: Any, _ objects: Int) -> [Step] {
    let mirror = Mirror(reflecting: value)
    // Objects may refer to each other.
    let objects = objects + (mirror.displayStyle == .class ? 1 : 0)
    if objects > 100 { return [] }
    if mirror.children.isEmpty { return [.text("\(type(of: value))(\(value))")] }
    let name = self.name(ofTypeOf: value)
    switch mirror.displayStyle {
    case .set, .dictionary:
      let parts = mirror.children.map { child in
        var part = StructureText()
        swap(&part.variables, &variables)
        part.add(child.value, objects: objects)
        swap(&part.variables, &variables)
        return part.text
      }
      return [.text("\(name)(\(parts.sorted().joined(separator: ",")))")]
    default:
      let parts: [Step] = mirror.children.flatMap { child in
        [.text("\(child.label ?? "")="), .value(child.value, objects: objects), .text(",")]
      }
      return [.text("\(name)(")] + parts + [.text(")")]
    }
  }
}

/// An expression that has a type, and no part of that.
private protocol CastExpression {
  static var desired: Any.Type { get }
}

extension PredicateExpressions.TypeCheck: CastExpression {
  fileprivate static var desired: Any.Type { Desired.self }
}
extension PredicateExpressions.ForceCast: CastExpression {
  fileprivate static var desired: Any.Type { Desired.self }
}
extension PredicateExpressions.ConditionalCast: CastExpression {
  fileprivate static var desired: Any.Type { Desired.self }
}

#if Tool
  import ConcordModel
  import Foundation

  /// A token of a condition.
  enum WhereToken: Equatable {
    /// A column or a keyword; columns in backquotes are never keywords.
    case word(String)
    case column(String)
    case value(StoredValue)
    /// An operator or a parenthesis.
    case sign(String)

    /// The form of the token in an error.
    var text: String {
      switch self {
      case .word(let word): "'\(word)'"
      case .column(let name): "`\(name)`"
      case .value(let value): value.description
      case .sign(let sign): "'\(sign)'"
      }
    }

    static func tokens(_ text: String) throws -> [WhereToken] {
      var rest = Substring(text)
      var tokens: [WhereToken] = []
      while let token = try next(&rest) { tokens.append(token) }
      return tokens
    }

    private static func next(_ rest: inout Substring) throws -> WhereToken? {
      rest = rest.drop { $0.isWhitespace }
      guard let first = rest.first else { return nil }
      switch first {
      case "'", "\"": return .value(.text(try quoted(&rest)))
      case "`": return .column(try quoted(&rest))
      case "x" where rest.dropFirst().first == "'", "X" where rest.dropFirst().first == "'":
        rest.removeFirst()
        return .value(.blob(try bytes(quoted(&rest))))
      case "0"..."9", "-", "+", ".": return .value(try number(&rest))
      case "(", ")", ",": return .sign(String(rest.removeFirst()))
      case "=", "!", "<", ">":
        let sign = rest.prefix { "=!<>".contains($0) }
        rest.removeFirst(sign.count)
        return .sign(String(sign))
      default:
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." || $0 == "$" }
        guard !word.isEmpty else { throw ToolError(.usage, "--where: '\(first)' is not expected") }
        rest.removeFirst(word.count)
        return .word(String(word))
      }
    }

    /// Reads a text up to a quotation mark. A doubled quotation mark is part of the text.
    private static func quoted(_ rest: inout Substring) throws -> String {
      let mark = rest.removeFirst()
      var text = ""
      while let character = rest.popFirst() {
        if character != mark {
          text.append(character)
        } else if rest.first == mark {
          text.append(rest.removeFirst())
        } else {
          return text
        }
      }
      throw ToolError(.usage, "--where: a text that begins with \(mark) does not end")
    }

    private static func number(_ rest: inout Substring) throws -> StoredValue {
      let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0.isLetter || "+-.".contains($0)) }
      rest.removeFirst(digits.count)
      if let integer = Int64(digits) { return .integer(integer) }
      if let real = Double(digits), !real.isNaN { return .real(real) }
      throw ToolError(.usage, "--where: '\(digits)' is no number")
    }

    private static func bytes(_ digits: String) throws -> Data {
      var data = Data()
      var rest = Substring(digits)
      while !rest.isEmpty {
        guard let byte = UInt8(rest.prefix(2), radix: 16), rest.count > 1 else {
          throw ToolError(.usage, "--where: x'\(digits)' is no row of bytes")
        }
        data.append(byte)
        rest.removeFirst(2)
      }
      return data
    }
  }
#endif

#if Inspector
  import Concord
  import Foundation

  #if os(Linux)
    import Runtime
  #endif

  /// A place in the code, as the page shows it.
  struct CodePlace: Encodable, Sendable, Hashable {
    /// The file with its folder.
    let file: String
    let line: Int
    let function: String?
  }

  /// The calling functions, as they were noted: addresses, of which places are made only when somebody looks.
  enum CallTrace {
    /// Notes the calling functions. Costs some microseconds.
    @Sendable static func capture() -> (any Sendable)? {
      #if os(Linux)
        return try? Backtrace.capture(algorithm: .fast, limit: 40, top: 0, images: images)
      #else
        return nil
      #endif
    }

    #if os(Linux)
      /// The places of the program's code, looked up once: that takes a quarter of a millisecond.
      private static let images = ImageMap.capture()

      /// Returns the key that tells two traces apart.
      static func key(_ trace: any Sendable) -> [Backtrace.Address] {
        (trace as? Backtrace)?.frames.map(\.originalProgramCounter) ?? []
      }

      /// Returns the places of the calls, the innermost first, without those in this package. Takes seconds for a large program.
      static func places(_ trace: any Sendable) -> [CodePlace] {
        guard let trace = trace as? Backtrace, let frames = trace.symbolicated(with: images)?.frames else { return [] }
        return frames.compactMap { frame in
          guard let symbol = frame.symbol, let source = symbol.sourceLocation, source.line > 0, !frame.isSwiftThunk,
            !source.path.hasPrefix(sources), !source.path.hasPrefix("/<")
          else { return nil }
          let file = source.path.split(separator: "/").suffix(2).joined(separator: "/")
          return CodePlace(file: file, line: source.line, function: symbol.name)
        }
      }

      private static let sources = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Concord"
    #else
      static func key(_ trace: any Sendable) -> [UInt] { [] }
      static func places(_ trace: any Sendable) -> [CodePlace] { [] }
    #endif
  }
#endif

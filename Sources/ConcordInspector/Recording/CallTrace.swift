#if Inspector
  import Concord
  import Foundation

  #if os(Linux)
    import Runtime
  #endif

  /// A place in the code, as the page shows it.
  struct CodePlace: Encodable, Sendable, Hashable, Comparable {
    /// The file with its folder.
    let file: String
    /// The line; 0 where only the function is known.
    let line: Int
    let function: String?

    static func < (a: CodePlace, b: CodePlace) -> Bool { (a.file, a.line) < (b.file, b.line) }
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
        let places = frames.compactMap { frame -> CodePlace? in
          guard let symbol = frame.symbol, let source = symbol.sourceLocation, !frame.isSwiftThunk,
            !source.path.hasPrefix(sources), !source.path.contains("/<")
          else { return nil }
          let file = source.path.split(separator: "/").suffix(2).joined(separator: "/")
          return CodePlace(file: file, line: source.line, function: symbol.name)
        }
        // A call that the compiler has made, such as that of an iterator, has no line. The function is better than nothing.
        let known = places.filter { $0.line > 0 }
        return known.isEmpty ? places : known
      }

      private static let sources = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Concord"
    #else
      static func key(_ trace: any Sendable) -> [UInt] { [] }
      static func places(_ trace: any Sendable) -> [CodePlace] { [] }
    #endif
  }
#endif

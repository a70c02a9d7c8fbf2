#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// Something the macros refuse or warn of, in the words the user reads.
  struct Problem: DiagnosticMessage {
    let id: String
    let message: String
    var severity = DiagnosticSeverity.error

    var diagnosticID: MessageID { MessageID(domain: "ConcordMacros", id: id) }
  }

  extension MacroExpansionContext {
    func report(_ problem: Problem, at node: some SyntaxProtocol, fixIts: [FixIt] = []) {
      diagnose(Diagnostic(node: Syntax(node), message: problem, fixIts: fixIts))
    }
  }

  extension Problem {
    static func notAStruct(_ kind: String, name: String, macro: String, wrapper: String?) -> Problem {
      let hint =
        wrapper.map { "an enum has no identity: if it holds entities, declare it '@\($0)'" }
        ?? "an entity is a value that the store copies, compares and shares between threads"
      return Problem(id: "notAStruct", message: "'@\(macro)' needs a struct, and '\(name)' is \(kind): \(hint)")
    }

    static func notAWrapper(_ kind: String, name: String, macro: String) -> Problem {
      Problem(
        id: "notAWrapper",
        message: "'@\(macro)' needs an enum or a struct, and '\(name)' is \(kind): a wrapper is a value that the "
          + "store copies and shares between threads")
    }

    static func local(_ macro: String) -> Problem {
      Problem(
        id: "localType",
        message: "'@\(macro)' adds an extension, and a type inside a function cannot have one: "
          + "declare it outside of the function")
    }

    static func outOfReach(_ macro: String) -> Problem {
      Problem(
        id: "privateInside",
        message:
          "'@\(macro)' adds an extension to the file, which cannot see a private type inside another one: declare it "
          + "'fileprivate'")
    }

    static func noncopyable(_ macro: String) -> Problem {
      Problem(id: "noncopyable", message: "'@\(macro)' needs a copyable type: every observer gets a copy of the value")
    }

    static func missingID(_ name: String, macro: String) -> Problem {
      Problem(
        id: "missingID",
        message: "'\(name)' has no 'id': declare one, or name the property that identifies it, "
          + "as in '@\(macro)(id: \\.isbn)'. If an extension declares the id, let that extension conform to 'Identifiable'"
      )
    }

    static func notAProjection(_ kind: String, name: String) -> Problem {
      Problem(
        id: "notAProjection",
        message: "'@Projection' needs a struct, and '\(name)' is \(kind): a projection is a value that the store copies"
      )
    }

    static let projectionOfNoType = Problem(
      id: "projectionOfNoType", message: "'of:' takes the type of which this shows a part, such as 'Book.self'")

    static func constantShared(_ name: String, whole: String) -> Problem {
      Problem(
        id: "constantShared",
        message: "'\(name)' is shared with '\(whole)': declare it with 'var', so that the store can put newer values "
          + "in it, or mark it '@EntityIgnored'",
        severity: .warning)
    }

    static func notConsistent(_ kind: String, name: String) -> Problem {
      Problem(
        id: "notConsistent",
        message: "'@Consistent' needs a struct or an enum, and '\(name)' is \(kind): write the conformance to "
          + "'ConsistentObject' by hand")
    }

    static func missingIDOfObject(_ name: String) -> Problem {
      Problem(
        id: "missingID",
        message: "'\(name)' has no 'id': declare one, or name the property that identifies it, as in "
          + "'@Entity(id: \\.isbn) @Consistent'. A struct without identity is declared '@EntityWrapper @Consistent'")
    }

    static func secondID(_ name: String, macro: String) -> Problem {
      Problem(
        id: "secondID",
        message: "'\(name)' declares an 'id' already: remove it, or write '@\(macro)' without the argument 'id:'")
    }

    static func idNotAKeyPath() -> Problem {
      Problem(id: "idNotAKeyPath", message: "'id:' takes a key path to a property of the struct, such as '\\.isbn'")
    }

    static func idOfUnknownType(_ property: String, type: String) -> Problem {
      Problem(
        id: "idOfUnknownType",
        message: "the type of 'id' is not known here: let '\(type)' itself declare '\(property)' with its type, "
          + "as in 'let \(property): String', or declare 'id' by hand")
    }

    static func lazyProperty(_ name: String) -> Problem {
      Problem(
        id: "lazyProperty",
        message: "'\(name)' is lazy, so it has no value to look into before it is first read: "
          + "entities in it are not followed; mark it '@EntityIgnored' if that is meant",
        severity: .warning)
    }

    static func pack(_ name: String) -> Problem {
      Problem(
        id: "parameterPack",
        message: "'\(name)' is a parameter pack, to whose elements no key path leads: entities in it are not followed; "
          + "hold them in an array of an enum declared '@EntityWrapper', or mark it '@EntityIgnored' if that is meant",
        severity: .warning)
    }

    static func constantRelation(_ name: String) -> Problem {
      Problem(
        id: "constantRelation",
        message: "'\(name)' holds an entity: declare it with 'var', so that the store can put that entity's newer "
          + "values in it; a 'let' keeps the value it was created with",
        severity: .warning)
    }

    static func wrapsNothing(_ name: String) -> Problem {
      Problem(
        id: "wrapsNothing", message: "no case of '\(name)' has an associated value: it wraps nothing",
        severity: .warning)
    }

    static func accessorClash(_ accessor: String, case name: String) -> Problem {
      Problem(
        id: "accessorClash",
        message: "the accessor '\(accessor)' of the case '\(name)' clashes with another member: rename one of them, or "
          + "declare 'var \(accessor)' by hand")
    }

    static func operatorOfWrapper(_ name: String, conformances: String, type: String, macro: String) -> Problem {
      Problem(
        id: "operatorOfWrapper",
        message: "the compiler would not use this '\(name)', but derive its own, since '@\(macro)' adds members "
          + "to '\(type)': state the conformance outside of it, as in 'extension \(type): \(conformances) {}'")
    }

    static func twin(_ twin: String, of name: String) -> Problem {
      Problem(id: "twin", message: "'@\(name)' does all that '@\(twin)' does: remove '@\(twin)'")
    }

    static func transientWithoutDefault(_ name: String) -> Problem {
      Problem(
        id: "transientWithoutDefault",
        message: "'\(name)' is not stored, so what is read has nothing to put in it: give it a value, as in "
          + "'@Transient var isSelected = false'")
    }

    static let transientID = Problem(
      id: "transientID", message: "an entity is found by its 'id', which must be stored: remove '@Transient'")

    static func transientAttribute(_ name: String) -> Problem {
      Problem(
        id: "transientAttribute", message: "'\(name)' is '@Transient': it has no column that could have attributes")
    }

    static func constantWithValue(_ name: String, isError: Bool) -> Problem {
      Problem(
        id: "constantWithValue",
        message: "'\(name)' has its value already, so none can be read into it: declare it with 'var'"
          + (isError ? "" : ", or mark it '@Transient' if it is not to be stored"),
        severity: isError ? .error : .warning)
    }

    static func recursiveWrapper(_ name: String, type: String) -> Problem {
      Problem(
        id: "recursiveWrapper",
        message: "the case '\(name)' holds another '\(type)', and each would need columns of its own: let an entity "
          + "stand between them")
    }

    static func marksNothing(_ mark: String) -> Problem {
      Problem(
        id: "marksNothing", message: "'@\(mark)' stands before a stored property; nothing else needs it",
        severity: .warning)
    }
  }
#endif

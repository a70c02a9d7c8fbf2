#if Macros
  /// The computed properties through which the payloads of an enum are read and written.
  struct CaseAccessors {
    let host: Host
    /// Whether there is a `case none` without payload, which a value can become when its entity is taken out.
    let canBeEmpty: Bool

    init(host: Host, cases: [WrapperCase]) {
      self.host = host
      canBeEmpty = cases.contains { $0.label == "none" && $0.payloads.isEmpty && $0.availability.condition == nil }
    }

    /// The accessors of one case, but those the user wrote.
    func declarations(for wrapperCase: WrapperCase) -> [String] {
      var lines: [String] = []
      for payload in wrapperCase.payloads where !host.declaresProperty(payload.accessorLabel) {
        let body =
          ["get {", "  " + wrapperCase.value(of: payload), "}"]
          + ["set {"] + setter(payload, of: wrapperCase).indented + ["}"]
        if wrapperCase.availability.isDeprecated { lines.append("@available(*, deprecated)") }
        lines.append("\(host.access)nonisolated var \(payload.accessor): \(payload.accessorType) {")
        lines += body.indented + ["}"]
      }
      return lines
    }

    /// Returns the setter of a payload. One of several payloads can only be set while the value is their case, so that the other
    /// payloads keep their values.
    private func setter(_ payload: WrapperCase.Payload, of wrapperCase: WrapperCase) -> [String] {
      let isAlone = wrapperCase.payloads.count == 1
      let isThisCase = wrapperCase.condition { $0 != payload.index }
      let renewed = wrapperCase.construction { $0 == payload.index ? "newValue" : "value\($0)" }
      if payload.isOptional {
        // `nil` is a payload like all others, but does not make a value this case.
        let condition = isAlone ? "if newValue != nil {" : "if \(isThisCase) {"
        let emptied =
          isAlone ? ["} else if \(isThisCase) {", "  self = \(wrapperCase.construction { _ in "nil" })"] : []
        return [condition, "  self = \(renewed)"] + emptied + ["}"]
      }
      let condition = isAlone ? "if let newValue {" : "if let newValue, \(isThisCase) {"
      // Without an empty case, `nil` is ignored: the value cannot be this case without its entity.
      let isEmptied = (isAlone ? "" : "newValue == nil, ") + wrapperCase.condition { _ in false }
      let emptied = canBeEmpty ? ["} else if \(isEmptied) {", "  self = .none"] : []
      return [condition, "  self = \(renewed)"] + emptied + ["}"]
    }
  }
#endif

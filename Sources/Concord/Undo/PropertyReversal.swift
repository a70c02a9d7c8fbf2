/// Takes back what a step changed of a value, property by property. What other writes have changed since stays.
struct PropertyReversal {
  var hasChanged = false
  /// The properties that stay, with the reasons. A name is `nil` for a value whose properties are not known.
  var conflicts: [(property: String?, reason: UndoConflict.Reason)] = []

  /// Whether two values differ in a property.
  static func differ<T>(_ a: T, _ b: T) -> Bool {
    let layout = PropertyLayout.of(a)
    return layout.isWhole ? !SameProperty.areSame(values: a, b) : layout.differs(a, b)
  }

  /// Returns the names of the properties in which two values differ.
  static func differences<T>(_ a: T, _ b: T) -> [String] {
    let layout = PropertyLayout.of(a)
    if layout.isWhole { return SameProperty.areSame(values: a, b) ? [] : ["\(T.self)"] }
    return layout.properties.indices.lazy.filter { !layout.isSame($0, a, b) }.map { layout.properties[$0].name }
  }

  /// Takes back a change from `new` to `old` in a value. All three show the entities inside them as they are now.
  ///
  /// - Parameter kept: the entities that stay where they are; `nil` if there are none.
  static func revert<T>(
    _ current: inout T, from new: T, to old: T, except kept: KeptEntities<T>? = nil
  ) -> PropertyReversal {
    let layout = PropertyLayout.of(current)
    guard !layout.isWhole else { return revertWhole(&current, from: new, to: old, except: kept) }
    var reversal = PropertyReversal()
    var inseparable: [Int] = []
    for k in layout.properties.indices where !layout.isSame(k, old, new) && !layout.isSame(k, current, old) {
      let name = layout.properties[k].name
      let before = current
      if layout.isSame(k, current, new) {
        let isCopied = layout.copy(k, from: old, to: &current)
        if kept?.mayBecome(before, current) ?? true {
          if isCopied { reversal.hasChanged = true } else { inseparable.append(k) }
          continue
        }
        current = before
      }
      let elements = layout.revertElements(k, from: new, to: old, in: &current, except: kept?.contains)
      if let kept, !kept.mayBecome(before, current) {
        current = before
        reversal.conflicts.append((name, .changedSince))
        continue
      }
      if elements?.hasChanged ?? false { reversal.hasChanged = true }
      if elements?.isPartial ?? true { reversal.conflicts.append((name, .changedSince)) }
    }
    guard let first = inseparable.first else { return reversal }
    // Such a property can be set only if the whole value can: if nothing else is different from what the step had made.
    let others = layout.properties.indices.filter { !inseparable.contains($0) }
    if others.allSatisfy({ layout.isSame($0, current, old) }), kept?.mayBecome(current, old) ?? true {
      current = old
      reversal.hasChanged = true
    } else {
      reversal.conflicts.append((layout.properties[first].name, .inseparable))
    }
    return reversal
  }

  private static func revertWhole<T>(
    _ current: inout T, from new: T, to old: T, except kept: KeptEntities<T>?
  ) -> PropertyReversal {
    if SameProperty.areSame(values: current, old) { return PropertyReversal() }
    guard SameProperty.areSame(values: current, new), kept?.mayBecome(current, old) ?? true else {
      return PropertyReversal(conflicts: [(nil, .changedSince)])
    }
    current = old
    return PropertyReversal(hasChanged: true)
  }
}

/// The entities that stay where they are when values are set back.
struct KeptEntities<T> {
  /// Whether an element of a collection is one.
  let contains: (Any) -> Bool
  /// Whether the second value has each as often as the first one.
  let mayBecome: (T, T) -> Bool
}

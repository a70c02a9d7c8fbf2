// Invariants: Swift lays the stored properties of a struct out in the order of their declaration, each at the next multiple of its
// alignment (ABI/TypeLayout); a mirror of a struct that makes none of its own lists them in that order, each as a value of its
// declared type. Both are checked against the size and the alignment of the whole. `weak` and `unowned` properties have other bits
// than a mirror shows: they are of classes, or of protocols, and properties of such types are never accessed by their addresses.
// Pointers are used during a call only.

/// The stored properties of a type, found by reflection, so that each is compared and copied on its own.
///
/// A type whose properties cannot be found (an enum, a class, a type with a mirror of its own) has none: its values are compared and
/// copied as a whole.
struct PropertyLayout: Sendable {
  let properties: [Property]
  /// Whether the values are of a type that has no properties that are known.
  var isWhole: Bool { properties.isEmpty }

  struct Property: Sendable {
    let name: String
    let offset: Int
    /// Operations on the addresses of properties; `nil` if the property must not be accessed by its address.
    let access: PropertyAccess?
  }

  /// The layouts found so far.
  private static let known = Locked<[ObjectIdentifier: PropertyLayout]>([:])

  /// Returns the layout of a value's type, which is found the first time.
  static func of<T>(_ value: T) -> PropertyLayout {
    let type = ObjectIdentifier(T.self)
    if let layout = known.withLock({ $0[type] }) { return layout }
    let layout = PropertyLayout(reflecting: value) ?? PropertyLayout(properties: [])
    known.withLock { $0[type] = layout }
    return layout
  }

  private init(properties: [Property]) { self.properties = properties }

  private init?<T>(reflecting value: T) {
    guard kind(of: T.self) == .structure, !(T.self is any CustomReflectable.Type) else { return nil }
    var found: [Property] = []
    var (end, alignment) = (0, 1)
    var hasMetatype = false
    for child in Mirror(reflecting: value).children {
      func add<Value>(_: Value) {
        // A property that can have one type only, such as `Int.Type`, takes no room, and a mirror shows a word.
        if kind(of: Value.self) == .metatype { hasMetatype = true }
        let own = MemoryLayout<Value>.alignment
        let offset = (end + own - 1) / own * own
        (end, alignment) = (offset + MemoryLayout<Value>.size, max(alignment, own))
        let access = isAddressable(Value.self) ? PropertyAccess(Value.self) : nil
        found.append(Property(name: child.label ?? "", offset: offset, access: access))
      }
      _openExistential(child.value, do: add)
    }
    guard !hasMetatype, end == MemoryLayout<T>.size, alignment == MemoryLayout<T>.alignment else { return nil }
    properties = found
  }

  /// Whether a property is the same in two values.
  func isSame<T>(_ k: Int, _ a: T, _ b: T) -> Bool {
    guard let access = properties[k].access else { return reflectedIsSame(k, a, b) }
    let offset = properties[k].offset
    return withUnsafePointer(to: a) { a in
      withUnsafePointer(to: b) { b in access.isSame(UnsafeRawPointer(a) + offset, UnsafeRawPointer(b) + offset) }
    }
  }

  /// Whether any property differs in two values.
  func differs<T>(_ a: T, _ b: T) -> Bool {
    withUnsafePointer(to: a) { left in
      withUnsafePointer(to: b) { right in
        properties.indices.contains { k in
          guard let access = properties[k].access else { return !reflectedIsSame(k, a, b) }
          let offset = properties[k].offset
          return !access.isSame(UnsafeRawPointer(left) + offset, UnsafeRawPointer(right) + offset)
        }
      }
    }
  }

  private func reflectedIsSame(_ k: Int, _ a: Any, _ b: Any) -> Bool {
    let (a, b) = (Array(Mirror(reflecting: a).children), Array(Mirror(reflecting: b).children))
    guard a.indices.contains(k), b.indices.contains(k) else { return false }
    return SameProperty.areSame(a[k].value, b[k].value)
  }

  /// Sets a property to that of another value. Returns `false` if it must not be set alone.
  func copy<T>(_ k: Int, from source: T, to target: inout T) -> Bool {
    guard let access = properties[k].access else { return false }
    let offset = properties[k].offset
    withUnsafePointer(to: source) { source in
      withUnsafeMutablePointer(to: &target) { target in
        access.copy(UnsafeRawPointer(source) + offset, UnsafeMutableRawPointer(target) + offset)
      }
    }
    return true
  }

  /// Reverts the change of a property element by element; `nil` if it is no collection that has elements to tell apart.
  ///
  /// - Parameter isKept: whether an element stays that the change added.
  func revertElements<T>(
    _ k: Int, from new: T, to old: T, in current: inout T, except isKept: ((Any) -> Bool)?
  ) -> ElementReversal? {
    guard let access = properties[k].access else { return nil }
    let offset = properties[k].offset
    return withUnsafePointer(to: old) { old in
      withUnsafePointer(to: new) { new in
        withUnsafeMutablePointer(to: &current) { current in
          access.revertElements(
            UnsafeRawPointer(old) + offset, UnsafeRawPointer(new) + offset, UnsafeMutableRawPointer(current) + offset,
            isKept)
        }
      }
    }
  }
}

/// Operations on a property of one type, by its address.
struct PropertyAccess: Sendable {
  let isSame: @Sendable (UnsafeRawPointer, UnsafeRawPointer) -> Bool
  let copy: @Sendable (UnsafeRawPointer, UnsafeMutableRawPointer) -> Void
  let revertElements:
    @Sendable (UnsafeRawPointer, UnsafeRawPointer, UnsafeMutableRawPointer, ((Any) -> Bool)?) -> ElementReversal?

  init<Value>(_: Value.Type) {
    isSame = SameProperty.inPlace(Value.self)
    copy = {
      $1.assumingMemoryBound(to: Value.self).pointee = $0.assumingMemoryBound(to: Value.self).pointee
    }
    revertElements = { old, new, current, isKept in
      ElementReversal.revert(
        from: new.assumingMemoryBound(to: Value.self).pointee, to: old.assumingMemoryBound(to: Value.self).pointee,
        in: &current.assumingMemoryBound(to: Value.self).pointee, except: isKept)
    }
  }
}

/// The kinds of types that are told apart.
private enum TypeKind {
  case structure, enumeration, optional, tuple, metatype, other
}

/// Returns the kind of a type, which is the first word of its metadata (ABI/TypeMetadata).
private func kind(of type: any Any.Type) -> TypeKind {
  switch unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee {
  case 0x200: .structure
  case 0x201: .enumeration
  case 0x202: .optional
  case 0x301: .tuple
  case 0x304: .metatype
  default: .other
  }
}

/// Whether a property of a type has the bits of a value of the type: it cannot be `weak` or `unowned`.
private func isAddressable(_ type: any Any.Type) -> Bool {
  switch kind(of: type) {
  case .structure, .enumeration, .tuple: true
  case .optional: (type as? any OptionalValue.Type).map { isAddressable($0.wrapped) } ?? false
  case .metatype, .other: false
  }
}

private protocol OptionalValue {
  static var wrapped: any Any.Type { get }
}

extension Optional: OptionalValue {
  static var wrapped: any Any.Type { Wrapped.self }
}

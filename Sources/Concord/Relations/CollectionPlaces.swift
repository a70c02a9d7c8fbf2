/// An array of entities: the fast way.
@usableFromInline enum ArrayPlace<T: Identifiable & Sendable>: Place {
  @inlinable static func walk(_ value: UnsafePointer<[T]>, _ walker: Walker) {
    let table = walker.table(T.self)
    value.pointee.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      walker.reserve(buffer.count, from: base, in: table)
      for i in 0..<buffer.count { walker.visit(base + i, in: table) }
    }
  }

  @inlinable static func patch(_ value: UnsafeMutablePointer<[T]>, _ cursor: inout PatchCursor) {
    cursor.pass(value.pointee.count, of: T.self) { value.pointee[$0] = $1 }
  }

  @inlinable static func takeOut(_ value: UnsafeMutablePointer<[T]>, _ cursor: inout RemovalCursor) -> Bool {
    value.pointee.removeAll { _ in cursor.pass() }
    return true
  }

  /// Two arrays that share their buffer have the same elements.
  @inlinable static func isIdentical(_ a: UnsafePointer<[T]>, _ b: UnsafePointer<[T]>) -> Bool {
    haveSameBits(a, b) || (a.pointee.isEmpty && b.pointee.isEmpty)
  }
}

/// Any mutable collection of places, element by element.
@usableFromInline enum CollectionPlace<C: MutableCollection, Element: Place>: Place where Element.Value == C.Element {
  @inlinable static func walk(_ value: UnsafePointer<C>, _ walker: Walker) {
    for element in value.pointee { withUnsafePointer(to: element) { Element.walk($0, walker) } }
  }

  @inlinable static func patch(_ value: UnsafeMutablePointer<C>, _ cursor: inout PatchCursor) {
    var index = value.pointee.startIndex
    while index != value.pointee.endIndex {
      withUnsafeMutablePointer(to: &value.pointee[index]) { Element.patch($0, &cursor) }
      value.pointee.formIndex(after: &index)
    }
  }

  @inlinable static func takeOut(_ value: UnsafeMutablePointer<C>, _ cursor: inout RemovalCursor) -> Bool {
    var kept: [C.Element] = []
    var allFit = true
    for var element in value.pointee {
      let start = cursor.position
      if Element.takeOut(&element, &cursor) {
        kept.append(element)
      } else {
        allFit = false
        // An element of a collection of fixed length cannot go, and stays required.
        if C.self is any RangeReplaceableCollection.Type { cursor.dropAll(since: start) }
      }
    }
    if allFit, kept.count == value.pointee.count {
      for (index, element) in zip(value.pointee.indices, kept) { value.pointee[index] = element }
      return true
    }
    return replaceAll(in: value, with: kept)
  }

  @inlinable static func replaceAll(in value: UnsafeMutablePointer<C>, with elements: [C.Element]) -> Bool {
    func open<R: RangeReplaceableCollection>(_ type: R.Type) -> Bool {
      guard let fresh = R(elements.lazy.compactMap { $0 as? R.Element }) as? C else { return false }
      value.pointee = fresh
      return true
    }
    guard let type = C.self as? any RangeReplaceableCollection.Type else { return false }
    return open(type)
  }
}

/// A set of entities. Its order changes with its elements, so they are found again by their ids, not by position.
@usableFromInline enum SetPlace<T: Identifiable & Hashable & Sendable>: Place {
  @inlinable static var order: PlaceOrder { .none }

  @inlinable static func walk(_ value: UnsafePointer<Set<T>>, _ walker: Walker) {
    let table = walker.table(T.self)
    for element in value.pointee { withUnsafePointer(to: element) { walker.visit($0, in: table) } }
  }

  @inlinable static func patch(_ value: UnsafeMutablePointer<Set<T>>, _ cursor: inout PatchCursor) {
    var newer: [T.ID: T] = [:]
    cursor.pass(value.pointee.count, of: T.self) { newer[$1.id] = $1 }
    guard !newer.isEmpty else { return }
    value.pointee = Set(value.pointee.map { newer[$0.id] ?? $0 })
    cursor.didReorder = true
  }

  @inlinable static func takeOut(_ value: UnsafeMutablePointer<Set<T>>, _ cursor: inout RemovalCursor) -> Bool {
    let gone = cursor.pass(value.pointee.count, of: T.self)
    if !gone.isEmpty { value.pointee = value.pointee.filter { !gone.contains($0.id) } }
    return true
  }
}

/// A dictionary whose values are entities. Writing values keeps its order.
@usableFromInline enum DictionaryPlace<Key: Hashable, T: Identifiable & Sendable>: Place {
  @inlinable static var order: PlaceOrder { .keys }

  @inlinable static func walk(_ value: UnsafePointer<[Key: T]>, _ walker: Walker) {
    let table = walker.table(T.self)
    for (key, element) in value.pointee {
      if walker.wantsKeys { walker.key = AnyHashable(key) }
      withUnsafePointer(to: element) { walker.visit($0, in: table) }
    }
    walker.key = nil
  }

  @inlinable static func patch(_ value: UnsafeMutablePointer<[Key: T]>, _ cursor: inout PatchCursor) {
    var index = value.pointee.values.startIndex
    for _ in 0..<value.pointee.count {
      cursor.pass(1, of: T.self) { value.pointee.values[index] = $1 }
      value.pointee.values.formIndex(after: &index)
    }
  }

  @inlinable static func takeOut(_ value: UnsafeMutablePointer<[Key: T]>, _ cursor: inout RemovalCursor) -> Bool {
    value.pointee = value.pointee.filter { _ in !cursor.pass() }
    return true
  }
}

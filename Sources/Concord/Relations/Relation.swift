/// One place in `Root` where entities stand: how to meet them there, renew them, and take them out.
///
/// All pointers are valid for the call only.
@usableFromInline final class Relation<Root> {
  /// Meets each entity in the place, in a fixed order; its position in that order is its ordinal.
  @usableFromInline let walk: (UnsafePointer<Root>, Walker) -> Void
  /// Goes through the place in the same order and writes newer values where the cursor has some.
  @usableFromInline let patch: (UnsafeMutablePointer<Root>, inout PatchCursor) -> Void
  /// Goes through the place in the same order and takes out what the cursor says. `false` if something is required.
  @usableFromInline let takeOut: (UnsafeMutablePointer<Root>, inout RemovalCursor) -> Bool
  /// Whether the two are known, at little cost, to be the same: `false` may only mean that one has to look.
  @usableFromInline let isIdentical: (UnsafePointer<Root>, UnsafePointer<Root>) -> Bool
  /// Copies the whole place from one value to another.
  @usableFromInline let copy: (UnsafePointer<Root>, UnsafeMutablePointer<Root>) -> Void

  @usableFromInline let order: PlaceOrder

  @inlinable init<P: Place>(_ place: P.Type, at keyPath: WritableKeyPath<Root, P.Value>) {
    order = P.order
    if let offset = MemoryLayout<Root>.offset(of: keyPath) {
      // A stored property, through any depth of structs: no key path is walked again.
      walk = { root, walker in P.walk(root.at(offset), walker) }
      patch = { root, cursor in P.patch(root.at(offset), &cursor) }
      takeOut = { root, cursor in P.takeOut(root.at(offset), &cursor) }
      isIdentical = { P.isIdentical($0.at(offset), $1.at(offset)) }
      copy = { $1.at(offset, as: P.Value.self).pointee = $0.at(offset, as: P.Value.self).pointee }
    } else {
      walk = { root, walker in
        withUnsafePointer(to: root.pointee[keyPath: keyPath]) { P.walk($0, walker) }
      }
      patch = { root, cursor in
        withUnsafeMutablePointer(to: &root.pointee[keyPath: keyPath]) { P.patch($0, &cursor) }
      }
      takeOut = { root, cursor in
        let before = cursor.position
        let taken = withUnsafeMutablePointer(to: &root.pointee[keyPath: keyPath]) { P.takeOut($0, &cursor) }
        guard taken, cursor.removed(since: before) else { return taken }
        // A setter may ignore what it is given; only what it shows afterwards counts.
        let counter = OccurrenceCounter(engine: cursor.engine)
        withUnsafePointer(to: root.pointee[keyPath: keyPath]) { P.walk($0, counter) }
        if counter.count == cursor.kept(since: before) { return true }
        cursor.require(since: before)
        return false
      }
      isIdentical = { a, b in
        withUnsafePointer(to: a.pointee[keyPath: keyPath]) { a in
          withUnsafePointer(to: b.pointee[keyPath: keyPath]) { b in P.isIdentical(a, b) }
        }
      }
      copy = { $1.pointee[keyPath: keyPath] = $0.pointee[keyPath: keyPath] }
    }
  }
}

extension UnsafePointer {
  @inlinable @inline(__always) func at<T>(_ offset: Int, as type: T.Type = T.self) -> UnsafePointer<T> {
    (UnsafeRawPointer(self) + offset).assumingMemoryBound(to: T.self)
  }
}

extension UnsafeMutablePointer {
  @inlinable @inline(__always) func at<T>(_ offset: Int, as type: T.Type = T.self) -> UnsafeMutablePointer<T> {
    (UnsafeMutableRawPointer(self) + offset).assumingMemoryBound(to: T.self)
  }
}

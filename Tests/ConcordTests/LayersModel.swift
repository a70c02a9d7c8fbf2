import Concord

/// What a store with layers is to do, naively: the base is a few dictionaries, a layer is a list of edits, and what is shown is a
/// copy of the base with all edits made again.
struct LayersModel {
  struct Shelf: Equatable {
    var name = ""
    var books: [Int] = []
    var best: Int?
  }

  struct Reader: Equatable {
    var name = ""
    var friends: [Int] = []
    var shelf: Int?
  }

  /// All that is stored.
  struct Rows: Equatable {
    var books: [Int: LayerBook] = [:]
    var shelves: [Int: Shelf] = [:]
    var readers: [Int: Reader] = [:]
    var featured: Int?
    var favourites: [Int]?
    /// Of each entity, by its kind and id.
    var stamps: [String: Double] = [:]

    /// The same but for stamps, which layers do not change.
    var shown: Rows {
      var rows = self
      rows.stamps = [:]
      return rows
    }
  }

  struct Layer {
    let number: Int
    let edits: [LayerEdit]
  }

  var base = Rows()
  var layers: [Layer] = []
  /// Whether a write without a stamp gets one.
  let hasClock: Bool
  /// The clock, later than most stamps that are given.
  var clock = 1e9

  init(hasClock: Bool) { self.hasClock = hasClock }

  /// The base with all layers. Those that do not apply are dropped.
  mutating func show() -> Rows {
    var rows = base
    layers.removeAll { !$0.apply(to: &rows) }
    return rows
  }

  mutating func write(_ edit: LayerEdit) {
    clock += 1
    var writer = LayerWriter(rows: base, force: .none, stamp: hasClock ? clock : nil)
    edit.apply(to: &writer)
    if writer.problem != .thrown { base = writer.rows }
  }

  /// Whether the layer applied.
  mutating func commit(_ number: Int) -> Bool {
    guard let index = layers.firstIndex(where: { $0.number == number }) else { return false }
    let layer = layers.remove(at: index)
    clock += 1
    var writer = LayerWriter(rows: base, force: .commits, stamp: hasClock ? clock : nil)
    for edit in layer.edits { edit.apply(to: &writer) }
    guard writer.problem == nil else { return false }
    base = writer.rows
    return true
  }

  mutating func rollBack(_ number: Int) { layers.removeAll { $0.number == number } }

  /// Adds a layer, unless it does not apply to what is shown; why it does not.
  mutating func add(_ layer: Layer) -> LayerWriter.Problem? {
    var rows = base
    for layer in layers { _ = layer.apply(to: &rows) }
    var writer = LayerWriter(rows: rows, force: .layer, stamp: nil)
    for edit in layer.edits { edit.apply(to: &writer) }
    if writer.problem == nil { layers.append(layer) }
    return writer.problem
  }
}

extension LayersModel.Layer {
  /// Makes the edits, or none of them.
  func apply(to rows: inout LayersModel.Rows) -> Bool {
    var writer = LayerWriter(rows: rows, force: .layer, stamp: nil)
    for edit in edits { edit.apply(to: &writer) }
    guard writer.problem == nil else { return false }
    rows = writer.rows
    return true
  }
}

/// Writes rows as a store would.
struct LayerWriter {
  enum Force { case none, commits, layer }
  enum Problem: Equatable { case missing, thrown }

  var rows: LayersModel.Rows
  let force: Force
  /// The stamp of a write without one.
  let stamp: Double?
  var problem: Problem?

  /// Whether a write is taken. Raises the stamp.
  mutating func take(_ key: String, exists: Bool, _ given: Double?) -> Bool {
    let stamp = force == .layer ? nil : given ?? self.stamp
    guard exists else {
      rows.stamps[key] = stamp
      return true
    }
    guard let stamp else { return true }
    if let stored = rows.stamps[key], stamp <= stored {
      if given == nil { rows.stamps[key] = stored.nextUp }
      return given == nil || force != .none
    }
    rows.stamps[key] = stamp
    return true
  }

  mutating func store(_ book: LayerBook, _ given: Double?) {
    if take("book\(book.id)", exists: rows.books[book.id] != nil, given) { rows.books[book.id] = book }
  }

  mutating func updateBook(_ id: Int, _ change: (inout LayerBook) -> Void) {
    guard var book = rows.books[id] else { return miss() }
    change(&book)
    store(book, nil)
  }

  mutating func updateShelf(_ id: Int, _ change: (inout LayersModel.Shelf) -> Void) {
    guard var shelf = rows.shelves[id] else { return miss() }
    _ = take("shelf\(id)", exists: true, nil)
    change(&shelf)
    rows.shelves[id] = shelf
  }

  mutating func updateReader(_ id: Int, _ change: (inout LayersModel.Reader) -> Void) {
    guard var reader = rows.readers[id] else { return miss() }
    _ = take("reader\(id)", exists: true, nil)
    change(&reader)
    rows.readers[id] = reader
  }

  mutating func miss() { if problem == nil { problem = .missing } }

  mutating func removeBook(_ id: Int) {
    rows.books[id] = nil
    rows.stamps["book\(id)"] = nil
    for key in rows.shelves.keys {
      rows.shelves[key]?.books.removeAll { $0 == id }
      if rows.shelves[key]?.best == id { rows.shelves[key]?.best = nil }
    }
    if rows.featured == id { rows.featured = nil }
    rows.favourites?.removeAll { $0 == id }
  }

  mutating func removeShelf(_ id: Int) {
    rows.shelves[id] = nil
    rows.stamps["shelf\(id)"] = nil
    for key in rows.readers.keys where rows.readers[key]?.shelf == id { rows.readers[key]?.shelf = nil }
  }

  mutating func removeReader(_ id: Int) {
    rows.readers[id] = nil
    rows.stamps["reader\(id)"] = nil
    for key in rows.readers.keys { rows.readers[key]?.friends.removeAll { $0 == id } }
  }
}

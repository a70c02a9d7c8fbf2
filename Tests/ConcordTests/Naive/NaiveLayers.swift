/// A store with layers, naively: the base, and the layers' edits, which are made again whenever somebody looks.
struct NaiveLayers {
  struct Layer {
    let number: Int
    let edits: [NaiveEdit]
    /// The entities that it made, changed, removed, or put into others when it was last shown.
    var kept: Set<NaiveKey> = []
  }

  var base = NaiveRows()
  var layers: [Layer] = []
  let hasClock: Bool
  var tick: Double

  init(hasClock: Bool, date: Double) { (self.hasClock, tick) = (hasClock, date) }

  private func writer(_ rows: NaiveRows, _ origin: NaiveWriter.Origin) -> NaiveWriter {
    NaiveWriter(rows: rows, origin: origin, hasClock: hasClock, tick: tick)
  }

  /// Makes edits in the base, or none of them if one throws.
  mutating func write(_ edits: [NaiveEdit]) {
    var writer = writer(base, .base)
    for edit in edits { edit.apply(to: &writer) }
    tick = writer.tick
    if writer.problem != .thrown { base = writer.rows }
  }

  /// What a layer makes of what is below it; `nil` if it does not apply.
  private func show(_ layer: Layer, above rows: NaiveRows) -> NaiveWriter {
    var writer = writer(rows, .layer)
    for edit in layer.edits { edit.apply(to: &writer) }
    return writer
  }

  /// The base with all layers that apply, and these.
  private func replayed() -> (rows: NaiveRows, layers: [Layer]) {
    var (rows, applied) = (base, [Layer]())
    for var layer in layers {
      let writer = show(layer, above: rows)
      guard writer.problem == nil else { continue }
      layer.kept = writer.touched.filter { rows.rows[$0] != nil || writer.rows.rows[$0] != nil }
      layer.kept.formUnion(writer.rows.contained.subtracting(rows.contained).map(\.inside))
      rows = writer.rows
      applied.append(layer)
    }
    return (rows, applied)
  }

  /// Adds a layer if it applies. Returns why it does not.
  mutating func add(_ layer: Layer) -> NaiveWriter.Problem? {
    let problem = show(layer, above: replayed().rows).problem
    if problem == nil { layers.append(layer) }
    return problem
  }

  /// Makes a layer a part of the base. Returns whether it applied.
  mutating func commit(_ number: Int) -> Bool {
    guard let index = layers.firstIndex(where: { $0.number == number }) else { return false }
    let layer = layers.remove(at: index)
    var writer = writer(base, .commit)
    for edit in layer.edits { edit.apply(to: &writer) }
    tick = writer.tick
    guard writer.problem == nil else { return false }
    base = writer.rows
    return true
  }

  mutating func rollBack(_ number: Int) { layers.removeAll { $0.number == number } }

  /// Ends a transaction: drops layers that do not apply, releases what nothing retains, and returns what is shown.
  mutating func end(holders: Set<NaiveKey>) -> NaiveRows {
    while true {
      base.release(holders: holders.union(layers.flatMap(\.kept)))
      let (shown, applied) = replayed()
      layers = applied
      var settled = base
      settled.release(holders: holders.union(layers.flatMap(\.kept)))
      if settled == base {
        var rows = shown
        rows.release(holders: holders.union(layers.flatMap(\.kept)))
        return rows
      }
    }
  }
}

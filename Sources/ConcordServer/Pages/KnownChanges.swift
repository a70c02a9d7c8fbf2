#if Server
  import ConcordSync

  /// The changes since a device's position, as far as they are known.
  enum KnownChanges {
    /// All changes, with the rows as they were.
    case each([RowChange])
    /// Too many changes to be looked through, or too old ones: each row is asked about.
    case byRow(since: StorePosition)
    /// Changes of any rows.
    case unknown

    /// - Parameters:
    ///   - position: the device's position; `nil` if it has none.
    ///   - limit: the number of changes that are looked through one by one.
    init(
      since position: StorePosition?, of entities: Set<EntityDescription>, limit: Int, _ reading: any RowReading
    ) throws {
      guard let position else {
        self = .unknown
        return
      }
      if let changes = try reading.changes(since: position, of: entities, limit: limit) {
        self = .each(changes.rows)
      } else {
        self = try reading.changed([], since: position) == nil ? .unknown : .byRow(since: position)
      }
    }

    var isUnknown: Bool { if case .unknown = self { true } else { false } }
  }
#endif

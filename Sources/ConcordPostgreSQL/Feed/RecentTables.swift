#if PostgreSQL
  /// The tables of which a view has read rows that were told lately, so that it will probably read the next ones.
  struct RecentTables {
    private static let most = 4
    /// The number of told states without a reading after which a table is forgotten.
    private static let longestAge = 16

    /// The last ones first, and how many told states ago each was read.
    private var entries: [(table: PostgreSQLTable, age: Int)] = []

    var tables: [PostgreSQLTable] { entries.map(\.table) }

    /// Notes that rows of some tables are read.
    mutating func note(_ read: [PostgreSQLTable]) {
      entries.removeAll { old in read.contains { $0 === old.table } }
      entries = Array((read.filter(ToldRows.canBeRead).map { ($0, 0) } + entries).prefix(Self.most))
    }

    /// Notes that a state was told.
    mutating func noteTold() {
      for index in entries.indices { entries[index].age += 1 }
      entries.removeAll { $0.age > Self.longestAge }
    }

    mutating func forget() { entries = [] }
  }
#endif

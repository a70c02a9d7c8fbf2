#if Inspector
  // What the page is sent, as JSON.

  struct Overview: Encodable {
    struct TypeCount: Encodable {
      let name: String
      let key: String
      let count: Int
    }

    let types: [TypeCount]
    let layers: [[EntityReference]]
    /// The number of writes and releases so far, by which the page notices changes.
    let writes: UInt64
    /// The number of the last transaction.
    let last: Int
    /// The earliest state that can be shown.
    let earliest: Int
    let isPaused: Bool
    let recordsEverything: Bool
    let parts: [String]
    /// The state that is shown: after this transaction; `nil` for the present.
    let at: Int?
  }

  struct EntityList: Encodable {
    struct Item: Encodable {
      let id: String
      let hash: String
      let text: String
      let observers: Int
      let holders: Int
      let parents: Int
    }

    let total: Int
    let offset: Int
    let items: [Item]
  }

  struct EntityAnswer: Encodable {
    struct Observer: Encodable {
      let places: [CodePlace]
      let line: String
      let isEvery: Bool
      let isPaused: Bool
    }

    struct Link: Encodable {
      let entity: EntityReference
      let place: String
      /// The links behind this one, seen from the entity: the first ones, of those for which the page draws them.
      var next: [Link]?
      /// The number of all that are behind it.
      var nextCount: Int?
    }

    /// Observers that were made at one place.
    struct Held: Encodable {
      let places: [CodePlace]
      let count: Int
    }

    /// The reasons why the entity is kept, which are known of the present only.
    struct Keepers: Encodable {
      let stamp: String
      let observers: [Observer]
      let observerCount: Int
      /// The number of observers without a subscription.
      let holders: Int
      /// The observers without a subscription whose places are known, or are being looked up.
      let held: [Held]
      let relays: Int
      let aliases: [String]
      /// The first places where the entity stands in other entities.
      let parents: [Link]
      let parentCount: Int
      /// The first entities inside it.
      let children: [Link]
      let childCount: Int
      let layers: [Int]
      let path: [EntityReference]
    }

    let entity: EntityReference
    /// The value; `nil` if the entity is not stored.
    let value: ValueTree?
    let keepers: Keepers?
    /// The transactions that changed the entity, as far as they are kept, the newest first.
    let history: [TransactionLine]
    /// Whether places in the code are being looked up, so that it is worth asking again.
    let isResolving: Bool
  }

  struct NeighbourList: Encodable {
    let total: Int
    let offset: Int
    let items: [EntityAnswer.Link]
  }

  struct TransactionLine: Encodable {
    let number: Int
    let date: Double
    let context: String?
    let summary: String
    let changes: Int
    let told: Int
    /// In microseconds.
    let duration: Double?
    let place: CodePlace?
    let isAfterGap: Bool
  }

  struct TransactionList: Encodable {
    let items: [TransactionLine]
    let first: Int
    let last: Int
    /// Whether places in the code are being looked up, so that it is worth asking again.
    let isResolving: Bool
  }

  struct TransactionAnswer: Encodable {
    struct Field: Encodable {
      let name: String
      let old: String?
      let new: String?
    }

    struct Change: Encodable {
      let entity: EntityReference
      let kind: String
      let fields: [Field]
    }

    struct Receiver: Encodable {
      let entity: EntityReference?
      let place: CodePlace?
      let line: String
    }

    let line: TransactionLine
    let places: [CodePlace]
    let changes: [Change]
    let receivers: [Receiver]
    /// Whether places in the code are being looked up, so that it is worth asking again.
    let isResolving: Bool
  }

  struct QueryList: Encodable {
    struct Query: Encodable {
      let type: String
      let plan: [String]
      let size: Int
      let looks: Int
      let waiting: Int
      let observers: [EntityAnswer.Observer]
    }

    let queries: [Query]
    /// Whether places in the code are being looked up, so that it is worth asking again.
    let isResolving: Bool
  }

  struct PartAnswer: Encodable {
    struct Section: Encodable {
      let title: String
      let empty: String
      let rows: [Row]
      let total: Int
    }

    struct Row: Encodable {
      let id: String
      let title: String
      let details: [InspectedRow.Detail]
      let isProblem: Bool
      let actions: [String]
      let observers: [EntityAnswer.Observer]
    }

    let name: String
    let sections: [Section]
    /// Whether places in the code are being looked up, so that it is worth asking again.
    let isResolving: Bool
  }
#endif

/// A part of an app that an inspector shows beside a store, such as an outbox.
public protocol Inspectable: Sendable {
  /// The part as the inspector shows it. Only types of this package have one.
  var _inspected: InspectedPart { get }
}

/// A part of an app as an inspector shows it.
public struct InspectedPart: Sendable {
  package let name: String
  /// A closure that tells what there is now.
  package let sections: @Sendable () async -> [InspectedSection]
  /// A closure that performs an action on a row. It returns whether it did.
  package let perform: @Sendable (_ action: String, _ row: String) async -> Bool

  package init(
    name: String, sections: @escaping @Sendable () async -> [InspectedSection],
    perform: @escaping @Sendable (_ action: String, _ row: String) async -> Bool = { _, _ in false }
  ) {
    (self.name, self.sections, self.perform) = (name, sections, perform)
  }
}

extension String {
  /// Returns the beginning of a text, as an inspector shows it. A single letter with its accents may be of any length.
  package func cutForInspector(_ most: Int = 2_000) -> String {
    utf8.count > most ? String(unicodeScalars.prefix(most)) + "…" : self
  }
}

/// A list within a part.
package struct InspectedSection: Sendable {
  package let title: String
  /// The sentence in place of the rows where there are none.
  package let empty: String
  /// The first rows.
  package let rows: [InspectedRow]
  /// The number of all.
  package let total: Int

  /// The number of rows that are shown.
  private static var mostRows: Int { 200 }

  package init<Element>(title: String, empty: String, _ elements: [Element], row: (Element) -> InspectedRow) {
    (self.title, self.empty, total) = (title, empty, elements.count)
    rows = elements.prefix(Self.mostRows).map(row)
  }

  package init(title: String, empty: String, rows: [InspectedRow]) {
    self.init(title: title, empty: empty, rows) { $0 }
  }
}

/// A row of a list: a title, some details, and what can be done with it.
package struct InspectedRow: Sendable {
  package let id: String
  package let title: String
  package let details: [Detail]
  /// Whether the row needs somebody's attention.
  package let isProblem: Bool
  package let actions: [String]
  /// The observers of the subject of the row.
  package let observers: [InspectedObserver]

  package struct Detail: Sendable, Encodable {
    package let name: String
    package let text: String
  }

  package init(
    id: String, title: String, details: KeyValuePairs<String, String?>, isProblem: Bool = false, actions: [String] = [],
    observers: [InspectedObserver] = []
  ) {
    self.observers = observers
    (self.id, self.title, self.isProblem, self.actions) = (id, title, isProblem, actions)
    self.details = details.compactMap { name, text in text.map { Detail(name: name, text: $0.cutForInspector()) } }
  }
}

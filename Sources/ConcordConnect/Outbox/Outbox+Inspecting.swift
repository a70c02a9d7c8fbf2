public import Concord
import Foundation

extension Outbox: Inspectable {
  public var _inspected: InspectedPart {
    InspectedPart(name: "Outbox") { [weak self] in
      self?.inspectedSections ?? []
    } perform: { [weak self] action, row in
      self?.performInspected(action, row) ?? false
    }
  }

  private var inspectedSections: [InspectedSection] {
    [
      InspectedSection(
        title: "Pending", empty: isSender ? "Everything is sent." : "Nothing is pending.", pending
      ) { row($0, actions: $0.action == nil ? [Self.dropTitle] : []) },
      InspectedSection(title: "Dead letters", empty: "Nothing was refused.", deadLetters) { letter in
        row(letter.entry, reason: letter.reason, actions: [Self.retryTitle, Self.dropTitle])
      },
    ]
  }

  private static var retryTitle: String { "Retry" }
  private static var dropTitle: String { "Drop" }

  private func row(_ entry: OutboxEntry, reason: String? = nil, actions: [String]) -> InspectedRow {
    InspectedRow(
      id: entry.key.rawValue, title: entry.name,
      details: [
        "Reason": reason, "Entity": entry.entity,
        "Action": entry.action.map { "\($0)" } ?? "of a type that is not registered",
        "Forwarded": entry.forwarded.formatted(.iso8601), "State": entry.isSending ? "being sent" : nil,
        "Failed attempts": entry.attempts > 0 ? "\(entry.attempts)" : nil, "Last error": entry.lastError,
        "Key": entry.key.rawValue,
      ],
      isProblem: reason != nil || entry.action == nil, actions: actions)
  }

  private func performInspected(_ action: String, _ row: String) -> Bool {
    if let letter = deadLetters.first(where: { $0.key.rawValue == row }) {
      return action == Self.retryTitle ? retry(letter) : action == Self.dropTitle && drop(letter)
    }
    guard action == Self.dropTitle, let entry = unknown.first(where: { $0.key.rawValue == row }) else { return false }
    return drop(unknown: entry)
  }
}

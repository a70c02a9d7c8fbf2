public import Concord
import ConcordConnect

extension Sync: Inspectable {
  public var _inspected: InspectedPart {
    InspectedPart(name: "Sync") { [weak self] in
      await self?.inspectedSections() ?? []
    }
  }

  private func inspectedSections() async -> [InspectedSection] {
    let (status, pages) = state.withLock { ($0.status, $0.pages) }
    let row = InspectedRow(
      id: "status", title: status.inspectedTitle,
      details: ["Pages received": "\(pages)", "Reason": status.inspectedReason],
      isProblem: status.inspectedReason != nil)
    return [
      InspectedSection(title: "Status", empty: "", rows: [row]),
      InspectedSection(title: "Subscriptions", empty: "There are none.", await inspectedSubscriptions()) { $0 },
    ]
  }

  private func inspectedSubscriptions() async -> [InspectedRow] {
    do {
      return try await outbox.writeNotes { try DeviceState.subscriptions($0.rows) }.map { id, state in
        let parameters = id.parameters.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.wire.json)" }
        return InspectedRow(
          id: id.text, title: id.name,
          details: [
            "Parameters": parameters.isEmpty ? nil : parameters.joined(separator: ", "),
            "State": state.isKnown ? "in the file" : state.isRefused ? "refused by the server" : "on its way",
          ], isProblem: state.isRefused)
      }
    } catch {
      return [
        InspectedRow(id: "error", title: "The file cannot be read", details: ["Error": "\(error)"], isProblem: true)
      ]
    }
  }
}

extension SyncStatus {
  fileprivate var inspectedTitle: String {
    switch self {
    case .offline: "Offline"
    case .catchingUp(_, total: 0): "Catching up"
    case .catchingUp(let done, let total): "Catching up: \(done) of \(total.of("row"))"
    case .upToDate: "Up to date"
    }
  }

  fileprivate var inspectedReason: String? {
    guard case .offline(let reason) = self else { return nil }
    return switch reason {
    case .notStarted: "it is not started, or suspended"
    case .unreachable(let text): "the server cannot be reached: \(text)"
    case .unauthorized: "the server does not accept the token, or there is none"
    case .limited(let text): "the server has set a limit: \(text)"
    case .tooLarge(let limit): "the server's answer is longer than \(limit.of("byte"))"
    case .upgradeRequired(let text): "this program or the server has to be updated: \(text)"
    case .storeFailed(let text): "the store failed: \(text)"
    }
  }
}

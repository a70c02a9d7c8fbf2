/// The figures, in words.
@MainActor
enum Report {
  /// The line below the screens.
  static func figures(_ projector: Projector) -> [Line] {
    let state = projector.progress.state
    let rate = Int(projector.rate.perSecond.rounded())
    var text = " \(rate) events/s, \(state.shown) so far"
    if state.stale > 0 { text += ", \(state.stale) stale" }
    if state.malformed > 0 { text += ", \(state.malformed) malformed" }
    text += " │ \(projector.entitiesAlive) entities, \(projector.observers) observers │ \(projector.delays.summary)"
    return [Line(text, .strong)]
  }

  /// What each screen shows, as plain text.
  static func screens(_ dashboard: Dashboard) -> [String] {
    dashboard.screens.flatMap { screen in
      ["── \(screen.name)"] + screen.lines(width: 96, height: 14, now: .now).map { $0.text.trimmedAtEnd } + [""]
    }
  }

  static func summary(_ projector: Projector, elapsed: Duration) -> [String] {
    let state = projector.progress.state
    let seconds = elapsed / .seconds(1)
    let rate = Int((Double(state.arrived) / max(seconds, 0.000_001)).rounded())
    let hundredths = Int((seconds * 100).rounded())
    return [
      "\(state.lines) events in \(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
        + " (\(rate)/s): \(state.taken) taken, \(state.stale) stale, \(state.malformed) malformed",
      "\(projector.entitiesAlive) entities alive, \(projector.observers) observers, \(projector.delays.summary)",
    ]
  }
}

extension String {
  fileprivate var trimmedAtEnd: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}

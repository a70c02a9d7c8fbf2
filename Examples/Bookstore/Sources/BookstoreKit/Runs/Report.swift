/// The figures, in words.
@MainActor
enum Report {
  /// The line below the screens, or two of them where one has no room.
  static func figures(_ projector: Projector, width: Int) -> [Line] {
    let state = projector.progress.state
    let rate = Int(projector.rate.perSecond.rounded())
    var events = " \(rate) events/s, \(state.shown) so far"
    if state.stale > 0 { events += ", \(state.stale) stale" }
    if state.malformed > 0 { events += ", \(state.malformed) malformed" }
    let store = " \(projector.entitiesAlive) entities, \(projector.observers) observers │ \(projector.delays.summary)"
    let line = Line(events + " │" + store, .strong)
    return line.width <= width ? [line] : [Line(events, .strong), Line(store, .strong)]
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

extension Dashboard {
  /// The whole picture, `height` lines of `width` columns: the screens side by side, or, when there is no room for
  /// that, the one with the focus.
  func picture(width: Int, height: Int, now: ContinuousClock.Instant) -> [Line] {
    guard !isZoomed, width >= 76, height >= 16 else { return pane(focus, width: width, height: height, now: now) }
    let left = (width - 1) / 2
    let right = width - 1 - left
    let below = legacy == nil ? 0 : height / 4
    let top = (height - below) / 2
    let rows =
      row(0, 1, left, right, height: top, now: now)
      + row(2, 3, left, right, height: height - below - top, now: now)
    return below == 0 ? rows : rows + pane(4, width: width, height: below, now: now)
  }

  private func row(
    _ first: Int, _ second: Int, _ left: Int, _ right: Int, height: Int, now: ContinuousClock.Instant
  ) -> [Line] {
    let lines = pane(first, width: left, height: height, now: now)
    return zip(lines, pane(second, width: right, height: height, now: now)).map { $0 + Line("│", .dim) + $1 }
  }

  private func pane(_ index: Int, width: Int, height: Int, now: ContinuousClock.Instant) -> [Line] {
    let screen = screens[index]
    let hasFocus = index == focus
    let title =
      Line("─ ", .dim) + Line(screen.name, hasFocus ? .selected : .strong)
      + Line(screen.isPaused ? " (paused)" : "", .warning) + Line(" ", .plain)
    let rule = Line(String(repeating: "─", count: max(0, width - title.width)), .dim)
    let inside = max(0, height - 1)
    var lines = Array(screen.lines(width: width, height: inside, now: now).prefix(inside))
    lines += Array(repeating: Line(), count: inside - lines.count)
    return ([title + rule] + lines).prefix(height).map { $0.fitted(to: width) }
  }
}

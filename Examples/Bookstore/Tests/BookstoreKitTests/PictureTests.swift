import Testing

@testable import BookstoreKit

@MainActor
@Suite("Picture")
struct PictureTests {
  @Test("The picture has exactly the size of the terminal, whatever that is")
  func size() async throws {
    let open = try OpenShop()
    try await open.receive(.title(book: "pride-and-prejudice", title: "自負と偏見 自負と偏見 自負と偏見 自負と偏見"), at: 1)
    for isZoomed in [false, true] {
      open.dashboard.isZoomed = isZoomed
      for (width, height) in [(0, 0), (1, 1), (5, 3), (40, 10), (75, 40), (76, 16), (81, 25), (130, 38), (300, 100)] {
        let picture = open.dashboard.picture(width: width, height: height, now: .now)
        #expect(picture.count == height)
        #expect(picture.allSatisfy { $0.width == width }, "\(width) × \(height)")
      }
    }
  }

  @Test("What changed is highlighted on every screen, and only for a moment")
  func highlights() async throws {
    let open = try OpenShop()
    let before = ContinuousClock.now
    try await open.receive(.price(book: "pride-and-prejudice", cents: 98765), at: 1)
    func fresh(_ now: ContinuousClock.Instant) -> Int {
      open.dashboard.screens.filter { screen in
        screen.lines(width: 80, height: 30, now: now)
          .contains { line in line.pieces.contains { $0.style == .fresh && $0.text.contains("987.65") } }
      }.count
    }
    #expect(fresh(before) == 4)
    #expect(fresh(.now + .seconds(2)) == 0)
  }

  @Test("Control characters in a text do not reach the terminal")
  func controls() {
    let line = Line("a\u{1B}[2Jb\u{9B}c\u{7}\u{202E}d\r\ne")
    #expect(line.text == "a [2Jb c  d  e" || line.text == "a [2Jb c  d e")
    #expect(line.text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
  }

  @Test("Wide characters take two columns")
  func columns() {
    #expect("こゝろ".columns == 6)
    #expect("Švejk".columns == 5)
    #expect("こゝろ".clipped(to: 4) == "こ…")
    #expect("こゝろ".padded(to: 8).columns == 8)
    #expect(Line("こゝろ").fitted(to: 4).width == 4)
  }
}

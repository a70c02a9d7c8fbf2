import Concord
import Foundation
import Testing

@testable import BookstoreKit

/// The example's own catalogue, with what the screens begin with.
struct Fixture {
  let catalogue: Catalogue
  let display: Display

  init() throws {
    catalogue = try Catalogue.open(nil)
    display = try #require(Display(catalogue))
  }

  func generator(seed: UInt64) -> EventGenerator {
    EventGenerator(catalogue: catalogue, display: display, seed: seed)
  }

  var ledger: Ledger { Ledger(catalogue: catalogue, display: display) }
}

/// A shop that is open, with its screens.
@MainActor
final class OpenShop {
  let fixture: Fixture
  let shop: Shop
  let progress = FeedProgress()
  let projector: Projector
  var ledger: Ledger
  var dashboard: Dashboard { projector.dashboard }

  init(hasLegacy: Bool = false, at place: Place = .memory) throws {
    fixture = try Fixture()
    shop = try Shop(at: place, newCatalogue: fixture.catalogue)
    ledger = try shop.ledger()
    projector = Projector(
      shop: shop, display: shop.display, hasLegacy: hasLegacy, progress: progress, canvas: HiddenCanvas(),
      status: Report.figures)
  }

  /// Takes an event in, and waits until the screens have been told.
  @discardableResult
  func receive(_ change: Event.Change, at stamp: Stamp) async throws -> Bool {
    let event = Event(change, at: stamp)
    ledger.receive(event, stamp: stamp)
    let wasTaken = try shop.receive(event, stamp: stamp, arrival: .now)
    progress.change { if wasTaken { $0.taken += 1 } else { $0.stale += 1 } }
    let latest = ContinuousClock.now + .seconds(60)
    while progress.state.shown < progress.state.arrived {
      try #require(ContinuousClock.now < latest, "the screens were not told")
      try await Task.sleep(for: .milliseconds(1))
    }
    return wasTaken
  }

  /// Waits until what is queued for the main actor has been done.
  func settle() async throws { try await Task.sleep(for: .milliseconds(20)) }

  var disagreements: [String] { Agreement(dashboard.shown, with: ledger).disagreements }
}

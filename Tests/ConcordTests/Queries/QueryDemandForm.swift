import Concord
import Foundation

/// A predicate that changes find by what it demands of a property, or one that looks so, and the same as a closure.
struct QueryDemandForm: Sendable {
  let name: String
  private let predicate: Predicate<Errand>
  private let isIncluded: @Sendable (Errand) -> Bool

  private init(_ name: String, _ predicate: Predicate<Errand>, _ isIncluded: @escaping @Sendable (Errand) -> Bool) {
    (self.name, self.predicate, self.isIncluded) = (name, predicate, isIncluded)
  }

  func probe(_ store: EntityStore) -> QueryProbe {
    QueryProbe.list(name, store.query(Errand.self, where: predicate)) { errands in
      errands.filter(isIncluded).sorted { $0.id < $1.id }
    }
  }

  static let all: [QueryDemandForm] = {
    let (least, most, name, noNumber) = (-1, 2, "e\u{301}", Double.nan)
    let (half, closed, from) = (least..<most, least...most, most...)
    let helper = Helper(id: 3, name: "a", topic: 2)
    return [
      QueryDemandForm("open", #Predicate { !$0.isDone }) { !$0.isDone },
      QueryDemandForm("done", #Predicate { $0.isDone && $0.topic >= 0 }) { $0.isDone },
      QueryDemandForm("not done", #Predicate { $0.isDone == false && $0.project?.isOpen != false }) {
        !$0.isDone && $0.project?.isOpen != false
      },
      QueryDemandForm("not true", #Predicate { $0.isDone != true }) { !$0.isDone },
      QueryDemandForm("neither", #Predicate { !($0.isDone || $0.topic == 1) }) { !$0.isDone && $0.topic != 1 },
      QueryDemandForm("not both", #Predicate { !($0.isDone && $0.topic == 1) }) { !($0.isDone && $0.topic == 1) },
      QueryDemandForm("floor", #Predicate { $0.place.floor == -1 }) { $0.place.floor == -1 },
      QueryDemandForm("name inside", #Predicate { $0.owner.name == name }) { $0.owner.name == "é" },
      QueryDemandForm("as another's", #Predicate { $0.owner.topic == helper.topic && $0.owner.id != helper.id }) {
        $0.owner.topic == 2 && $0.owner.id != 3
      },
      QueryDemandForm("optional inside", #Predicate { $0.project?.rank == 1 }) { $0.project?.rank == 1 },
      QueryDemandForm("open project", #Predicate { $0.project?.isOpen == true }) { $0.project?.isOpen == true },
      QueryDemandForm("no project", #Predicate { $0.project?.rank == nil }) { $0.project == nil },
      QueryDemandForm("no date", #Predicate { $0.due == nil }) { $0.due == nil },
      QueryDemandForm("never", #Predicate { $0.due == noNumber || $0.weight == noNumber }) { _ in false },
      QueryDemandForm("below", #Predicate { $0.weight < 0.2 }) { $0.weight < 0.2 },
      QueryDemandForm("not below", #Predicate { !($0.weight < 0.2) }) { !($0.weight < 0.2) },
      QueryDemandForm("at least zero", #Predicate { 0 <= $0.weight && $0.weight <= 0.3 }) {
        $0.weight >= 0 && $0.weight <= 0.3
      },
      QueryDemandForm("beside NaN", #Predicate { $0.weight >= noNumber }) { _ in false },
      QueryDemandForm(
        "between", #Predicate { $0.place.floor > least && $0.place.floor <= most + 1 && $0.place.floor != 0 }
      ) {
        $0.place.floor > -1 && $0.place.floor <= 3 && $0.place.floor != 0
      },
      QueryDemandForm("nowhere", #Predicate { $0.place.floor > most && $0.place.floor < least }) { _ in false },
      QueryDemandForm("in a range", #Predicate { half.contains($0.place.floor) }) { (-1..<2).contains($0.place.floor) },
      QueryDemandForm("in a closed range", #Predicate { closed.contains($0.place.floor) && !$0.isDone }) {
        (-1...2).contains($0.place.floor) && !$0.isDone
      },
      QueryDemandForm("from", #Predicate { from.contains($0.place.floor) }) { $0.place.floor >= 2 },
      QueryDemandForm("range of two", #Predicate { (least..<most).contains($0.place.floor) }) {
        (-1..<2).contains($0.place.floor)
      },
      QueryDemandForm("texts", #Predicate { $0.title >= "a" && $0.title < "b" }) { $0.title >= "a" && $0.title < "b" },
      QueryDemandForm("texts inside", #Predicate { $0.owner.name > name }) { $0.owner.name > "e\u{301}" },
      QueryDemandForm("after a composed text", #Predicate { $0.title > "\u{E9}" }) { $0.title > "\u{E9}" },
      QueryDemandForm("after a decomposed text", #Predicate { $0.title > name }) { $0.title > "e\u{301}" },
      QueryDemandForm("large", #Predicate { $0.minutes > 30 }) { $0.minutes > 30 },
    ]
  }()
}

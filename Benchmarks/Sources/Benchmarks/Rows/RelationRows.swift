import Concord

extension Row {
  /// An aggregate whose relations are asked of every value, beside one that gives them once for its type.
  static var relations: [Row] {
    var rows = [
      storeWithRelations("store a small aggregate again, relations asked of each value", was: "1.35 µs", Article.self),
      storeWithRelations("store a small aggregate again, with fixedRelations", was: "1.26 µs", FixedArticle.self),
    ]
    #if Macros
      rows.append(storeWithRelations("store a small aggregate again, with @Entity", EntityArticle.self))
    #endif
    rows += [
      updateWithRelations(
        "update a field of a small aggregate, relations asked of each value", was: "1.31 µs", Article.self),
      updateWithRelations(
        "update a field of a small aggregate, with fixedRelations", was: "0.96 µs", FixedArticle.self),
    ]
    #if Macros
      rows.append(updateWithRelations("update a field of a small aggregate, with @Entity", EntityArticle.self))
    #endif
    return rows + [
      storeWrapped("store ten wrapped entities again, relations asked of each value", was: "25.5 µs", Exhibit.self),
      storeWrapped("store ten wrapped entities again, with fixedRelations", was: "11.8 µs", FixedExhibit.self),
    ]
  }

  private static func storeWrapped<Item: ShowcaseItem>(_ name: String, was: String? = nil, _ type: Item.Type) -> Row {
    Row(name, goal: .microseconds(45.5), was: was, floor: "assigns the aggregate to its place in a Dictionary") {
      stopwatch in
      let showcases = (0..<200).map(Showcase<Item>.init)
      let store = EntityStore(delivery: .immediate)
      let kept = showcases.map { store.store($0) }
      var plain = Dictionary(uniqueKeysWithValues: showcases.map { ($0.id, $0) })
      var turn = (concord: 0, floor: 0)
      func renamed(_ turn: Int) -> [Showcase<Item>] {
        showcases.map { showcase in
          var copy = showcase
          copy.title = Titles[turn]
          copy.items[0] = showcase.items[0]  // no longer the array that the store has
          return copy
        }
      }
      return Sides {
        turn.concord += 1
        let values = renamed(turn.concord)
        let time = stopwatch.nanoseconds(per: values.count) { for showcase in values { store.store(showcase) } }
        try expect(kept[47].value, is: values[47], "the stored aggregate")
        return time
      } floor: {
        turn.floor += 1
        let values = renamed(turn.floor)
        let time = stopwatch.nanoseconds(per: values.count, on: &plain) { plain in
          for showcase in values { plain[showcase.id] = showcase }
        }
        try expect(plain[47] == values[47], "the aggregate is not stored")
        return time
      }
    }
  }

  private static func storeWithRelations<A: SmallAggregate>(_ name: String, was: String? = nil, _ type: A.Type) -> Row {
    Row(
      name, goal: .microseconds(2.3), was: was,
      floor: "assigns the aggregate and its two children to their places in three Dictionaries"
    ) { stopwatch in
      let articles = (0..<1_000).map(A.init)
      let store = EntityStore(delivery: .immediate)
      let kept = articles.map { store.store($0) }
      var plain = (
        articles: Dictionary(uniqueKeysWithValues: articles.map { ($0.id, $0) }), users: [Int: User](),
        books: [Int: Book]()
      )
      var turn = (concord: 0, floor: 0)
      return Sides {
        turn.concord += 1
        let values = articles.map { $0.with(title: Titles[turn.concord]) }
        let time = stopwatch.nanoseconds(per: values.count) { for article in values { store.store(article) } }
        try expect(kept[471].value, is: values[471], "the stored aggregate")
        return time
      } floor: {
        turn.floor += 1
        let values = articles.map { $0.with(title: Titles[turn.floor]) }
        let time = stopwatch.nanoseconds(per: values.count, on: &plain) { plain in
          for article in values {
            plain.articles[article.id] = article
            plain.users[article.author.id] = article.author
            plain.books[article.about.id] = article.about
          }
        }
        try expect(plain.articles[471] == values[471], "the aggregate is not stored")
        return time
      }
    }
  }

  private static func updateWithRelations<A: SmallAggregate>(_ name: String, was: String? = nil, _ type: A.Type) -> Row
  {
    Row(name, goal: .none, was: was, floor: "changes the field in place in a Dictionary") { stopwatch in
      let articles = (0..<1_000).map(A.init)
      let store = EntityStore(delivery: .immediate)
      let kept = articles.map { store.store($0) }
      var stored = Dictionary(uniqueKeysWithValues: articles.map { ($0.id, $0) })
      var turn = (concord: 0, floor: 0)
      return Sides {
        turn.concord += 1
        let title = Titles[turn.concord]
        let time = stopwatch.nanoseconds(per: articles.count) {
          for article in articles { store.update(A.self, id: article.id) { $0.title = title } }
        }
        try expect(kept[471].value, is: articles[471].with(title: title), "the updated aggregate")
        return time
      } floor: {
        turn.floor += 1
        let title = Titles[turn.floor]
        let time = stopwatch.nanoseconds(per: articles.count, on: &stored) { stored in
          for article in articles { stored.inPlace(article.id) { $0.title = title } }
        }
        try expect(stored[471] == articles[471].with(title: title), "the aggregate is not updated")
        return time
      }
    }
  }
}

import Foundation
import Testing

@testable import ConcordPersistence

@Suite("The language of searches")
struct SearchQueryTests {
  private func finds(_ query: SearchQuery, _ texts: String?...) -> Bool { query.matches(texts) }

  @Test("Words stand anywhere, phrases in one text")
  func words() {
    #expect(finds("red pony", "The red one", "and the pony"))
    #expect(!finds("red pony", "The red one", nil))
    #expect(finds("\"red pony\"", "A red pony"))
    #expect(!finds("\"red pony\"", "A pony, red", "red", "pony"))
    #expect(finds("red-pony", "a red: pony") && !finds("red-pony", "pony red"))
    #expect(finds("“red pony”", "RED PONY"))
  }

  @Test("A prefix finds words that begin so")
  func prefixes() {
    #expect(finds("steinb*", "John Steinbeck") && !finds("steinb", "John Steinbeck"))
    #expect(finds("\"john st\"*", "John Steinbeck") && finds("\"john st*\"*", "John Steinbeck"))
    #expect(!finds("\"jo st\"*", "John Steinbeck"))
    #expect(finds("étr*", "ETRANGER") && finds("하*", "한국"))
  }

  @Test("The last word of a phrase may go on where a star stands at its end, before or behind the quote")
  func prefixesOfPhrases() {
    let forms = [
      "\"red po*\"", "\"red po\"*", "\"red po*\"*", "\"red po**\"", "“red po*”", "„red po*“", "\"red-po*\"",
      "\"red po*",
      "red-po*",
    ]
    for form in forms {
      #expect(finds(SearchQuery(form), "a red pony") && finds(SearchQuery(form), "red po"), "\(form)")
      #expect(!finds(SearchQuery(form), "redder pony") && !finds(SearchQuery(form), "po red"), "\(form)")
      #expect(SearchQuery(form) == "\"red po\"*", "\(form)")
    }
    #expect(finds("-\"red po*\" pony", "a pony") && !finds("-\"red po*\" pony", "a red pony"))
    #expect(finds("\"po*\" pearl", "pearl pony") && finds("\"po*\" OR pearl", "pony"))
    // It is at no word's end.
    for form in ["\"red* po\"", "\"*red po\"", "\"red po *\"", "\"red po\" *", "\"red po* \""] {
      #expect(SearchQuery(form) == "\"red po\"", "\(form)")
    }
    #expect(SearchQuery("\"*\"").isEmpty && SearchQuery("\"!*\"").isEmpty)
  }

  @Test("Operators are in upper case, a dash stands before a word")
  func operators() {
    #expect(finds("pony OR pearl", "pearl") && !finds("pony or pearl", "pearl"))
    #expect(finds("pony -pearl", "pony") && !finds("pony -pearl", "pony pearl"))
    #expect(!finds("pony NOT (pearl OR red)", "pony red") && finds("pony NOT (pearl OR red)", "pony"))
    #expect(finds("a OR b c", "a") && !finds("(a OR b) c", "a") && finds("(a OR b) c", "b c"))
    #expect(finds("pony - pearl", "pony pearl"))
    #expect(finds("--pony", "pony") && finds("NOT NOT pony", "pony"))
    #expect(finds("-\"\" pony", "pony") && finds("NOT ! pony", "pony"))
    #expect(finds("-pearl", "pony") && !finds("-pearl", "pearl"))
  }

  @Test(
    "What makes no sense is left out",
    arguments: [
      "pony OR", "OR pony", "AND pony AND", "(pony", "pony)", "((pony))))", "\"pony", "pony (NOT )", "pony !!",
      "() pony ()", "* pony", "pony NOT",
    ])
  func nonsense(_ text: String) {
    #expect(finds(SearchQuery(text), "a pony") && !finds(SearchQuery(text), "pearl"))
  }

  @Test("A search without words finds nothing", arguments: ["", " ", "!", "\"\"", "()", "-", "OR", "*", "🎉", "- -"])
  func empty(_ text: String) {
    #expect(SearchQuery(text).isEmpty && !finds(SearchQuery(text), "a", "", text))
  }

  @Test("Long and deep searches end")
  func long() {
    let deep = SearchQuery(String(repeating: "(-", count: 20_000) + "pony")
    #expect(deep.terms.count <= 1)
    let many = SearchQuery((0..<5_000).map { "w\($0)" }.joined(separator: " OR "))
    #expect(finds(many, "w63") && !finds(many, "w64"))
  }

  @Test("Case, accents and forms make no difference; vowels and consonants do")
  func folding() {
    let same = [
      ("ÉMILE", "e\u{301}mile"), ("\u{212A}", "k"), ("ß", "SS"), ("ẞ", "ss"), ("ﬁ", "FI"), ("İ", "i"), ("ı", "I"),
      ("ς", "Σ"),
      ("Å", "a\u{30A}"), ("½", "1 2"), ("①", "1"), ("ｗｉｄｅ", "wide"), ("שָׁלוֹם", "שלום"), ("co\u{AD}op", "coop"),
      ("ế", "E"),
      ("ᾳ", "α"), ("한", "\u{1112}\u{1161}\u{11AB}"),
    ]
    for (a, b) in same { #expect(FoldedText(a).texts == FoldedText(b).texts, "\(a) \(b)") }
    for (a, b) in [("か", "が"), ("हिन्दी", "हन"), ("ั", ""), ("l", "ł")] {
      #expect(FoldedText(a).texts != FoldedText(b).texts, "\(a) \(b)")
    }
    #expect(FoldedText("全文検索 ok").texts == ["全", "文", "検", "索", "ok"])
    #expect(finds("検索", "全文検索") && !finds("索検", "全文検索"))
  }

  @Test("The rank grows with places and weight, and falls with length")
  func rank() {
    let query: SearchQuery = "pony"
    func rank(_ text: String, weight: Double = 1) -> Double { query.rank([(FoldedText(text), weight)]) }
    #expect(rank("pony pony x") > rank("pony x y"))
    #expect(rank("pony") > rank("pony " + String(repeating: "x ", count: 200)))
    #expect(rank("pony", weight: 2) > rank("pony") && rank("pearl") == 0)
    #expect(SearchQuery("pon*").rank([(FoldedText("pony"), 1)]) < rank("pony"))
  }

  @Test("The order by rank is recognised, so that a live search depends on the rows alone")
  func rankedPlan() throws {
    let model = try essayModel()
    let entity = try model.entity(Essay.self)
    let early = #Predicate<Essay> { $0.year < 3 }
    let plan = FetchPlan(FetchDescriptor<Essay>(search: "pony", where: early, fetchLimit: 3), entity, model)
    #expect(plan.rankedSearch == "pony" && plan.isExact && plan.condition.isOfRow)
    let live = try LiveQuery(0, plan.descriptor, model: model)
    #expect(live.isFlat)
    let other = FetchDescriptor<Essay>(sortBy: [SortDescriptor(\.[searchRank: "pony"], order: .reverse)])
    #expect(FetchPlan(other, entity, model).rankedSearch == nil)
  }

  @Test("A snippet shows whole characters of the found words")
  func snippets() {
    let text =
      String(repeating: "lorem ipsum ", count: 50) + "the re\u{301}d Pony. " + String(repeating: "dolor ", count: 50)
    let snippet = SearchQuery("red pon*").snippet(of: text, property: "text", length: 60)
    #expect(snippet.marked("[", "]").contains("the [re\u{301}d] [Pony]."))
    #expect(snippet.text.count <= 62 && snippet.text.hasPrefix("…") && snippet.text.hasSuffix("…"))
    let whole = SearchQuery("fisch").snippet(of: "ﬁsch", property: "t", length: 10)
    #expect(whole.marked("<", ">") == "<ﬁsch>")
    #expect(SearchQuery("x").snippet(of: "no hit", property: "t", length: 10).highlights.isEmpty)
    #expect(SearchQuery("2").snippet(of: "½", property: "t", length: 10).marked("<", ">") == "<½>")
  }

  @Test("A snippet shows what was found also where no whole word fits, as in scripts that leave no space between them")
  func longWords() {
    func marked(_ query: SearchQuery, _ text: String) -> String {
      query.snippet(of: text, property: "t", length: 20).marked("[", "]")
    }
    let long = String(repeating: "ก", count: 50)
    #expect(marked("กก*", long) == "[\(long.prefix(20))]…")
    #expect(marked("กก*", "before it " + long).hasPrefix("…it [กกก"))
    // The next space is before what was found.
    #expect(marked("red", "ab red-" + String(repeating: "a", count: 50)) == "ab [red]-aaaaaaaaaaaaa…")
  }
}

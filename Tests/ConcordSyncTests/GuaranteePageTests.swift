#if Server
  import Foundation
  import Testing

  /// The pages of the guarantees name the tests that try to refute them.
  @Suite struct GuaranteePageTests {
    private static let names = [
      "WholePages", "EffectOnce", "SeamlessPages", "RefusedMeansGone", "NothingOfOthers", "Bounded", "Versions",
      "PlainHTTP",
    ]

    @Test("Each test that a page names is there", arguments: names)
    func tests(_ name: String) throws {
      let folder = URL(filePath: #filePath).deletingLastPathComponent().resolvingSymlinksInPath()
      let pages = folder.appending(path: "../../Sources/ConcordServer/ConcordServer.docc")
      let page = try String(contentsOf: pages.appending(path: "\(name).md"), encoding: .utf8)
      let named = page.matches(of: /- \*(.+)\* \(`(\w+)`\)/)
      #expect(named.count >= 3)
      let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      for test in named {
        let (title, suite) = (String(test.1), String(test.2))
        // A suite may have several files.
        let texts = try files.filter { file in
          file.lastPathComponent == "\(suite).swift" || file.lastPathComponent.hasPrefix("\(suite)+")
        }.map { try String(contentsOf: $0, encoding: .utf8) }
        #expect(texts.contains { $0.contains("\"\(title)\"") }, "\(name) names '\(title)' of \(suite)")
      }
      // Each law has its place in the fault test, and a row in the table of all.
      #expect(page.contains("In the fault test"))
      let all = try String(contentsOf: pages.appending(path: "SyncGuarantees.md"), encoding: .utf8)
      let readMe = try String(contentsOf: folder.appending(path: "../../README.md"), encoding: .utf8)
      #expect(all.contains("<doc:\(name)>") && readMe.contains("ConcordServer.docc/\(name).md"))
    }
  }
#endif

#if Tool && !PostgreSQL
  import Testing

  @Suite("concord that was built without PostgreSQL")
  struct WithoutPostgreSQLTests {
    @Test("The URL of a database is answered in a line that says how to build it with PostgreSQL")
    func url() throws {
      let url = "postgresql://shop:secret@127.0.0.1/shop"
      for command in [
        ["info", url], ["list", url, "Book"], ["import", url, "/dev/null"], ["schema", "--postgresql", url],
      ] {
        let result = try Tool.run(command)
        #expect(result.status == 64)
        #expect(result.output.isEmpty && result.error.count { $0 == "\n" } == 1)
        #expect(result.error.contains("--traits default,PostgreSQL") && !result.error.contains("secret"))
      }
    }
  }
#endif

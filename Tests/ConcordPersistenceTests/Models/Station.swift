import ConcordPersistence

/// Refers to itself through wrappers.
struct Station: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var name: String
  var links: [Link] = []
  var main: [Link]?

  static let persistentProperties: [PersistentProperty<Station>] = [
    .init("id", \.id), .init("name", \.name), .init("links", \.links), .init("main", \.main),
  ]
  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), name: try row.read(), links: try row.read(), main: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(name)
    try row.write(links)
    try row.write(main)
  }

  init(id: Int, name: String, links: [Link] = [], main: [Link]? = nil) {
    self.id = id
    self.name = name
    self.links = links
    self.main = main
  }
}

indirect enum Link: PersistentWrapper, Equatable {
  case to(Station)
  case end

  var to: Station? {
    get { if case .to(let value) = self { value } else { nil } }
    set { if case .to = self, let newValue { self = .to(newValue) } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Link>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.to))]
  }

  var persistentCase: String { if case .to = self { "to" } else { "end" } }
  static let persistentProperties: [PersistentProperty<Link>] = [.init("to", \.to)]
  init(case name: String, from row: inout RowReader) throws {
    let to: Station? = try row.read()
    switch (name, to) {
    case ("to", let to?): self = .to(to)
    case ("end", _): self = .end
    default: throw StoreError.unknownCase(name, of: Link.self)
    }
  }
  func write(to row: inout RowWriter) throws { try row.write(to) }
}

/// Requires another of its kind, through a wrapper.
struct Ring: PersistentEntity, Aggregate {
  let id: Int
  var next: RingLink

  static let persistentProperties: [PersistentProperty<Ring>] = [.init("id", \.id), .init("next", \.next)]
  init(from row: inout RowReader) throws { self.init(id: try row.read(), next: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(next)
  }

  init(id: Int, next: RingLink) {
    self.id = id
    self.next = next
  }
}

indirect enum RingLink: PersistentWrapper {
  case to(Ring)
  case end

  var to: Ring? {
    get { if case .to(let value) = self { value } else { nil } }
    set { if case .to = self, let newValue { self = .to(newValue) } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, RingLink>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.to))]
  }

  var persistentCase: String { if case .to = self { "to" } else { "end" } }
  static let persistentProperties: [PersistentProperty<RingLink>] = [.init("to", \.to)]
  init(case name: String, from row: inout RowReader) throws {
    let to: Ring? = try row.read()
    self = to.map { .to($0) } ?? .end
  }
  func write(to row: inout RowWriter) throws { try row.write(to) }
}

import Concord

/// How the store shows collections that it left out: empty, with a storage of their own.
func omitted<C: ExpressibleByArrayLiteral & Collection>(_: C.Type = C.self) -> C { OmittedCollection<C>.value ?? [] }
func omitted<C: ExpressibleByDictionaryLiteral & Collection>(_: C.Type = C.self) -> C {
  OmittedCollection<C>.value ?? [:]
}

func isOmitted<C: Collection>(_ collection: C) -> Bool { OmittedCollection<C>.isOmitted(collection) }

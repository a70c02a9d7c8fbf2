/// How the store shows collections that it left out.
func omitted<C: ExpressibleByArrayLiteral & Collection>(_: C.Type = C.self) -> C { [] }
func omitted<C: ExpressibleByDictionaryLiteral & Collection>(_: C.Type = C.self) -> C { [:] }

func isOmitted<C: Collection>(_ collection: C) -> Bool { false }

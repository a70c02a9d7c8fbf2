/// Takes a value and does nothing with it, where the optimiser cannot see that: the value has to be made.
@inline(never)
@_optimize(none)
func blackHole<Value>(_ value: Value) {}

#if canImport(Combine) || OpenCombine
  public import Concord

  extension Publisher {
    /// Stores each entity or aggregate that comes, and publishes it as the store has it from then on, until the next
    /// one comes.
    ///
    /// ```swift
    /// webService.author(id: 42)
    ///   .store(in: entityStore, named: .currentAuthor)
    ///   .sink { author in … }
    ///   .store(in: &cancellables)
    /// ```
    ///
    /// All values are published where the store calls its observers, the first one, too: on the store's queue, whatever the
    /// thread on which this publisher publishes. The entity is kept alive until the subscription is cancelled. When this publisher finishes, the store is still
    /// followed.
    ///
    /// - Parameter stamp: how fresh all that comes is; if `nil`, the store's `Stamping` says for each.
    public func store(
      in entityStore: EntityStore, named alias: AliasKey<Output>? = nil, modifiedAt stamp: Stamp? = nil
    ) -> AnyPublisher<Output, Failure> where Output: Identifiable & Sendable {
      following { entityStore.store($0, named: alias, modifiedAt: stamp) }
    }

    /// Stores the entities or aggregates of each collection that comes, and publishes them as the store has them from
    /// then on, until the next collection comes.
    public func store(
      in entityStore: EntityStore, modifiedAt stamp: Stamp? = nil
    ) -> AnyPublisher<[Output.Element], Failure>
    where Output: Collection, Output.Element: Identifiable & Sendable {
      following { entityStore.store($0, modifiedAt: stamp) }
    }

    /// The same, naming the collection.
    public func store(
      in entityStore: EntityStore, named alias: AliasKey<Output>, modifiedAt stamp: Stamp? = nil
    ) -> AnyPublisher<[Output.Element], Failure>
    where Output: MutableCollection & Sendable, Output.Element: Identifiable & Sendable {
      following { entityStore.store($0, named: alias, modifiedAt: stamp) }
    }

    private func following<Value: Sendable>(
      _ store: @escaping (Output) -> EntityObserver<Value>
    ) -> AnyPublisher<Value, Failure> {
      map { store($0).publisher(firstCall: .inTurn).setFailureType(to: Failure.self) }
        .switchToLatest()
        .eraseToAnyPublisher()
    }
  }
#endif

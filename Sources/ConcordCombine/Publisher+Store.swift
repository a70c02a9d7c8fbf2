#if canImport(Combine) || OpenCombine
  public import Concord

  extension Publisher {
    /// Stores each received entity or aggregate, and publishes its value in the store until the next one is received.
    ///
    /// ```swift
    /// webService.author(id: 42)
    ///   .store(in: entityStore, named: .currentAuthor)
    ///   .sink { author in … }
    ///   .store(in: &cancellables)
    /// ```
    ///
    /// All values, including the first, are published where the store calls its observers: on the store's queue, whatever the
    /// thread on which this publisher publishes. The entity is retained until the subscription is cancelled. When this
    /// publisher finishes, the store is still observed.
    ///
    /// - Parameter stamp: the stamp of all received values; if `nil`, the store's `Stamping` decides for each.
    public func store(
      in entityStore: EntityStore, named alias: AliasKey<Output>? = nil, modifiedAt stamp: Stamp? = nil
    ) -> AnyPublisher<Output, Failure> where Output: Identifiable & Sendable {
      following { entityStore.store($0, named: alias, modifiedAt: stamp) }
    }

    /// Stores the entities or aggregates of each received collection, and publishes their values in the store until the next
    /// collection is received.
    public func store(
      in entityStore: EntityStore, modifiedAt stamp: Stamp? = nil
    ) -> AnyPublisher<[Output.Element], Failure>
    where Output: Collection, Output.Element: Identifiable & Sendable {
      following { entityStore.store($0, modifiedAt: stamp) }
    }

    /// Stores the entities or aggregates of each received collection under a name, and publishes their values in the store
    /// until the next collection is received.
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

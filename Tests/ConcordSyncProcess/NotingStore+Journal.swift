#if Server
  import ConcordServer

  extension NotingStore {
    /// Notes each state in a journal.
    ///
    /// A process may be killed between a commit and the note: the next one notes the state that it finds.
    convenience init(_ store: any RowStore, _ model: Model, _ journal: Journal) {
      let last = Kept<DeviceMoment?>(nil)
      self.init(store) { store in
        guard let moment = try? DeviceMoment(store, model) else { return }
        let isNew = last.withLock { last in
          defer { last = moment }
          return last != moment
        }
        if isNew { journal.write(moment) }
      }
    }
  }
#endif

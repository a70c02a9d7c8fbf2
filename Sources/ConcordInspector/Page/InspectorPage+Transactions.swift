#if Inspector
  extension InspectorPage {
    /// The log of transactions, and one of them.
    static let transactionScript = #"""
      function transactionRow(line, isChosen) {
        const about = [clock(line.date), line.context && `by ${line.context}`, where(line.place), duration(line.duration),
          line.told ? `told ${line.told}` : undefined].filter(Boolean).join(" · ");
        return make("button", {class: "row", "aria-current": isChosen, "data-number": line.number,
          onclick: () => showTransaction(line.number)},
          make("b", {}, make("span", {class: "what"}, line.summary), make("span", {class: "count"}, `#${line.number}`)),
          make("span", {}, about),
          line.isAfterGap && make("span", {class: "warn"}, "Transactions before it came too fast, and were not recorded"));
      }

      const transactions = {
        chosen: undefined, items: [],
        open(view) {
          view.className = "transactions";
          this.items = [];
          this.list = make("div", {class: "scroll list flat", id: "log", "aria-label": "Transactions"});
          this.detail = make("section", {id: "transaction", tabindex: "-1", "aria-label": "The transaction"});
          this.all = make("input", {type: "checkbox", id: "everything"});
          this.all.addEventListener("change", () =>
            ask("recording", {}, {everything: this.all.checked}).then(() => tick()).catch(report));
          view.replaceChildren(
            make("section", {"aria-label": "Transactions"}, make("div", {class: "top"}, make("h2", {}, "Transactions"),
              make("label", {class: "soft", title: "Otherwise recording takes a fiftieth of the time at most"}, this.all, " record all, at any cost")),
              this.list),
            this.detail);
          this.list.addEventListener("keydown", moveFocus);
          return this.refresh();
        },
        async refresh() {
          this.all.checked = app.overview.recordsEverything;
          const newest = await ask("transactions", {limit: 200});
          const oldest = newest.items.at(-1)?.number ?? 0;
          this.items = newest.items.concat(this.items.filter((line) => line.number < oldest && line.number >= newest.first));
          this.first = newest.first;
          this.isResolving = newest.isResolving;
          this.draw();
          await this.load();
        },
        draw() {
          const focused = this.list.contains(document.activeElement) ? document.activeElement.dataset.number : undefined;
          const rows = this.items.map((line) => transactionRow(line, line.number === this.chosen));
          if (this.items.length && this.items.at(-1).number > this.first) {
            rows.push(make("button", {class: "row", onclick: () => this.more().catch(report)}, make("span", {}, "Earlier ones")));
          }
          this.list.replaceChildren(...(rows.length ? rows : [make("p", {class: "empty"}, " None since the inspector was attached.")]));
          if (focused !== undefined) this.list.querySelector(`[data-number="${focused}"]`)?.focus({preventScroll: true});
        },
        async more() {
          const earlier = await ask("transactions", {before: this.items.at(-1).number, limit: 200});
          this.items = this.items.concat(earlier.items);
          this.draw();
        },
        async load() {
          if (this.chosen === undefined) {
            this.detail.replaceChildren(make("div", {class: "scroll"}, make("p", {class: "empty"}, "Choose a transaction.")));
            return;
          }
          const answer = await ask("transaction", {number: this.chosen}).catch((error) => {
            if (error.status !== 404) throw error;
          });
          if (answer?.isResolving) this.isResolving = true;
          const text = JSON.stringify([answer, app.overview.earliest]);
          if (text === this.shown && this.detail.childElementCount) return;
          this.shown = text;
          this.detail.replaceChildren(make("div", {class: "scroll"},
            answer ? describeTransaction(answer) : make("p", {class: "empty"}, `Transaction ${this.chosen} is not kept any longer.`)));
        },
      };

      function describeTransaction(answer) {
        const line = answer.line;
        return [
          make("h2", {}, `Transaction ${line.number}`),
          make("ul", {class: "facts", id: "written"},
            make("li", {}, `At ${clock(line.date)}${line.duration === undefined ? "" : `, took ${duration(line.duration)}`}`),
            line.context && make("li", {}, "Context ", make("b", {}, line.context)),
            answer.places.length ? answer.places.map((spot, index) => make("li", {}, index ? "called by " : "Written by ",
              make("span", {class: "place"}, where(spot)), spot.function && make("span", {class: "soft"}, ` ${spot.function}`))) :
              make("li", {class: "soft"}, "The place in the code is not known")),
          make("div", {class: "buttons"},
            make("button", {id: "before", disabled: line.number - 1 < app.overview.earliest, onclick: () => travel(line.number - 1)},
              "Look at the state before"),
            make("button", {id: "after", disabled: line.number < app.overview.earliest, onclick: () => travel(line.number)},
              "and after it")),
          make("h3", {}, plural(line.changes, "change")),
          answer.changes.map((change) => make("div", {class: "card change"}, make("p", {}, `${change.kind} `, link(change.entity)),
            change.fields.length ? make("table", {}, make("thead", {}, make("tr", {}, ["Property", "Old", "New"].map((name) => make("th", {}, name)))),
              make("tbody", {}, change.fields.map((field) => make("tr", {}, make("td", {}, field.name),
                make("td", {class: "old"}, field.old ?? ""), make("td", {class: "new"}, field.new ?? ""))))) :
              make("p", {class: "soft"}, "No text of it differs."))),
          line.changes > answer.changes.length && make("p", {class: "soft"}, `and ${line.changes - answer.changes.length} more`),
          make("h3", {}, `Told: ${plural(line.told, "observer")}`),
          answer.receivers.length ? make("ul", {class: "facts", id: "told"}, answer.receivers.map((receiver) => make("li", {},
            receiver.entity ? ["of ", link(receiver.entity)] : "of a query or a combination", " ",
            receiver.place && make("span", {class: "place"}, where(receiver.place)), make("span", {class: "soft"}, ` on ${receiver.line}`)))) :
            make("p", {class: "empty"}, "Nobody looked at it."),
          line.told > answer.receivers.length && make("p", {class: "soft"}, `and ${line.told - answer.receivers.length} more`),
        ];
      }
      """#
  }
#endif

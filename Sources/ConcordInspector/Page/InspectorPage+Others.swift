#if Inspector
  extension InspectorPage {
    /// Live queries, optimistic layers, and the parts of the app beside the store.
    static let otherScript = #"""
      function cards(id, title, children, none) {
        return make("section", {"aria-label": title}, make("div", {class: "top"}, make("h2", {}, title)),
          make("div", {class: "scroll", id}, children.length ? children : make("p", {class: "empty"}, none)));
      }

      // Draws a view anew only where it has changed, and leaves the keyboard where it was. What comes when another view is open is too late.
      function replace(view, state, data, draw) {
        if (app.view !== state) return;
        const text = JSON.stringify(data);
        if (state.shown === text && view.childElementCount) return;
        state.shown = text;
        const focus = focusPath(view);
        const scroll = view.querySelector(".scroll")?.scrollTop ?? 0;
        view.replaceChildren(draw());
        if (view.querySelector(".scroll")) view.querySelector(".scroll").scrollTop = scroll;
        restoreFocus(view, focus);
      }

      function observersOf(one) {
        return one.observers.map((observer) => make("li", {}, "Observed by ", spots(observer.places),
          make("span", {class: "soft"}, ` on ${observer.line}`)));
      }

      const queries = {
        open(view) { view.className = ""; view.replaceChildren(); this.view = view; return this.refresh(); },
        async refresh() {
          const data = await ask("queries");
          replace(this.view, this, data, () => cards("queries", "Live queries", data.queries.map((query) => make("div", {class: "card"},
            make("p", {}, make("b", {}, query.type), `: ${plural(query.size, "result")} when last looked at`),
            make("ul", {class: "facts"}, query.plan.map((line) => make("li", {}, line)),
              make("li", {class: "soft"}, `${plural(query.looks, "value")} evaluated so far, ${plural(query.waiting, "commit")} not looked at yet`),
              observersOf(query)))), "There are none."));
        },
      };

      const layers = {
        open(view) { view.className = ""; view.replaceChildren(); this.view = view; return this.refresh(); },
        async refresh() {
          const data = app.overview.layers;
          replace(this.view, this, data, () => cards("layers", "Optimistic layers, the lowest first", data.map((changed, index) => make("div", {class: "card"},
            make("p", {}, make("b", {}, `Layer ${index + 1}`), " changes ", changed.length ? changed.flatMap((entity) => [link(entity), " "]) : "nothing"))),
            "Nothing is pending: what is shown is the base."));
        },
      };

      class Part {
        constructor(number) { this.number = number; }
        open(view) { view.className = ""; view.replaceChildren(); this.view = view; return this.refresh(); }
        async refresh() { this.draw(await ask("part", {number: this.number})); }
        draw(part) {
          replace(this.view, this, part, () => make("section", {"aria-label": part.name}, make("div", {class: "scroll", id: "part"},
            part.sections.map((section) => [make("h3", {}, `${section.title}${section.total ? ` (${section.total})` : ""}`),
              section.rows.length ? section.rows.map((row) => make("div", {class: "card"},
                make("p", {class: row.isProblem ? "bad" : undefined}, make("b", {}, row.title)),
                row.details.map((detail) => make("p", {}, make("span", {class: "soft"}, `${detail.name} `), detail.text)),
                row.observers.length ? make("ul", {class: "facts"}, observersOf(row)) : undefined,
                row.actions.length ? make("div", {class: "buttons"}, row.actions.map((action) => make("button", {
                  "data-purpose": `${action} ${row.id}`,
                  onclick: () => ask("perform", {}, {part: this.number, action, row: row.id}).then((part) => this.draw(part)).catch(report)},
                  action))) : undefined)) : make("p", {class: "empty"}, section.empty),
              section.total > section.rows.length && make("p", {class: "soft"}, `and ${section.total - section.rows.length} more`)]))));
        }
      }
      """#
  }
#endif

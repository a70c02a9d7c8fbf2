#if Inspector
  extension InspectorPage {
    /// The types, the entities of one, and one entity.
    static let entityScript = #"""
      const entities = {
        type: undefined, chosen: undefined,
        open(view) {
          view.className = "entities";
          this.types = make("div", {class: "scroll list flat", id: "types", "aria-label": "Types"});
          this.types.addEventListener("keydown", moveFocus);
          this.search = make("input", {type: "search", id: "search", placeholder: "Search ids and values  /", "aria-label": "Search"});
          this.list = new LongList("Entities", (offset) => ask("entities", {
            type: this.type, search: this.search.value, offset, limit: LongList.page, at: moment()}),
            (item) => make("div", {class: "row"}, make("b", {}, item.id), make("span", {}, item.text)),
            (item) => show({key: this.type, id: item.id, hash: item.hash}));
          this.list.name = "entity";
          this.list.isChosen = (item) => item && this.chosen?.key === this.type && this.chosen?.id === item.id && this.chosen?.hash === item.hash;
          let waiting;
          this.search.addEventListener("input", () => {
            clearTimeout(waiting);
            waiting = setTimeout(() => this.list.reload().catch(report), 200);
          });
          this.detail = make("section", {id: "entity", tabindex: "-1", "aria-label": "The entity"});
          view.replaceChildren(
            make("section", {"aria-label": "Types"}, make("div", {class: "top"}, make("h2", {}, "Types")), this.types),
            make("section", {"aria-label": "Entities"}, make("div", {class: "top"}, this.search), this.list.element),
            this.detail);
          return this.refresh(false);
        },
        async refresh(keepsPlace = true) {
          const types = app.overview.types;
          if (!types.some((type) => type.key === this.type)) this.type = types[0]?.key;
          const rows = types.map((type) => make("button", {
            class: "row", "aria-current": type.key === this.type, "data-key": type.key,
            onclick: () => { this.type = type.key; this.refresh(false).then(() => this.focusType()); }},
            make("b", {}, type.name, make("span", {class: "count"}, type.count.toLocaleString("en")))));
          const focused = this.types.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
          this.types.replaceChildren(...(rows.length ? rows : [make("p", {class: "empty"}, " Nothing is stored.")]));
          if (focused !== undefined) this.focusType();
          if (this.type !== undefined) await this.list.reload(keepsPlace);
          else this.list.rows.replaceChildren();
          await this.load();
        },
        focusType() { this.types.querySelector("[aria-current=true]")?.focus(); },
        async load() {
          this.isResolving = false;
          if (!this.chosen) {
            this.detail.replaceChildren(make("div", {class: "scroll"}, make("p", {class: "empty"}, "Choose an entity.")));
            return;
          }
          let answer;
          try {
            answer = await ask("entity", {type: this.chosen.key, id: this.chosen.id, hash: this.chosen.hash, at: moment()});
          } catch (error) {
            if (error.status !== 404) throw error;
          }
          this.isResolving = answer?.isResolving;
          for (const list of this.opened?.values() ?? []) list.reload(true).catch(() => {});
          const scroll = this.detail.querySelector(".scroll")?.scrollTop ?? 0;
          const places = [...this.opened?.values() ?? []].map((list) => [list.element, list.element.scrollTop]);
          const text = JSON.stringify(answer ?? null);
          if (text === this.shown && this.detail.childElementCount) return;
          this.shown = text;
          const focus = focusPath(this.detail);
          this.detail.replaceChildren(answer ? describe(answer) : make("div", {class: "scroll"},
            make("h2", {}, this.chosen.id), make("p", {class: "empty"}, "It is not stored.")));
          this.detail.querySelector(".scroll").scrollTop = scroll;
          for (const [list, top] of places) list.scrollTop = top;
          restoreFocus(this.detail, focus);
        },
      };

      // Which button had the keyboard, to give it back when the view is drawn anew. One that does something is found by what it is for:
      // the next key press must not do to another row what was meant for one that is gone.
      function focusPath(element) {
        const active = document.activeElement;
        if (!element.contains(active)) return undefined;
        return {index: [...element.querySelectorAll("button")].indexOf(active), purpose: active.dataset.purpose};
      }
      function restoreFocus(element, focus) {
        if (focus === undefined) return;
        const button = focus.purpose === undefined ? [...element.querySelectorAll("button")][focus.index] :
          [...element.querySelectorAll("[data-purpose]")].find((other) => other.dataset.purpose === focus.purpose);
        if (button === undefined) element.tabIndex = -1;
        (button ?? element).focus({preventScroll: true});
      }

      function describe(answer) {
        const keepers = answer.keepers;
        return make("div", {class: "scroll"},
          make("h2", {style: undefined}, `${answer.entity.type} ${answer.entity.id}`),
          answer.value ? make("div", {class: "value", id: "value"}, valueTree(answer.value)) : make("p", {class: "warn"}, "It is not stored."),
          keepers && [make("h3", {}, "Why it is alive"), make("ul", {class: "facts", id: "keepers"}, reasons(keepers))],
          keepers && [make("h3", {}, "Neighbourhood"), graphView(answer), neighbourhood(answer)],
          keepers && make("p", {class: "soft"}, `Stamp ${keepers.stamp}`),
          make("h3", {}, "Transactions"),
          answer.history.length ? make("div", {class: "flat", id: "history", onkeydown: moveFocus}, answer.history.map((line) => transactionRow(line))) :
            make("p", {class: "empty"}, "None of those that are kept changed it."));
      }

      function valueTree(tree) {
        const name = tree.name === undefined ? undefined : make("span", {class: "name"}, `${tree.name}: `);
        if (tree.kind === "entity") return make("div", {}, name, link(tree.entity));
        if (tree.parts) return make("div", {}, name, make("span", {class: "soft"}, tree.text),
          make("ul", {}, tree.parts.map((part) => make("li", {}, valueTree(part)))));
        return make("div", {}, name, make("span", {class: tree.kind === "text" ? "text" : "soft"}, tree.text));
      }

      function reasons(keepers) {
        const reasons = keepers.observers.map((observer) => make("li", {class: "observer"}, "Observed by ", spots(observer.places),
          make("span", {class: "soft"}, ` on ${observer.line}${observer.isEvery ? ", each state" : ""}${observer.isPaused ? ", paused" : ""}`)));
        const rest = keepers.observerCount - keepers.observers.length;
        if (rest) reasons.push(make("li", {}, `and ${rest.toLocaleString("en")} more`));
        for (const held of keepers.held) reasons.push(make("li", {class: "held"}, `Held by ${plural(held.count, "observer")} without a subscription, made by `, spots(held.places)));
        const others = keepers.holders - keepers.held.reduce((sum, held) => sum + held.count, 0);
        if (others > 0) reasons.push(make("li", {}, `Held by ${plural(others, "observer")} without a subscription${keepers.held.length ? ", made elsewhere" : ""}`));
        for (const alias of keepers.aliases) reasons.push(make("li", {}, "Named by the alias ", make("b", {}, alias)));
        if (keepers.parentCount) reasons.push(make("li", {}, `Contained in ${plural(keepers.parentCount, "place")}`));
        for (const layer of keepers.layers) reasons.push(make("li", {}, `Changed by optimistic layer ${layer + 1}`));
        if (keepers.relays) reasons.push(make("li", {class: "soft"}, `Followed by ${plural(keepers.relays, "combination or list", "combinations or lists")}, which do not hold it`));
        if (keepers.path.length > 1) {
          const steps = keepers.path.slice(1).flatMap((entity) => [" ← ", link(entity)]);
          reasons.push(make("li", {id: "path"}, "Reached from outside by: this", steps));
        }
        if (!reasons.length) reasons.push(make("li", {class: "soft"}, "Nothing keeps it: it is released with the next transaction."));
        return reasons;
      }

      function spots(places) {
        if (!places.length) return make("span", {class: "soft"}, "somebody, from before the inspector or from a place that is not known");
        const spot = make("span", {class: "place"}, where(places[0]));
        const rest = [places[0].function, ...places.slice(1).map((other) => `${where(other)} ${other.function ?? ""}`)].filter(Boolean);
        if (rest.length) spot.title = rest.join("\n");
        return spot;
      }

      // What is around an entity, in words: the first ones of each side, or a list of all.
      function neighbourhood(answer) {
        const keepers = answer.keepers;
        // Sides that somebody has opened stay open while the entity changes.
        if (entities.openedOf !== JSON.stringify(answer.entity)) {
          entities.openedOf = JSON.stringify(answer.entity);
          entities.opened = new Map();
        }
        const box = make("div", {class: "near", id: "near"});
        const sides = new Map();
        const side = (name, links, count, none, place) => {
          const element = make("div", {"data-side": name});
          const fill = () => {
            const list = entities.opened.get(name);
            const shown = list ? [list.element] : links.map((one) => make("div", {}, link(one.entity), make("small", {}, place(one))));
            if (!list && count > links.length) shown.push(make("button", {
              class: "more", "data-purpose": `more ${name}`, onclick: () => entities.openSide(name)}, `${(count - links.length).toLocaleString("en")} more`));
            element.replaceChildren(...(shown.length ? shown : [make("small", {}, none)]));
            box.classList.toggle("open", entities.opened.size > 0);
          };
          sides.set(name, () => {
            if (count === 0) return;
            if (!entities.opened.has(name)) entities.opened.set(name, neighbourList(answer.entity, name, place));
            fill();
            const list = entities.opened.get(name);
            list.reload(true).catch(report);
            list.element.focus({preventScroll: true});
            list.element.scrollIntoView({block: "nearest"});
          });
          fill();
          return element;
        };
        entities.openSide = (name) => sides.get(name)();
        box.append(
          side("parents", keepers.parents, keepers.parentCount, "in no other entity", (one) => `${one.place} →`),
          make("div", {class: "this"}, make("b", {}, answer.entity.type), make("small", {}, answer.entity.id)),
          side("children", keepers.children, keepers.childCount, "contains no entity", (one) => `→ ${one.place}`));
        return box;
      }

      function neighbourList(entity, side, place) {
        const list = new LongList(side === "parents" ? "All places that contain the entity" : "All entities that it contains",
          (offset) => ask("neighbours", {type: entity.key, id: entity.id, hash: entity.hash, side, offset, limit: LongList.page}),
          (one) => make("div", {class: "row"}, make("b", {}, nameOf(one.entity)), make("span", {}, place(one))),
          (one) => show(one.entity));
        list.name = side;
        list.element.dataset.purpose = `list ${side}`;
        // Whoever looks through the list stays at the entity.
        list.choosesMoved = false;
        return list;
      }
      """#
  }
#endif

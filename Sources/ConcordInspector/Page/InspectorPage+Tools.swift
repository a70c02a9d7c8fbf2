#if Inspector
  extension InspectorPage {
    /// Elements, requests, and lists of any length.
    static let tools = #"""
      // Texts become text nodes, never HTML.
      function make(tag, attributes, ...children) {
        const element = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes ?? {})) {
          if (value === undefined || value === null || (value === false && !name.startsWith("aria-"))) continue;
          if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
          else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : value);
        }
        element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
        return element;
      }
      const place = (id) => document.getElementById(id);

      function problem(text) {
        place("problem").textContent = text ?? "";
        place("problem").hidden = !text;
      }

      async function ask(path, parameters = {}, body) {
        const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null));
        const options = body === undefined ? {} :
          {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)};
        // A plus would not be read as a space.
        const response = await fetch(`api/${path}?${query.toString().replaceAll("+", "%20")}`, options);
        if (!response.ok) {
          const error = new Error((await response.text()) || `status ${response.status}`);
          error.status = response.status;
          throw error;
        }
        return response.json();
      }

      const plural = (count, one, many = one + "s") => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
      const clock = (seconds) => new Date(seconds * 1000).toTimeString().slice(0, 8) + "." +
        String(Math.floor(seconds * 1000) % 1000).padStart(3, "0");
      const duration = (micros) => micros === undefined ? "" : micros < 1000 ? `${micros.toFixed(1)} µs` : `${(micros / 1000).toFixed(2)} ms`;
      const where = (spot) => spot ? spot.line ? `${spot.file}:${spot.line}` : `${spot.file} in ${spot.function}` : undefined;

      // Moves the keyboard among the buttons of a list.
      function moveFocus(event) {
        const step = {ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling"}[event.key];
        const next = step && document.activeElement[step];
        if (!next) return;
        event.preventDefault();
        next.focus();
      }

      function link(entity) {
        return make("button", {class: "link", onclick: () => show(entity)}, `${entity.type} ${entity.id}`);
      }

      // A list of which only what is seen has elements: rows are fetched by pages of a hundred.
      class LongList {
        constructor(label, fetchPage, row, choose) {
          Object.assign(this, {fetchPage, row, choose, pages: new Map(), total: 0, active: 0, round: 0, choosesMoved: true});
          this.rows = make("div", {class: "rows", role: "presentation"});
          this.element = make("div", {class: "scroll list", role: "listbox", tabindex: "0", "aria-label": label}, this.rows);
          this.element.addEventListener("scroll", () => this.draw());
          this.element.addEventListener("keydown", (event) => this.press(event));
          new ResizeObserver(() => this.draw()).observe(this.element);
        }
        static get height() { return 48; }
        static get page() { return 100; }
        async reload(keepsPlace) {
          this.round += 1;
          const round = this.round;
          const seen = keepsPlace ? this.seenPages() : [0];
          const found = await Promise.all(seen.map(async (page) => [page, await this.fetchPage(page * LongList.page)]));
          if (round !== this.round) return;
          this.pages = new Map(found.map(([page, list]) => [page, list.items]));
          this.total = found.length ? found[0][1].total : 0;
          if (!keepsPlace) { this.active = 0; this.element.scrollTop = 0; }
          this.draw();
        }
        seenPages() {
          const [first, last] = this.seen();
          const pages = [];
          for (let page = Math.floor(first / LongList.page); page <= Math.floor(last / LongList.page); page++) pages.push(page);
          return pages.length ? pages : [0];
        }
        seen() {
          const first = Math.max(0, Math.floor(this.element.scrollTop / LongList.height) - 4);
          const last = Math.min(Math.max(0, this.total - 1), first + Math.ceil(this.element.clientHeight / LongList.height) + 8);
          return [first, last];
        }
        item(index) { return this.pages.get(Math.floor(index / LongList.page))?.[index % LongList.page]; }
        async draw() {
          this.rows.style.height = `${this.total * LongList.height}px`;
          const [first, last] = this.seen();
          const rows = [];
          for (let index = first; index <= last && index < this.total; index++) {
            const item = this.item(index);
            const element = item ? this.row(item, index) : make("div", {class: "row"}, make("span", {}, "…"));
            element.id = `${this.name ?? "row"}-${index}`;
            element.setAttribute("role", "option");
            element.setAttribute("aria-setsize", this.total);
            element.setAttribute("aria-posinset", index + 1);
            element.setAttribute("aria-selected", this.isChosen?.(item) ?? (!this.choosesMoved && index === this.active));
            element.style.top = `${index * LongList.height}px`;
            element.addEventListener("click", () => { this.active = index; if (this.item(index)) this.choose(this.item(index)); });
            rows.push(element);
          }
          this.rows.replaceChildren(...rows);
          this.element.setAttribute("aria-activedescendant", `${this.name ?? "row"}-${this.active}`);
          const missing = this.seenPages().filter((page) => !this.pages.has(page) && page * LongList.page < this.total);
          if (!missing.length) return;
          const round = this.round;
          for (const page of missing) this.pages.set(page, []);
          for (const page of missing) {
            const list = await this.fetchPage(page * LongList.page).catch(() => undefined);
            if (round !== this.round) return;
            if (list) this.pages.set(page, list.items);
            else this.pages.delete(page);
          }
          if (round === this.round) this.draw();
        }
        async press(event) {
          if (!this.choosesMoved && (event.key === "Enter" || event.key === " ")) {
            event.preventDefault();
            if (this.item(this.active)) this.choose(this.item(this.active));
            return;
          }
          const step = Math.max(1, Math.floor(this.element.clientHeight / LongList.height) - 1);
          const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: step, PageUp: -step, Home: -this.total, End: this.total};
          if (!(event.key in moves) || this.total === 0) return;
          event.preventDefault();
          this.active = Math.min(this.total - 1, Math.max(0, this.active + moves[event.key]));
          const top = this.active * LongList.height;
          if (top < this.element.scrollTop) this.element.scrollTop = top;
          const bottom = top + LongList.height - this.element.clientHeight;
          if (bottom > this.element.scrollTop) this.element.scrollTop = bottom;
          const wanted = this.active;
          await this.draw();
          if (this.choosesMoved && wanted === this.active && this.item(wanted)) this.choose(this.item(wanted));
        }
      }
      """#
  }
#endif

#if Inspector
  extension InspectorPage {
    /// The tabs, time travel, and what keeps all up to date.
    static let mainScript = #"""
      const app = {overview: undefined, view: entities, at: undefined, moves: 0};
      const moment = () => app.at;

      function report(error) {
        const isGone = error instanceof TypeError;
        problem(isGone ? "The program does not answer: it has ended, or the inspector was stopped." : error.message);
      }

      async function tick() {
        try {
          const at = app.at;
          const overview = await ask("overview", {at}).catch((error) => {
            if (error.status !== 410) throw error;
            if (app.at === at) app.at = undefined;
            return ask("overview");
          });
          // Somebody has travelled meanwhile, and has asked again.
          if (app.at !== undefined && app.at !== at) return;
          const {writes, last} = app.overview ?? {};
          app.overview = overview;
          if (app.at >= overview.last) app.at = undefined;
          problem();
          drawState();
          const isLive = app.at === undefined;
          const hasParts = app.view instanceof Part || app.view === queries;
          if (hasParts || app.view.isResolving || writes !== overview.writes || last !== overview.last || (isLive && app.view === entities)) await app.view.refresh();
        } catch (error) { report(error); }
      }

      function drawState() {
        const {overview} = app;
        const count = overview.types.reduce((sum, type) => sum + type.count, 0);
        place("state").textContent = [plural(count, "entity", "entities"), plural(overview.last, "transaction"),
          overview.isPaused && "recording pauses: too many transactions"].filter(Boolean).join(" · ");
        const slider = place("time");
        slider.min = overview.earliest;
        slider.max = overview.last;
        slider.value = app.at ?? overview.last;
        slider.disabled = overview.earliest === overview.last;
        place("earlier").disabled = (app.at ?? overview.last) <= overview.earliest;
        place("later").disabled = place("now").disabled = app.at === undefined;
        place("moment").textContent = app.at === undefined ? "the present" : `after transaction ${app.at} of ${overview.last}`;
        document.body.classList.toggle("past", app.at !== undefined);
        drawTabs();
      }

      function views() {
        const parts = (app.overview?.parts ?? []).map((name, number) => [name, app.parts[number] ??= new Part(number)]);
        return [["Entities", entities], ["Transactions", transactions], ["Queries", queries], ["Layers", layers], ...parts];
      }
      app.parts = [];

      function drawTabs() {
        const names = views().map(([name]) => name).join("\n");
        if (names !== app.tabs) {
          app.tabs = names;
          place("tabs").replaceChildren(...views().map(([name, view], index) => make("button", {
            role: "tab", onclick: () => open(view).catch(report), "aria-keyshortcuts": String(index + 1)}, name)));
        }
        views().forEach(([, view], index) => {
          const tab = place("tabs").children[index];
          tab.setAttribute("aria-selected", view === app.view);
          tab.tabIndex = view === app.view ? 0 : -1;
        });
      }

      async function open(view) {
        app.moves += 1;
        app.view = view;
        view.shown = undefined;
        drawTabs();
        await view.open(place("view"));
      }

      async function show(entity) {
        entities.chosen = entity;
        if (entity.key !== undefined) entities.type = entity.key;
        const isOpen = app.view === entities;
        entities.shown = undefined;
        if (!isOpen) await open(entities).catch(report);
        else await entities.refresh().catch(report);
        if (!isOpen || matchMedia("(max-width: 900px)").matches) {
          if (document.activeElement !== entities.list.element) entities.detail.focus({preventScroll: false});
        }
      }

      async function showTransaction(number) {
        transactions.chosen = number;
        transactions.shown = undefined;
        if (app.view !== transactions) await open(transactions).catch(report);
        else { transactions.draw(); await transactions.load().catch(report); }
      }

      async function travel(number) {
        // Whether that is the present, only the store knows by now: `tick` asks it.
        app.at = number === undefined ? undefined : Math.max(app.overview.earliest, number);
        app.moves += 1;
        const move = app.moves;
        await tick();
        // Somebody may have gone elsewhere meanwhile.
        if (move !== app.moves) return;
        entities.shown = undefined;
        if (app.view !== entities) await open(entities).catch(report);
        else await entities.refresh().catch(report);
      }

      function step(by) { return travel((app.at ?? app.overview.last) + by); }

      function start() {
        place("earlier").addEventListener("click", () => step(-1));
        place("later").addEventListener("click", () => step(1));
        place("now").addEventListener("click", () => travel());
        place("time").addEventListener("input", (event) => travel(Number(event.target.value)));
        place("tabs").addEventListener("keydown", (event) => {
          const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
          if (!by) return;
          const all = views(), index = all.findIndex(([, view]) => view === app.view);
          const next = (index + by + all.length) % all.length;
          open(all[next][1]).catch(report).then(() => place("tabs").children[next].focus());
        });
        document.addEventListener("keydown", (event) => {
          if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox]), select, textarea")) return;
          const view = views()[Number(event.key) - 1];
          if (view) open(view[1]).catch(report);
          else if (event.key === "[") step(-1);
          else if (event.key === "0") travel();
          else if (event.key === "]" && app.at !== undefined) step(1);
          else if (event.key === "/") open(entities).then(() => entities.search.focus()).catch(report);
          else return;
          event.preventDefault();
        });
        const loop = async () => {
          if (!document.hidden) await tick();
          setTimeout(loop, 1000);
        };
        ask("overview").then(async (overview) => {
          app.overview = overview;
          drawState();
          await open(entities);
        }).catch(report).finally(() => setTimeout(loop, 1000));
      }
      """#
  }
#endif

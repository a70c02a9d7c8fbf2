#if Inspector
  extension InspectorPage {
    /// The graph around an entity: two levels of what contains it, and two of what it contains.
    ///
    /// The lines are SVG; the entities are buttons above them, which the keyboard reaches, and whose texts end where they are too long.
    static let graphScript = #"""
      // The entities by levels, -2 to 2, and who contains whom. Entities that are not drawn are a number, which leads to their list.
      function graphOf(answer) {
        const nodes = new Map(), edges = new Map();
        const add = (level, name, rest) => {
          const id = `${level} ${name}`;
          if (!nodes.has(id)) nodes.set(id, {id, level, ...rest});
          return nodes.get(id);
        };
        const entity = (level, one) => add(level, `${one.key} ${one.id} ${one.hash}`, {entity: one, places: new Set()});
        const connect = (far, near, side, place) => {
          const [from, to] = side === "parents" ? [far, near] : [near, far];
          const edge = edges.get(`${from.id}\n${to.id}`) ?? {from, to, places: new Set()};
          edge.places.add(place);
          far.places?.add(place);
          edges.set(`${from.id}\n${to.id}`, edge);
        };
        const more = (level, near, side, count) => {
          if (count > 0) connect(add(level, `more of ${near.id}`, {count, side, of: near.entity}), near, side, "");
        };
        const middle = entity(0, answer.entity);
        for (const [side, sign] of [["parents", -1], ["children", 1]]) {
          const drawn = answer.keepers[side].filter((one) => one.next);
          for (const one of drawn) {
            const near = entity(sign, one.entity);
            connect(near, middle, side, one.place);
            for (const two of one.next) connect(entity(2 * sign, two.entity), near, side, two.place);
            more(2 * sign, near, side, one.nextCount - one.next.length);
          }
          more(sign, middle, side, answer.keepers[`${side === "parents" ? "parent" : "child"}Count`] - drawn.length);
        }
        return {nodes: [...nodes.values()], edges: [...edges.values()]};
      }

      const nameOf = (entity) => `${entity.type} ${entity.id}`;
      function nodeText(node) {
        if (node.entity) return nameOf(node.entity);
        return `${plural(node.count, "more place", "more places")} ${node.side === "parents" ? "that contain" : "in"} ${nameOf(node.of)}`;
      }

      // What the graph shows, in words.
      function graphText({nodes, edges}) {
        const middle = nodes.find((node) => node.level === 0);
        if (nodes.length === 1) return `${nodeText(middle)} is in no other entity, and contains none.`;
        return `What contains ${nodeText(middle)}, and what it contains. ` + edges.map(({from, to, places}) =>
          from.entity && to.entity ? `${nodeText(from)} contains ${nodeText(to)} as ${[...places].join(", ")}.` :
            `There are ${nodeText(from.entity ? to : from)}.`).join(" ");
      }

      // Side by side where there is room, what contains on the left; otherwise one below the other, what is contained further to the right.
      function layOut({nodes, edges}, width) {
        const row = 46, height = 38;
        const levels = [...new Set(nodes.map((node) => node.level))].sort((a, b) => a - b);
        if (width >= 520) {
          const gap = 40, box = Math.min(200, (width - gap * (levels.length - 1)) / levels.length);
          const columns = levels.map((level) => nodes.filter((node) => node.level === level));
          const rows = Math.max(...columns.map((column) => column.length));
          const left = (width - box * levels.length - gap * (levels.length - 1)) / 2;
          columns.forEach((column, index) => column.forEach((node, place) => Object.assign(node, {
            x: left + index * (box + gap), y: (place + (rows - column.length) / 2) * row, width: box, height})));
          for (const edge of edges) {
            const [x1, y1, x2, y2] = [edge.from.x + box, edge.from.y + height / 2, edge.to.x, edge.to.y + height / 2];
            edge.path = `M${x1},${y1}C${(x1 + x2) / 2},${y1} ${(x1 + x2) / 2},${y2} ${x2},${y2}`;
          }
          return {isWide: true, nodes: columns.flat(), height: rows * row};
        }
        // What is behind an entity stands beside it.
        const behind = (near) => nodes.filter((node) => Math.abs(node.level) === 2 && edges.some(({from, to}) =>
          from === near && to === node || to === near && from === node));
        const order = new Set();
        for (const near of nodes.filter((node) => node.level === -1)) [...behind(near), near].forEach((node) => order.add(node));
        order.add(nodes.find((node) => node.level === 0));
        for (const near of nodes.filter((node) => node.level === 1)) [near, ...behind(near)].forEach((node) => order.add(node));
        const step = 22, tall = 52;
        [...order].forEach((node, place) => {
          const x = levels.indexOf(node.level) * step;
          Object.assign(node, {x, y: place * tall, width: width - x, height: 44});
        });
        for (const edge of edges) {
          const [x, y] = [edge.from.x + 10, edge.to.y + 22];
          edge.path = `M${x},${edge.from.y + 44}V${y}H${edge.to.x}`;
        }
        return {isWide: false, nodes: [...order], height: order.size * tall};
      }

      function drawn(tag, attributes, ...children) {
        const element = document.createElementNS(place("drawing").namespaceURI, tag);
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        element.append(...children);
        return element;
      }

      function graphView(answer) {
        const graph = graphOf(answer);
        const text = graphText(graph);
        if (graph.nodes.length === 1) return make("p", {class: "soft", id: "graph"}, text);
        const box = make("div", {id: "graph", role: "group", "aria-label": "Graph"});
        // Before the box has a place its width is that of the view, without the margins.
        let shown = 0;
        const draw = (width) => {
          if (width <= 0 || width === shown) return;
          shown = width;
          const focus = focusPath(box);
          const place = layOut(graph, width);
          box.style.height = `${place.height}px`;
          box.replaceChildren(
            drawn("svg", {role: "img", "aria-label": text, width, height: place.height},
              ...graph.edges.map((edge) => drawn("path", {d: edge.path, class: "edge"}))),
            ...place.nodes.map((node) => graphNode(node)));
          box.onkeydown = (event) => moveInGraph(event, box, graph, place);
          if (focus) restoreFocus(box, focus);
        };
        draw(entities.detail.clientWidth - 24 - 16);
        new ResizeObserver(() => draw(box.clientWidth)).observe(box);
        return box;
      }

      function graphNode(node) {
        const isThis = node.level === 0;
        const places = [...node.places ?? []].join(", ");
        const far = Math.abs(node.level) === 2 ? " further away" : "";
        const about = !node.entity ? nodeText(node) : isThis ? `${nodeText(node)}, this entity` :
          `${nodeText(node)}, ${node.level < 0 ? "contains" : "contained"}${far} as ${places}`;
        const element = make("button", {
          class: isThis ? "node this" : "node", "data-purpose": `graph ${node.id}`, "data-level": node.level, "aria-label": about, title: about,
          // One of them is reached with Tab, and the others from there with the arrow keys.
          tabindex: isThis ? "0" : "-1", "aria-current": isThis ? "true" : undefined,
          onclick: () => node.entity ? !isThis && show(node.entity) : showNeighbours(node.of, node.side).catch(report)},
          node.entity ? [make("b", {}, node.entity.id), make("small", {}, [node.entity.type, places].filter(Boolean).join(" · "))] :
            `${node.count.toLocaleString("en")} more`);
        Object.assign(element.style, {left: `${node.x}px`, top: `${node.y}px`, width: `${node.width}px`, height: `${node.height}px`});
        node.element = element;
        return element;
      }

      // Left to what contains an entity, right to what it contains, up and down among those beside it.
      function moveInGraph(event, box, {edges}, {isWide, nodes}) {
        const now = nodes.find((node) => node.element === document.activeElement);
        if (!now) return;
        const line = isWide ? nodes.filter((node) => node.level === now.level) : nodes;
        const next = {
          ArrowUp: () => line[line.indexOf(now) - 1],
          ArrowDown: () => line[line.indexOf(now) + 1],
          ArrowLeft: () => edges.find((edge) => edge.to === now)?.from,
          ArrowRight: () => edges.find((edge) => edge.from === now)?.to,
        }[event.key]?.();
        if (!next) return;
        event.preventDefault();
        for (const node of nodes) node.element.tabIndex = node === next ? 0 : -1;
        next.element.focus();
      }

      // Opens the list of all on one side of an entity.
      async function showNeighbours(entity, side) {
        if (JSON.stringify(entity) !== entities.openedOf) await show(entity);
        entities.openSide?.(side);
      }
      """#
  }
#endif

#if Inspector
  extension InspectorPage {
    static let style = #"""
      :root {
        color-scheme: light dark;
        --paper: #f5f6f8; --card: #ffffff; --ink: #1c2026; --soft: #5d6673; --line: #dde1e7; --chosen: #e3ecfb;
        --accent: #1f57b8; --on-accent: #ffffff; --good: #1d6b3f; --bad: #a8281f; --warn: #8a5a00; --past: #fff3d6;
        --mono: ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace;
        font: 15px/1.45 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
      }
      @media (prefers-color-scheme: dark) {
        :root {
          --paper: #14161a; --card: #1c1f25; --ink: #e6e9ee; --soft: #9aa4b2; --line: #333944; --chosen: #22314d;
          --accent: #86b1ff; --on-accent: #10192b; --good: #7fd3a0; --bad: #ff9a8f; --warn: #e4b660; --past: #3a3019;
        }
      }
      * { box-sizing: border-box; margin: 0; }
      [hidden] { display: none !important; }
      html, body { height: 100%; }
      body { background: var(--paper); color: var(--ink); display: flex; flex-direction: column; gap: 10px; padding: 12px 16px; }
      h1 { font-size: 1.15rem; } h1 small { font-weight: 400; color: var(--soft); }
      h2 { font-size: 1.05rem; overflow-wrap: anywhere; }
      h3 { font-size: .78rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin: 14px 0 4px; }
      header { display: flex; align-items: center; gap: 8px 18px; flex-wrap: wrap; }
      #state { margin-left: auto; color: var(--soft); font-size: .85rem; }
      nav { display: flex; gap: 4px; flex-wrap: wrap; }
      button, input, select {
        font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
        padding: 4px 11px; min-height: 36px;
      }
      button { cursor: pointer; } button:disabled { opacity: .45; cursor: default; }
      button:hover:not(:disabled) { border-color: var(--accent); }
      [role=tab][aria-selected=true] { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
      :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
      input[type=search] { width: 100%; } ::placeholder { color: var(--soft); opacity: 1; }
      #travel { display: flex; align-items: center; gap: 8px; }
      #travel input { flex: 1; min-width: 60px; padding: 0; border: 0; background: none; accent-color: var(--accent); }
      #moment { color: var(--soft); font-size: .85rem; min-width: 10rem; }
      .past #travel { background: var(--past); border-radius: 8px; padding: 2px 8px; }
      main { flex: 1; min-height: 0; display: grid; gap: 12px; }
      main.entities { grid-template-columns: 15rem minmax(16rem, 1fr) minmax(24rem, 1.7fr); }
      main.transactions { grid-template-columns: minmax(20rem, 1fr) minmax(24rem, 1.3fr); }
      section {
        background: var(--card); border: 1px solid var(--line); border-radius: 12px; min-height: 0; min-width: 0;
        display: flex; flex-direction: column;
      }
      section > .top { padding: 10px 12px 6px; display: flex; gap: 8px; align-items: center; }
      .scroll { overflow: auto; flex: 1; min-height: 0; padding: 0 12px 14px; scrollbar-width: thin; overflow-wrap: anywhere; }
      section > .scroll:first-child { padding-top: 10px; }
      section > .list, section > .list:first-child { padding: 0; position: relative; }
      label { display: flex; gap: 6px; align-items: center; } input[type=checkbox] { min-height: 0; }
      section > .top > label { margin-left: auto; font-size: .85rem; }
      .rows { position: relative; }
      .row {
        display: block; width: 100%; padding: 5px 12px; border: 0; border-top: 1px solid var(--line); border-radius: 0;
        background: none; text-align: left; cursor: pointer;
      }
      .rows .row { position: absolute; left: 0; right: 0; height: 48px; overflow: hidden; }
      .row[aria-selected=true], .row[aria-current=true] { background: var(--chosen); }
      .row b, .row span { display: block; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
      .row b { font-weight: 600; } .row span { color: var(--soft); font-size: .84rem; }
      .flat b { display: flex; justify-content: space-between; gap: 8px; }
      .flat .row:focus-visible { outline-offset: -2px; }
      .flat .row > span { white-space: normal; }
      .row b .what { color: var(--ink); font-size: 1rem; } .row b .count { flex: none; }
      .count { color: var(--soft); font-weight: 400; font-variant-numeric: tabular-nums; }
      .empty { color: var(--soft); padding: 8px 0; }
      .mono, .value { font-family: var(--mono); font-size: .85rem; }
      .value ul { list-style: none; padding-left: 16px; border-left: 1px solid var(--line); }
      .value .name { color: var(--soft); }
      .value .text { white-space: pre-wrap; }
      .link {
        display: inline; min-height: 0; padding: 0 5px; border-color: transparent; background: var(--chosen); text-align: left;
        border-radius: 6px; overflow-wrap: anywhere; margin: 1px 0;
      }
      .facts { list-style: none; padding: 0; display: grid; gap: 5px; }
      .place { font-family: var(--mono); font-size: .85rem; color: var(--good); }
      .soft { color: var(--soft); } .bad { color: var(--bad); } .warn { color: var(--warn); }
      .near { display: grid; grid-template-columns: 1fr auto 1fr; gap: 6px 18px; align-items: center; margin-top: 6px; }
      .near > div { display: flex; flex-direction: column; gap: 4px; min-width: 0; }
      .near > div:first-child { align-items: flex-end; text-align: right; }
      .near > .this { border: 2px solid var(--accent); border-radius: 10px; padding: 6px 10px; max-width: 14rem; position: relative; }
      .near.open { grid-template-columns: minmax(0, 1fr); }
      .near .list {
        flex: none; align-self: stretch; height: 20rem; padding: 0; position: relative; text-align: left; border: 1px solid var(--line);
        border-radius: 8px;
      }
      .near small { color: var(--soft); display: block; }
      #graph { position: relative; margin: 6px 0 12px; }
      #graph svg { display: block; } #graph .edge { fill: none; stroke: var(--soft); stroke-width: 1.5; }
      .node { position: absolute; padding: 1px 8px; min-height: 0; text-align: left; line-height: 1.25; overflow: hidden; }
      .node.this { border: 2px solid var(--accent); }
      .node b, .node small { display: block; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
      .node b { font-weight: 600; font-size: .88rem; } .node small { color: var(--soft); }
      table { border-collapse: collapse; width: 100%; font-size: .85rem; }
      td, th { text-align: left; vertical-align: top; padding: 3px 8px 3px 0; border-top: 1px solid var(--line); }
      td { font-family: var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
      th { overflow-wrap: normal; } td:first-child { min-width: 6.5rem; }
      td.old { color: var(--bad); } td.new { color: var(--good); }
      .card { border-top: 1px solid var(--line); padding: 10px 0; }
      .card p { overflow-wrap: anywhere; }
      .buttons { display: flex; gap: 6px; margin-top: 6px; }
      #problem { background: var(--bad); color: var(--card); padding: 6px 12px; border-radius: 8px; }
      @media (max-width: 900px) {
        html, body { height: auto; }
        body { padding: 10px; }
        main.entities, main.transactions { grid-template-columns: minmax(0, 1fr); }
        main .list { max-height: 21rem; } section .scroll { overflow: auto; }
        main.entities > section:first-child .list { max-height: 12rem; }
        #state { margin-left: 0; flex-basis: 100%; }
        #moment { min-width: 0; flex-basis: 100%; order: 5; } #travel { flex-wrap: wrap; }
        .near { grid-template-columns: minmax(0, 1fr); } .near > .this { max-width: none; }
        .near > div:first-child { align-items: flex-start; text-align: left; }
        .near.open > div:first-child { align-items: stretch; }
        button, input, .row { min-height: 44px; } .link { min-height: 32px; }
      }
      """#
  }
#endif

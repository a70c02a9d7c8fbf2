// The page shows what the client process tells it, and changes nothing by itself: every value on it comes from the client's store.
"use strict";

const element = (id) => document.getElementById(id);
const rows = new Map();
let chosen = null;
let author = null;
let isOnline = true;
let waiting = new Set();

// ---- Showing

const price = (cents) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
const rating = (row) => row.reviews ? `★ ${(row.stars / 10).toFixed(1)} (${row.reviews})` : "no reviews";

// A place that says something of a book or an author. What has just changed is highlighted.
function say(place, fact, text) {
  const isSame = place.dataset.fact === fact;
  place.dataset.fact = fact;
  if (place.textContent === text) return;
  place.textContent = text;
  if (!isSame) return;
  place.classList.remove("fresh");
  void place.offsetWidth;
  place.classList.add("fresh");
}

const make = (classes, ...children) => {
  const node = document.createElement("li");
  node.className = "row " + classes;
  for (const name of children) {
    const child = document.createElement("span");
    child.className = name;
    node.append(child);
  }
  return node;
};

// Makes a list's children those of the items, and keeps the ones that are there already.
function show(list, items, key, create, fill) {
  const known = new Map([...list.children].map((node) => [node.dataset.key, node]));
  items.forEach((item, index) => {
    const name = key(item);
    const node = known.get(name) ?? create(item);
    known.delete(name);
    node.dataset.key = name;
    fill(node, item);
    if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null);
  });
  for (const node of known.values()) node.remove();
}

function showList(changed) {
  const list = element("list");
  const isFirst = list.children.length === 0;
  for (const row of changed) {
    let node = rows.get(row.id);
    if (!node) {
      node = make("", "first", "price-cell", "second", "second right");
      node.id = "list-" + row.id;
      node.dataset.book = row.id;
      node.dataset.number = row.number;
      node.setAttribute("role", "option");
      node.setAttribute("aria-selected", "false");
      rows.set(row.id, node);
      const after = isFirst ? null : [...list.children].find((other) => +other.dataset.number > row.number);
      list.insertBefore(node, after ?? null);
    }
    const [title, cents, name, stars] = node.children;
    say(title, `book ${row.id} title`, row.title);
    say(cents, `book ${row.id} price`, price(row.cents));
    say(name, `author ${row.authorID} name`, row.author);
    say(stars, `book ${row.id} reviews`, rating(row));
  }
  element("count").textContent = rows.size ? `${rows.size} books` : "";
}

function showBook(book) {
  const row = book.row;
  element("book").hidden = false;
  say(element("book-title"), `book ${row.id} title`, row.title);
  say(element("book-author"), `author ${row.authorID} name`, row.author);
  element("book-meta").textContent = [book.year, book.language, ...book.subjects].join(" · ");
  say(element("book-price"), `book ${row.id} price`, price(row.cents));
  say(element("book-reviews"), `book ${row.id} reviews`, rating(row));
  show(element("reviews"), book.reviews, (review) => review.id, () => make("", "first wraps", "second right"),
    (node, review) => {
      node.children[0].textContent = review.text;
      node.children[1].textContent = `${"★".repeat(review.stars)} ${review.by}`;
    });
  if (chosen !== row.id) choose(row.id);
}

function choose(id) {
  rows.get(chosen)?.setAttribute("aria-selected", "false");
  chosen = id;
  const node = rows.get(id);
  if (!node) return;
  node.setAttribute("aria-selected", "true");
  element("list").setAttribute("aria-activedescendant", node.id);
  keepInView(element("list"), node);
}

// Scrolls the list only, never the page.
function keepInView(list, node) {
  const top = node.offsetTop - list.offsetTop;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + node.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top + node.offsetHeight - list.clientHeight;
  }
}

function showAuthor(shown) {
  element("author").hidden = false;
  say(element("author-title"), `author ${shown.id} name`, shown.name);
  const field = element("rename").elements.name;
  if (author?.id !== shown.id || document.activeElement !== field) field.value = shown.name;
  author = shown;
  show(element("author-books"), shown.books, (row) => row.id,
    () => make("", "first", "price-cell", "second", "second right"),
    (node, row) => {
      node.dataset.book = row.id;
      const [title, cents, name, stars] = node.children;
      say(title, `book ${row.id} title`, row.title);
      say(cents, `book ${row.id} price`, price(row.cents));
      say(name, `author ${row.authorID} name`, row.author);
      say(stars, `book ${row.id} reviews`, rating(row));
    });
}

function showCart(cart) {
  show(element("cart"), cart.lines, (line) => line.book.id, () => make("", "first", "price-cell", "second", "second right"),
    (node, { book, copies }) => {
      node.dataset.book = book.id;
      const [title, cents, name, count] = node.children;
      say(title, `book ${book.id} title`, book.title);
      say(cents, `book ${book.id} price`, price(book.cents));
      say(name, `author ${book.authorID} name`, book.author);
      say(count, `cart ${book.id} copies`, `× ${copies}`);
    });
  element("copies").textContent = cart.copies === 1 ? "1 copy" : `${cart.copies} copies`;
  say(element("total"), "cart total", price(cart.cents));
}

function showOutbox(outbox) {
  element("pending-count").textContent = outbox.pending.length ? `${outbox.pending.length} waiting` : "empty";
  element("refused-count").textContent = outbox.refused.length ? String(outbox.refused.length) : "none";
  show(element("pending"), outbox.pending, (entry) => entry.key, () => make("", "first", "reason"), (node, entry) => {
    node.children[0].textContent = entry.summary;
    node.children[1].textContent = entry.reason ?? "";
  });
  show(element("refused"), outbox.refused, (entry) => entry.key, makeRefused, (node, entry) => {
    node.querySelector(".first").textContent = entry.summary;
    node.querySelector(".reason").textContent = entry.reason ?? "";
  });
  waiting = new Set(outbox.pending.map((entry) => entry.subject));
}

function makeRefused(entry) {
  const node = make("", "text");
  const text = node.firstChild;
  for (const name of ["first", "reason"]) {
    const line = document.createElement("div");
    line.className = name;
    text.append(line);
  }
  for (const [label, path] of [["Try again", "/retry"], ["Drop", "/drop"]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.onclick = () => send(path, { key: entry.key });
    node.append(button);
  }
  return node;
}

function showStatus(status) {
  isOnline = status.isOnline;
  for (const [id, isOn] of [["online", status.isOnline], ["refusing", status.isRefusing]]) {
    element(id).setAttribute("aria-checked", isOn);
    element(id).disabled = false;
  }
  const text = !status.isOnline ? "offline: what you do waits in the outbox"
    : status.isConnected ? `following ${status.serverURL}` : `looking for ${status.serverURL}`;
  element("connection").textContent = text;
  element("customer").textContent = status.customer;
}

// What waits for the server has a dot.
function markWaiting() {
  for (const node of document.querySelectorAll(".row[data-book]")) {
    node.classList.toggle("waits", waiting.has(node.dataset.book));
  }
}

let isBroken = false;
const live = new EventSource("/live");
live.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.rows) showList(message.rows);
  if (message.book) showBook(message.book);
  if (message.author) showAuthor(message.author);
  if (message.cart) showCart(message.cart);
  if (message.outbox) showOutbox(message.outbox);
  if (message.status) showStatus(message.status);
  markWaiting();
  if (isBroken) notify("The client is back.");
  isBroken = false;
  document.documentElement.dataset.messages = 1 + +(document.documentElement.dataset.messages ?? 0);
};
live.onerror = () => {
  if (!isBroken) element("connection").textContent = "the client has ended; waiting for it";
  isBroken = true;
};

// ---- Doing

let hiding;
function notify(text) {
  const notice = element("notice");
  notice.textContent = text;
  notice.classList.add("shown");
  clearTimeout(hiding);
  hiding = setTimeout(() => notice.classList.remove("shown"), 5000);
}

async function send(path, body) {
  try {
    const response = await fetch(path, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    if (response.ok) return true;
    const text = await response.text();
    notify(text ? JSON.parse(text).error : `The client answered ${response.status}.`);
  } catch {
    notify("The client cannot be reached.");
  }
  return false;
}

const toggle = (id) => () => send("/" + id, { isOn: element(id).getAttribute("aria-checked") !== "true" });
element("online").onclick = toggle("online");
element("refusing").onclick = toggle("refusing");
element("kill").onclick = () => fetch("/kill", {
  method: "POST", headers: { "Content-Type": "application/json" }, body: "{}",
}).catch(() => notify("The client is killed. What was done is in its file."));

element("list").onclick = ({ target }) => {
  const node = target.closest(".row");
  if (node) send("/select", { book: node.dataset.book });
};
element("list").onkeydown = (event) => {
  const nodes = [...element("list").children];
  const place = nodes.indexOf(rows.get(chosen));
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -nodes.length, End: nodes.length };
  if (!(event.key in steps) || !nodes.length) return;
  event.preventDefault();
  const next = nodes[Math.min(Math.max(0, place + steps[event.key]), nodes.length - 1)];
  choose(next.dataset.book);
  send("/select", { book: next.dataset.book });
};

for (const button of document.querySelectorAll("[data-cents]")) {
  button.onclick = async () => {
    const wasOnline = isOnline;
    const isDone = await send("/price", { book: chosen, cents: +button.dataset.cents });
    if (isDone && !wasOnline) notify("The server has another price now. This client hears of it when it is online.");
  };
}
element("buy").onclick = () => send("/cart", { book: chosen });
element("review").onsubmit = async (event) => {
  event.preventDefault();
  const form = event.target;
  if (await send("/review", { book: chosen, stars: +form.stars.value, text: form.text.value })) form.text.value = "";
};
element("rename").onsubmit = (event) => {
  event.preventDefault();
  if (author) send("/rename", { author: author.id, name: event.target.elements.name.value });
};

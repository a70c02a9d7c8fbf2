"""Drives the inspector of the example's store in a headless Chromium, mostly with the keyboard alone.

Usage: inspector.py PROGRAM [FOLDER]   (FOLDER: where pictures of the page go)
"""
import json
import os
import sys
import tempfile
import time
import urllib.request

import browser
from page import Failure, Program, refuses

EVIL = "<img src=x onerror='document.title=1'></script><script>document.title=2</script>"


class Inspected:
    def __init__(self, chromium, path, folder, pictures):
        self.chromium, self.path, self.folder, self.pictures = chromium, path, folder, pictures

    def start(self):
        path, folder = self.path, self.folder
        self.server = Program(path, "serve", "--port", "0", "--store", f"{folder}/server")
        self.client = Program(path, "page", "--server", self.server.url, "--store", f"{folder}/client", "--port", "0")
        self.shop = self.client.url.strip("/")
        # The page redirects to the inspector, whose address nobody can guess.
        with urllib.request.urlopen(f"{self.shop}/inspector", timeout=10) as answer:
            self.url = answer.url

    def open(self):
        self.chromium.open(self.url)
        self.until("the entities", "document.querySelector('#types [data-key$=\".Book\"]') !== null")

    def until(self, what, script):
        latest = time.monotonic() + 30
        while not self.chromium.evaluate(script):
            if time.monotonic() > latest:
                raise Failure(f"this has not come: {what}")
            time.sleep(0.02)

    def shows(self, selector, text):
        self.until(f"'{text}' in {selector}",
                   f"(document.querySelector({json.dumps(selector)})?.textContent ?? '').includes({json.dumps(text)})")

    def text(self, selector):
        return self.chromium.evaluate(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def keys(self, *keys):
        for key in keys:
            self.chromium.press(key)

    def focus_on(self, script):
        """Presses Tab until an element has the keyboard, as a person would without a mouse."""
        for _ in range(200):
            if self.chromium.evaluate(f"(() => {{ const active = document.activeElement; return {script}; }})()"):
                return
            self.chromium.press("Tab")
        raise Failure(f"the keyboard does not get to {script}")

    def tell(self, command, body):
        """Does something in the shop, as its page would."""
        request = urllib.request.Request(f"{self.shop}/{command}", data=json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            if answer.status >= 300:
                raise Failure(f"{command} was answered {answer.status}")


def say(text):
    print(f"    {text}", flush=True)


def picture(page, name):
    if not page.pictures:
        return
    for width, height in ((1400, 900), (390, 844)):
        for scheme in ("light", "dark"):
            page.chromium.look(width, height, scheme)
            time.sleep(0.3)
            page.chromium.picture(f"{page.pictures}/inspector-{name}-{width}-{scheme}.png", whole=width < 600)
    page.chromium.look(1400, 900)


# What is wrong with the graph as it is drawn: entities that lie on each other or outside of it, or whose text is too high.
CROWDED = """(() => {
  const graph = document.querySelector("#graph").getBoundingClientRect();
  const nodes = [...document.querySelectorAll("#graph .node")];
  const boxes = nodes.map((node) => node.getBoundingClientRect());
  const wrong = [];
  boxes.forEach((a, i) => {
    if (a.left < graph.left - 1 || a.right > graph.right + 1 || a.top < graph.top - 1 || a.bottom > graph.bottom + 1) wrong.push(`${nodes[i].title} is outside`);
    if (nodes[i].scrollHeight > nodes[i].clientHeight || a.width < 80) wrong.push(`${nodes[i].title} has no room`);
    boxes.slice(0, i).forEach((b, j) => {
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) wrong.push(`${nodes[i].title} lies on ${nodes[j].title}`);
    });
  });
  return {wrong, count: nodes.length, lines: document.querySelectorAll("#graph path").length};
})()"""


def check_graph(page, width):
    found = page.chromium.evaluate(CROWDED)
    if found["wrong"] or found["count"] < 2 or found["lines"] < found["count"] - 1:
        raise Failure(f"the graph at {width} points: {found}")


def graph(page):
    """The graph with the keyboard: from a book to its author, and to a book of hers."""
    chromium = page.chromium
    text = chromium.evaluate("document.querySelector('#graph svg').getAttribute('aria-label')")
    if "contains Author" not in text or chromium.evaluate("[...document.querySelectorAll('#graph .node')].some((node) => !node.ariaLabel)"):
        raise Failure(f"the graph has no text: {text}")
    page.focus_on("active.matches('#graph .node')")
    if not chromium.evaluate("document.activeElement.classList.contains('this')"):
        raise Failure("the keyboard does not come to the graph at the entity itself")
    page.keys("ArrowRight")
    page.until("the author has the keyboard", "document.activeElement.dataset.level === '1'")
    page.keys("Enter")
    page.shows("#entity h2", "Author")
    page.focus_on("active.matches('#graph .node')")
    page.keys("ArrowLeft", "ArrowDown", "ArrowUp", "ArrowDown")
    page.until("a book has the keyboard", "document.activeElement.dataset.level === '-1' && document.activeElement.textContent.endsWith('Book · author')")
    for width, height in ((1400, 900), (390, 844), (320, 640)):
        for scheme in ("light", "dark"):
            chromium.look(width, height, scheme)
            page.until(f"the graph at {width} points", "Math.abs(document.querySelector('#graph svg').clientWidth - document.querySelector('#graph').clientWidth) < 2")
            check_graph(page, width)
            found = chromium.evaluate(PALE)
            if found["pale"]:
                raise Failure(f"the graph at {width} points, {scheme}: {found['pale']}")
            if not chromium.evaluate("document.activeElement.dataset.level === '-1'"):
                raise Failure(f"at {width} points the graph has lost the keyboard")
    picture(page, "graph")
    chromium.look(1400, 900)
    page.keys("Enter")
    page.shows("#entity h2", "Book ")
    say("A graph shows two levels of what is around an entity; one goes from one to the next with the keyboard")


def search_book(page):
    page.keys("/")
    page.until("the search", "document.activeElement.id === 'search'")
    page.chromium.command("Input.insertText", text="pride and prejudice")
    page.until("one book", "document.querySelector('#entity-0')?.ariaSetSize === '1'")
    page.focus_on("active.getAttribute('role') === 'listbox'")
    page.keys("Home")
    page.shows("#entity h2", "Book")
    page.shows("#value", "Pride and Prejudice")


def link(page):
    chromium = page.chromium
    chromium.open(page.shop)
    page.until("the link of the shop's page to the inspector", "document.querySelector('a[href=\"/inspector\"]')?.checkVisibility() === true")


def entities(page):
    chromium = page.chromium
    page.open()
    page.focus_on("active.dataset.key !== undefined")
    first = chromium.evaluate("document.activeElement.dataset.key")
    page.keys("ArrowDown")
    if chromium.evaluate("document.activeElement.dataset.key") in (first, None):
        raise Failure("the arrow keys do not move in the list of types")
    page.focus_on("active.dataset.key?.endsWith('.Book')")
    page.keys("Enter")
    page.until("the books", "+document.querySelector('#entity-0')?.ariaSetSize > 500")
    rows = chromium.evaluate("document.querySelectorAll('[role=option]').length")
    if rows > 60:
        raise Failure(f"{rows} rows are drawn, though few are seen")
    page.focus_on("active.getAttribute('role') === 'listbox'")
    page.keys("End")
    page.until("the last book", "document.querySelector('[role=option][aria-selected=true]')?.ariaPosInSet === "
                                "document.querySelector('[role=option]').ariaSetSize")
    page.keys("Home")
    page.until("the first book", "document.querySelector('[role=option][aria-selected=true]')?.ariaPosInSet === '1'")
    say("Types and entities are chosen with the keyboard; of many only what is seen is drawn")

    search_book(page)
    page.shows("#near", "Author")
    page.shows("#keepers", ".swift:")
    say("An entity shows its value, its neighbours, and who observes it, with the file and the line")
    picture(page, "entity")
    graph(page)
    search_book(page)

    title = page.text("#entity h2")
    page.focus_on("active.classList.contains('link')")
    page.keys("Enter")
    page.until("the author", f"document.querySelector('#entity h2').textContent !== {json.dumps(title)}")
    page.shows("#keepers", "Contained in")
    page.shows("#path", "Reached from outside by")
    say("One gets from an entity to those around it, and sees why those are alive")


def transactions(page):
    chromium = page.chromium
    page.keys("2")
    # What a slow machine does at the start may come too fast to be recorded: the states before that cannot be looked at.
    page.focus_on("active.id === 'everything'")
    page.keys(" ")
    page.until("everything is recorded", "app.overview.recordsEverything")
    for text in ("Read twice.", "Read three times.", EVIL):
        page.tell("review", {"book": first_book(page), "stars": 5, "text": text})
    page.keys("2")
    page.shows("#log", "Review")
    page.focus_on("active.dataset.number !== undefined")
    page.keys("Enter")
    page.shows("#transaction h2", "Transaction")
    page.shows("#written", "At ")
    number = int(page.text("#transaction h2").split(" ")[1])
    until_evil = "[...document.querySelectorAll('td.new')].some((cell) => cell.textContent === " + json.dumps(EVIL) + ")"
    for _ in range(20):
        if chromium.evaluate(until_evil):
            break
        page.focus_on("active.dataset.number !== undefined")
        page.keys("ArrowDown", "Enter")
        time.sleep(0.2)
    else:
        raise Failure("the review is in no transaction")
    picture(page, "transaction")
    chromium.look(390, 844)
    if chromium.evaluate("[...document.querySelectorAll('th')].some((cell) => cell.offsetHeight > 30)"):
        raise Failure("on a phone the heads of columns are broken into letters")
    chromium.look(1400, 900)
    if chromium.evaluate("document.querySelectorAll('img').length") or page.chromium.evaluate("document.title") != "Concord Inspector":
        raise Failure("a value was taken for HTML")
    say("A transaction shows old and new values; what looks like HTML is text")

    number = int(page.text("#transaction h2").split(" ")[1])
    page.focus_on("active.id === 'before'")
    page.keys("Enter")
    page.shows("#moment", f"after transaction {number - 1} of")
    page.until("a view of the past", "document.body.classList.contains('past')")
    if chromium.evaluate("document.querySelector('#keepers') !== null"):
        raise Failure("the past shows who observes now")
    picture(page, "past")
    page.keys("[")
    page.shows("#moment", f"after transaction {number - 2} of")
    page.keys("]", "]")
    page.until("one transaction later", f"!document.querySelector('#moment').textContent.includes('transaction {number - 2} ')")
    page.keys("0")
    page.shows("#moment", "the present")
    say("One steps through the transactions, and comes back")


def first_book(page):
    """The id of a book, as the list shows it."""
    page.keys("1")
    page.until("the list", "document.querySelector('#entity-0 b') !== null")
    key = page.chromium.evaluate("[...document.querySelectorAll('#types .row')].map((row) => row.dataset.key).find((key) => key.endsWith('.Book'))")
    return page.chromium.evaluate(
        f"fetch('api/entities?limit=1&type=' + encodeURIComponent({json.dumps(key)})).then((answer) => answer.json()).then((list) => list.items[0].id)")


def parts(page):
    page.keys("3")
    page.shows("#view h2", "Live queries")
    picture(page, "queries")
    page.keys("4")
    page.shows("#view h2", "Optimistic layers")
    page.tell("online", {"isOn": False})
    book = first_book(page)
    for _ in range(3):
        page.tell("cart", {"book": book})
    page.keys("4")
    page.shows("#layers", "Layer 1 changes")
    page.shows("#layers", "Layer 3 changes")
    picture(page, "layers")
    page.focus_on("active.closest('#layers') && active.classList.contains('link')")
    changed = page.chromium.evaluate("document.activeElement.textContent")
    page.keys("Enter")
    page.shows("#entity h2", changed)
    page.shows("#keepers", "Changed by optimistic layer 1")
    page.keys("5")
    page.shows("#part", "Book (query 1)")
    page.keys("6")
    page.shows("#part .card", "add-to-cart")
    page.tell("refusing", {"isOn": True})
    page.tell("online", {"isOn": True})
    page.until("a dead letter", "document.querySelector('#part .bad') !== null")
    page.shows("#part", "Dead letters (3)")
    picture(page, "outbox")
    page.tell("refusing", {"isOn": False})
    page.focus_on("active.textContent === 'Retry'")
    page.keys("Enter")
    page.shows("#part", "Dead letters (2)")
    page.shows("#part", "Everything is sent.")
    page.focus_on("active.textContent === 'Drop'")
    page.keys("Enter")
    page.shows("#part", "Dead letters (1)")
    if page.chromium.evaluate("document.activeElement.tagName === 'BUTTON'"):
        raise Failure("whoever presses the key again drops the letter that has taken the place of the other one")
    page.focus_on("active.textContent === 'Drop'")
    page.keys("Enter")
    page.shows("#part", "Nothing was refused.")
    page.keys("7")
    page.shows("#part .card", "Up to date")
    page.shows("#part", "books")
    picture(page, "sync")
    say("Queries, layers, the outbox and synchronisation are shown; dead letters are sent again and dropped with the keyboard")


# The texts that are not told apart from what is behind them: WCAG 2.2, 1.4.3.
PALE = """(() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const light = (colour) => {
    const [r, g, b] = channels(colour).map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (channels(colour)[3] !== 0) return colour;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(0, 0, 0)" : "rgb(255, 255, 255)";
  };
  const pale = [];
  let count = 0;
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim()) || element.placeholder;
    if (!hasText || !element.getClientRects().length || element.disabled || element.tagName === "SCRIPT") continue;
    const colour = element.placeholder ? getComputedStyle(element, "::placeholder").color : getComputedStyle(element).color;
    const [a, b] = [light(colour), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    count += 1;
    if (ratio < 4.5) pale.push(`${ratio.toFixed(2)}: ${(element.textContent || element.placeholder).slice(0, 40)} (${colour} on ${behind(element)})`);
  }
  return {pale: [...new Set(pale)], count};
})()"""


def widths(page):
    chromium = page.chromium
    papers = set()
    for key in "1234567":
        page.keys(key)
        time.sleep(0.3)
        for width, height in ((1400, 900), (390, 844), (320, 640)):
            for scheme in ("light", "dark"):
                chromium.look(width, height, scheme)
                if chromium.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    raise Failure(f"view {key} is wider than {width} points")
                found = chromium.evaluate(PALE)
                if found["pale"] or found["count"] < 8:
                    raise Failure(f"view {key}, {scheme}: of {found['count']} texts these are pale: {found['pale']}")
                papers.add((scheme, chromium.evaluate("getComputedStyle(document.body).backgroundColor")))
        picture(page, f"view-{key}")
    if len(papers) != 2 or len({paper for _, paper in papers}) != 2:
        raise Failure(f"light and dark are the same: {papers}")
    chromium.look(1400, 900)
    say("Each view fits a phone, and its texts are told apart from their background, light and dark")


def foreign(page):
    host = page.url[len("http://"):].split("/")[0]
    port = host.split(":")[1]
    post = {"Content-Type": "application/json"}
    cases = [(200, page.url, {}, None), (404, f"http://{host}/", {}, None), (404, f"http://{host}/{'0' * 32}/", {}, None),
             (421, page.url, {"Host": "example.org"}, None), (421, page.url, {"Host": f"example.org:{port}"}, None),
             (403, page.url + "api/recording", {**post, "Origin": "http://example.org"}, b'{"everything":true}'),
             (403, page.url + "api/recording", {**post, "Origin": page.shop}, b'{"everything":true}'),
             (415, page.url + "api/recording", {"Content-Type": "text/plain"}, b'{"everything":true}')]
    for status, address, headers, data in cases:
        found = refuses(address, headers, data)
        if found != status:
            raise Failure(f"a request with {headers} was answered {found}, not {status}")
    say("Requests without the token, and those of other origins, are refused")


def main():
    pictures = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(prefix="inspector-page-") as folder:
        chromium = browser.Browser(browser.find())
        page = Inspected(chromium, os.path.abspath(sys.argv[1]), folder, pictures)
        try:
            page.start()
            chromium.look(1400, 900)
            link(page)
            entities(page)
            transactions(page)
            parts(page)
            widths(page)
            foreign(page)
            page.client.end()
            page.shows("#problem", "does not answer")
            say("When the program has ended, the page says so")
            page.server.end()
        except Failure as failure:
            if pictures:
                chromium.picture(f"{pictures}/inspector-failure.png")
            sys.exit(f"error: {failure}")
        finally:
            chromium.close()
            for program in (getattr(page, name, None) for name in ("client", "server")):
                if program and program.process.poll() is None:
                    program.process.kill()


if __name__ == "__main__":
    main()

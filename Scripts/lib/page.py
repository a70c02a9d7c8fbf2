"""Drives the example's page in a headless Chromium as a person would, offline switch and all, and checks after each step
that all screens agree.

Usage: page.py PROGRAM [FOLDER]   (FOLDER: where pictures of the page go)
"""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import browser

FACTS = """(() => {
  const said = {}, wrong = [];
  let count = 0;
  for (const place of document.querySelectorAll("[data-fact]")) {
    const fact = place.dataset.fact, text = place.textContent;
    if (fact in said && said[fact] !== text) wrong.push(`${fact}: ${said[fact]} and ${text}`);
    said[fact] = text;
    count += 1;
  }
  return {wrong, count};
})()"""

# Where everything is that must not move while values change.
PLACES = """[...document.querySelectorAll(
  "h1, h2, section, .switches button, #book button, #book input, #book select, #book-title, #book-price, #reviews, #cart, " +
  "#rename input, #rename button, #author-title, .total")]
  .map((place) => { const {x, y, width, height} = place.getBoundingClientRect();
                    return [place.id || place.className || place.tagName, x, y, width, height].join(" "); })"""


class Failure(Exception):
    pass


class Program:
    """The example, started as a person would start it."""

    def __init__(self, path, *options):
        self.process = subprocess.Popen([path, *options], stdout=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline().strip()
        self.url = self.line.split(" ")[-1]
        if not self.url.startswith("http://127.0.0.1:"):
            raise Failure(f"{' '.join(options)} printed '{self.line}'")

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        status = self.process.wait(timeout=20)
        if number == signal.SIGTERM and status != 0:
            raise Failure(f"it ended with {status}")


class Page:
    def __init__(self, chromium, path, folder, pictures):
        self.chromium, self.path, self.folder, self.pictures = chromium, path, folder, pictures
        self.steps = self.comparisons = 0

    def start(self):
        self.server = Program(self.path, "serve", "--port", "0", "--store", f"{self.folder}/server")
        self.start_client()

    def start_client(self, *options, port="0"):
        self.client = Program(self.path, "page", "--server", self.server.url, "--store", f"{self.folder}/client",
                              "--port", port, *options)

    def text(self, selector):
        return self.chromium.evaluate(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def count(self, selector):
        return self.chromium.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    def until(self, what, script):
        latest = time.monotonic() + 30
        while not self.chromium.evaluate(script):
            if time.monotonic() > latest:
                raise Failure(f"this has not come: {what}")
            time.sleep(0.02)

    def shows(self, selector, text):
        self.until(f"'{text}' in {selector}",
                   f"(document.querySelector({json.dumps(selector)})?.textContent ?? '').includes({json.dumps(text)})")

    def step(self, name, keeps_places=True):
        """Ends a step: all screens say the same, and nothing has moved."""
        self.agree(name)
        places = self.chromium.evaluate(PLACES)
        if keeps_places and getattr(self, "places", places) != places:
            moved = [f"{old} -> {new}" for old, new in zip(self.places, places) if old != new]
            raise Failure(f"{name}: elements have moved: {moved}")
        self.places = places
        self.steps += 1
        print(f"    {name}: all screens agree", flush=True)

    def agree(self, name):
        facts = self.chromium.evaluate(FACTS)
        if facts["wrong"]:
            raise Failure(f"{name}: the screens disagree: {facts['wrong']}")
        self.comparisons += facts["count"]

    def price(self):
        return round(float(self.text("#book-price")) * 100)

    def copies(self):
        return int(self.text("#copies").split(" ")[0])


def refuses(url, headers, data=None):
    request = urllib.request.Request(url, data=data, headers=headers)
    try:
        return urllib.request.urlopen(request, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def money(cents):
    return f"{cents // 100}.{cents % 100:02}"


def play(page):
    chromium = page.chromium
    chromium.look(1440, 900)
    chromium.open(page.client.url)
    page.until("the books", "document.querySelectorAll('#list .row').length > 500 && "
                            "document.querySelector('#connection')?.textContent.startsWith('following')")
    page.shows("#book-title", "Pride and Prejudice")
    page.step("The page opens", keeps_places=False)
    picture(page, "wide")

    before = page.price()
    chromium.click("[data-cents='100']")
    page.shows("#book-price", money(before + 100))
    page.step("A price changes on the server")

    chromium.click("#buy")
    page.shows("#copies", "1 copy")
    page.step("A copy is put into the cart")

    chromium.type("#review input", "Worth every evening.")
    chromium.click("#review button")
    page.shows("#reviews", "Worth every evening.")
    page.step("A review is written")

    chromium.type("#rename input", "J. Austen")
    chromium.click("#rename button")
    page.shows("#author-title", "J. Austen")
    page.step("An author is renamed")

    title = page.text("#book-title")
    chromium.evaluate("document.querySelector('#list').focus()")
    chromium.press("ArrowDown")
    page.until("another book", f"document.querySelector('#book-title').textContent !== {json.dumps(title)}")
    page.step("Another book is chosen with the keyboard")
    chromium.press("ArrowUp")
    page.shows("#book-title", title)
    page.step("And the first one again")

    offline(page)
    refused(page)
    beside(page)
    another_customer(page)


def offline(page):
    chromium = page.chromium
    page.shows("#pending-count", "empty")
    chromium.click("#online")
    page.shows("#connection", "offline")
    before = page.price()
    chromium.click("#buy")
    page.shows("#copies", "2 copies")
    page.step("Offline, a copy is put into the cart: it is seen at once")
    chromium.type("#review input", "Written in a tunnel.")
    chromium.click("#review button")
    page.shows("#reviews", "Written in a tunnel.")
    chromium.type("#rename input", "Jane A.")
    chromium.click("#rename button")
    page.shows("#author-title", "Jane A.")
    page.shows("#pending-count", "3 waiting")
    page.step("Offline, a review is written and an author renamed: three wait")
    picture(page, "offline")
    chromium.click("[data-cents='100']")
    time.sleep(0.5)
    if page.price() != before:
        raise Failure("a price was heard of offline")
    page.step("Meanwhile the price changes on the server: it is not heard of")

    port = page.client.url.rsplit(":", 1)[1].strip("/")
    chromium.click("#kill")
    if page.client.process.wait(timeout=20) != -signal.SIGKILL:
        raise Failure("the client was not killed")
    page.start_client("--offline", port=port)
    page.until("the client again", "document.querySelector('#connection').textContent.startsWith('offline')")
    page.shows("#pending-count", "3 waiting")
    page.shows("#copies", "2 copies")
    page.shows("#reviews", "Written in a tunnel.")
    page.shows("#author-title", "Jane A.")
    page.step("The client is killed and started again: all is there")

    chromium.click("#online")
    page.shows("#pending-count", "empty")
    page.shows("#book-price", money(before + 100))
    page.shows("#connection", "following")
    page.step("Online again: the outbox drains, the new price comes")


def refused(page):
    chromium = page.chromium
    chromium.click("#refusing")
    page.until("that the server refuses", "document.querySelector('#refusing').ariaChecked === 'true'")
    chromium.click("#buy")
    page.shows("#refused", "The shop takes nothing at the moment.")
    page.shows("#copies", "2 copies")
    page.step("The server refuses a copy: it leaves the cart, with a reason")
    picture(page, "refused")
    chromium.click("#refusing")
    page.until("that the server takes again", "document.querySelector('#refusing').ariaChecked === 'false'")
    chromium.click("#refused button")
    page.shows("#copies", "3 copies")
    page.shows("#refused-count", "none")
    page.shows("#pending-count", "empty")
    page.step("It is tried again, and taken")


def beside(page):
    """A second device of the customer: what one does on it is on the first one."""
    chromium = page.chromium
    page.second = Program(page.path, "page", "--server", page.server.url, "--store", f"{page.folder}/second",
                          "--beside", page.client.url)
    chromium.open(page.second.url)
    page.until("the second device", "document.querySelector('#connection')?.textContent.startsWith('following')")
    page.shows("#copies", "3 copies")
    page.shows("#author-title", "Jane A.")
    chromium.click("#buy")
    page.shows("#copies", "4 copies")
    page.step("A second device of the customer shows the same, and a copy is put into the cart there", keeps_places=False)
    chromium.open(page.second.url + "/both")
    wanted = sorted(url.strip("/") + "/" for url in (page.client.url, page.second.url))
    latest = time.monotonic() + 30
    while sorted(chromium.frames()) != wanted:
        if time.monotonic() > latest:
            raise Failure(f"side by side are {chromium.frames()}, not {wanted}")
        time.sleep(0.02)
    picture(page, "both")
    chromium.open(page.client.url)
    page.shows("#copies", "4 copies")
    page.step("It is on the first one", keeps_places=False)


def another_customer(page):
    """Another customer, as the demo shows him beside the first one: both see what either does, but for the carts."""
    chromium = page.chromium
    page.third = Program(page.path, "page", "--server", page.server.url, "--store", f"{page.folder}/ben", "--user", "ben",
                         "--beside", page.client.url)
    chromium.open(page.third.url)
    page.until("the other customer", "document.querySelector('#connection')?.textContent.startsWith('following')")
    page.shows("#customer", "ben")
    page.shows("#author-title", "Jane A.")
    page.shows("#reviews", "Written in a tunnel.")
    chromium.click("#buy")
    page.shows("#copies", "1 copy")
    chromium.type("#review input", "As Ben sees it.")
    chromium.click("#review button")
    page.shows("#reviews", "As Ben sees it.")
    price = page.price()
    chromium.click("[data-cents='100']")
    page.shows("#book-price", money(price + 100))
    page.shows("#pending-count", "empty")
    page.step("Another customer sees the same books, and has a cart of his own", keeps_places=False)
    chromium.open(page.client.url)
    page.shows("#customer", "reader")
    page.shows("#reviews", "As Ben sees it.")
    page.shows("#book-price", money(price + 100))
    page.shows("#copies", "4 copies")
    page.step("What he has done is on the first page, but for the cart", keeps_places=False)


def picture(page, name):
    if not page.pictures:
        return
    for scheme in ("light", "dark"):
        page.chromium.look(1440, 900, scheme)
        page.chromium.picture(f"{page.pictures}/{name}-{scheme}.png")
    page.chromium.look(1440, 900)


def widths(page):
    chromium = page.chromium
    for width, height in ((390, 844), (800, 1000), (320, 640)):
        chromium.look(width, height)
        if chromium.evaluate("document.documentElement.scrollWidth > innerWidth"):
            raise Failure(f"the page is wider than {width} points")
        page.agree(f"{width} points wide")
        if page.pictures:
            for scheme in ("light", "dark"):
                chromium.look(width, height, scheme)
                chromium.picture(f"{page.pictures}/width-{width}-{scheme}.png", whole=True)
    print("    It fits a phone", flush=True)


def foreign(page):
    url = page.client.url
    host = url[len("http://"):].strip("/")
    post = (url.strip("/") + "/online", {"Content-Type": "application/json"}, b'{"isOn":false}')
    cases = [(200, url, {}, None), (403, url, {"Origin": "http://example.org"}, None),
             (421, url, {"Host": "example.org"}, None), (421, url, {"Host": "example.org:" + host.split(":")[1]}, None),
             (403, url.strip("/") + "/live", {"Sec-Fetch-Site": "cross-site"}, None),
             (403, post[0], {**post[1], "Origin": "http://example.org"}, post[2]),
             (403, post[0], {**post[1], "Origin": "null"}, post[2]),
             (415, post[0], {"Content-Type": "text/plain"}, post[2])]
    for status, address, headers, data in cases:
        found = refuses(address, headers, data)
        if found != status:
            raise Failure(f"a request with {headers} was answered {found}, not {status}")
    print("    Requests of other origins are refused", flush=True)


def applied(page):
    """What was clicked has been applied once: four copies, two reviews, two names; and a copy and a review of the other customer."""
    with sqlite3.connect(f"{page.folder}/server/server.sqlite") as file:
        keys = file.execute("SELECT count(DISTINCT name) FROM concord_notes WHERE space LIKE 'sync.decisions %' AND "
                            "value = 'accepted'").fetchone()[0]
        reviews = file.execute("SELECT count(*) FROM Review WHERE \"by\" = 'reader'").fetchone()[0]
    if (keys, reviews) != (10, 2):
        raise Failure(f"the server has applied {keys} actions, {reviews} of them reviews of the first customer")
    print("    The server has applied each click once", flush=True)


def main():
    chromium = browser.find()
    pictures = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(prefix="bookstore-page-") as folder:
        page = Page(browser.Browser(chromium), os.path.abspath(sys.argv[1]), folder, pictures)
        try:
            page.start()
            play(page)
            widths(page)
            foreign(page)
            page.client.end()
            page.second.end()
            page.third.end()
            page.server.end()
            applied(page)
        except Failure as failure:
            if pictures:
                page.chromium.picture(f"{pictures}/failure.png")
            sys.exit(f"error: {failure}")
        finally:
            page.chromium.close()
            for program in (getattr(page, name, None) for name in ("client", "second", "third", "server")):
                if program and program.process.poll() is None:
                    program.process.kill()
        print(f"    {page.steps} steps, {page.comparisons} values compared", flush=True)


if __name__ == "__main__":
    main()

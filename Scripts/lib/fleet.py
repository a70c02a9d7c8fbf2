"""A fleet: PostgreSQL, two servers that share it, and a customer's page of each.

Usage: fleet.py PROGRAM FOLDER [--headless]

Runs until it is interrupted. With --headless it does what one would do on both pages, kills a server and PostgreSQL, and
exits with 0 only if both pages agree afterwards with each other, with both servers and with the database.
"""
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import webbrowser

import postgresql


class Failure(Exception):
    pass


class Program:
    """The example, started as a person would start it."""

    def __init__(self, path, *options):
        # Control-C is for this script, which ends them in order.
        self.process = subprocess.Popen([path, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True)
        self.line = self.process.stdout.readline().strip()
        self.url = self.line.split(" ")[-1].rstrip("/")
        if not self.url.startswith("http://127.0.0.1:"):
            raise Failure(f"'{options[0]}' printed '{self.line}', and ended with {self.process.wait()}")

    @property
    def port(self):
        return self.url.rsplit(":", 1)[1]

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is not None:
            return
        self.process.send_signal(number)
        status = self.process.wait(timeout=20)
        if number == signal.SIGTERM and status != 0:
            raise Failure(f"{self.line}: it ended with {status}")


class Page:
    """A page without a browser: it is told the same, and its buttons send the same."""

    def __init__(self, program):
        self.url = program.url
        self.rows, self.parts, self.changed = {}, {}, threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        try:
            with urllib.request.urlopen(self.url + "/live") as stream:
                for line in stream:
                    if line.startswith(b"data:"):
                        self.take(json.loads(line[5:]))
        except OSError:
            pass

    def take(self, message):
        with self.changed:
            for row in message.pop("rows", None) or []:
                self.rows[row["id"]] = row
            self.parts.update({name: part for name, part in message.items() if part is not None})
            self.changed.notify_all()

    def click(self, path, **values):
        request = urllib.request.Request(self.url + path, json.dumps(values).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            if answer.status != 204:
                raise Failure(f"{path} was answered {answer.status}")

    def until(self, what, holds):
        with self.changed:
            if not self.changed.wait_for(lambda: self.holds(holds), timeout=60):
                raise Failure(f"this has not come to {self.url}: {what}")

    def holds(self, holds):
        try:
            return holds(self)
        except (LookupError, TypeError):
            return False

    def price(self, book):
        return self.rows[book]["cents"]

    @property
    def copies(self):
        return self.parts["cart"]["copies"]

    def difference(self, other):
        """What this page shows otherwise than another one."""
        rows = [(row, other.rows.get(id)) for id, row in self.rows.items() if row != other.rows.get(id)]
        parts = [(self.parts[name], other.parts[name]) for name in ("cart", "book", "author")
                 if self.parts[name] != other.parts[name]]
        return rows + parts

    @property
    def state(self):
        return json.dumps([sorted(self.rows.items()), self.parts["cart"], self.parts["book"], self.parts["author"]],
                          sort_keys=True)


class Fleet:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.servers, self.clients = [], []
        self.database = postgresql.Database(f"{folder}/database")

    def start(self):
        for number in (1, 2):
            self.servers.append(self.server())
            self.clients.append(self.client(number - 1))

    def client(self, index, port="0"):
        return Program(self.program, "page", "--server", self.servers[index].url, "--port", port, "--store",
                       f"{self.folder}/customer-{index + 1}")

    def server(self, port="0"):
        return Program(self.program, "serve", "--port", port, "--store", self.database.url)

    def end(self):
        for program in self.clients + self.servers:
            program.end()

    def kill(self):
        for program in self.clients + self.servers:
            program.end(signal.SIGKILL)
        try:
            self.database.stop()
        except postgresql.Missing:
            pass


BOOK, AUTHOR = "pride-and-prejudice", "jane-austen"


def play(fleet):
    pages = first, second = [Page(client) for client in fleet.clients]
    for page in pages:
        page.until("the books", lambda page: len(page.rows) > 500 and page.parts["status"]["isConnected"])
    say("Both pages show the shop")
    clicks = 0

    delays = []
    for number in range(20):
        here, there = pages if number % 2 else reversed(pages)
        wanted = here.price(BOOK) + 1
        begin = time.monotonic()
        here.click("/price", book=BOOK, cents=1)
        there.until("the price", lambda page: page.price(BOOK) == wanted)
        delays.append((time.monotonic() - begin) * 1000)
        here.until("the price", lambda page: page.price(BOOK) == wanted)
    median = statistics.median(delays)
    # Some milliseconds; a busy machine gets more. Without a notification it would be a second.
    if median > 250:
        raise Failure(f"a click is on the other page after {median:.0f} ms only")
    say(f"A price that changes on one page is on the other {median:.0f} ms after the click")

    copies = first.copies
    first.click("/cart", book=BOOK)
    second.until("the copy", lambda page: page.copies == copies + 1)
    second.click("/review", book=BOOK, stars=5, text="From the other page.")
    first.until("the review", lambda page: page.parts["book"]["reviews"][0]["text"] == "From the other page.")
    first.click("/rename", author=AUTHOR, name="Miss Austen")
    second.until("the name", lambda page: page.parts["author"]["name"] == "Miss Austen")
    clicks += 3
    say("So are a copy, a review and a name")

    for page in pages:
        page.until("that nothing waits", lambda page: not page.parts["outbox"]["pending"])
    fleet.servers[0].end(signal.SIGKILL)
    first.until("that the server is gone", lambda page: not page.parts["status"]["isConnected"])
    first.click("/cart", book=BOOK)
    second.click("/cart", book=BOOK)
    clicks += 2
    second.until("its copy", lambda page: page.copies == copies + 2)
    first.until("its copy, and that it waits", lambda page: len(page.parts["outbox"]["pending"]) == 1)
    say("A server is killed: its page goes on for itself, the other one with the second server")
    fleet.servers[0] = fleet.server(fleet.servers[0].port)
    agree(pages, copies + 3)
    say("The server is back: both pages have both copies")

    fleet.database.stop("immediate")
    for page in pages:
        page.click("/cart", book=BOOK)
    clicks += 2
    time.sleep(1)
    for page in pages:
        page.until("that the copy waits", lambda page: len(page.parts["outbox"]["pending"]) == 1)
    fleet.database.start()
    agree(pages, copies + 5)
    say("PostgreSQL crashes and comes back: both pages have what was clicked meanwhile")

    applied = fleet.database.sql("SELECT count(DISTINCT name) FROM concord.concord_notes "
                                 "WHERE space LIKE 'sync.decisions %' AND value = 'accepted'")
    if applied != f"{clicks}":
        raise Failure(f"{clicks} clicks, and the database has applied {applied}")
    for number, server in enumerate(fleet.servers):
        compare(fleet, server, f"{fleet.folder}/compared-{number}", first)
    say("The database has applied each click once, and both servers say the same")


def agree(pages, copies):
    """Waits until both pages show the same, with so many copies."""
    for page in pages:
        page.until(f"{copies} copies", lambda page: page.copies == copies and not page.parts["outbox"]["pending"])
    latest = time.monotonic() + 60
    while pages[0].state != pages[1].state:
        if time.monotonic() > latest:
            raise Failure(f"the pages disagree: {pages[0].difference(pages[1])}")
        time.sleep(0.02)


def compare(fleet, server, folder, page):
    """Compares what a new device gets from a server with what a page shows."""
    device = [fleet.program, "device", "--server", server.url, "--store", folder, "--user", "reader", "--actions", "0", "--states"]
    said = subprocess.run(device, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
    rows = [row for row in json.loads(said.splitlines()[-1])["rows"] if row["row"]]
    names = {row["id"]: row["row"]["name"] for row in rows if row["entity"] == "Author"}
    books = [row["row"] for row in rows if row["entity"] == "Book"]
    if len(books) != len(page.rows):
        raise Failure(f"{server.url} has {len(books)} books, and the page {len(page.rows)}")
    for book in books:
        row = page.rows[book["id"]]
        if (row["cents"], row["title"], row["author"]) != (book["cents"], book["title"], names[book["author"]]):
            raise Failure(f"{server.url} and the page disagree about {book['id']}")


def say(text):
    print(f"    {text}", flush=True)


def show(fleet):
    print(f"\n    PostgreSQL   {fleet.database.url}")
    for number, (server, client) in enumerate(zip(fleet.servers, fleet.clients), 1):
        print(f"    page {number}       {client.url}   its server: {server.url}, process {server.process.pid}")
    print(f"""
    Click on one page: the other one shows it, the cart too. Both are the same customer's, each with a server of its own.
    kill -9 {fleet.servers[0].process.pid}   page 1 goes on for itself; page 2 does not notice
    Control-C ends all.
""", flush=True)
    if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        for client in fleet.clients:
            webbrowser.open(client.url)
    while True:
        time.sleep(1)
        for number, client in enumerate(fleet.clients):
            # Its button has killed it.
            if client.process.poll() == -signal.SIGKILL:
                fleet.clients[number] = fleet.client(number, client.port)


def main():
    def ended(number, _):
        raise SystemExit(128 + number)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ended)
    fleet = None
    try:
        fleet = Fleet(os.path.abspath(sys.argv[1]), sys.argv[2])
        fleet.start()
        if "--headless" in sys.argv:
            play(fleet)
            fleet.end()
        else:
            show(fleet)
    except (Failure, postgresql.Missing, urllib.error.URLError) as failure:
        sys.exit(f"error: {failure}")
    finally:
        if fleet:
            fleet.kill()


if __name__ == "__main__":
    main()

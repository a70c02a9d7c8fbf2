"""Drives the inspector of a store of 10,000 books, one of which is written all the time, in a headless Chromium, and measures how
long a person waits. See Tests/ConcordInspectorTests/BrowserTests.swift.

Usage: inspector_many.py URL   (ends with 3 where there is no browser)
"""
import json
import sys
import time

import browser

# A third of a second or less for a search, or for an entity, of a debug build on an idle machine. Where others use the processors, the bound
# is longer by as much as they slow this program down.
BOUND = 2.0


def slowness():
    """How much longer work takes than the processor works on it."""
    start, work = time.monotonic(), time.process_time()
    while time.process_time() - work < 0.1:
        pass
    return max(1.0, (time.monotonic() - start) / (time.process_time() - work))


def main():
    path = browser.find()
    if not path:
        sys.exit(3)
    chromium = browser.Browser(path)
    try:
        drive(chromium, sys.argv[1])
    finally:
        chromium.close()


def until(chromium, what, script, start=None, bound=30.0):
    """Waits, and says how long somebody has waited since `start`."""
    start = start or time.monotonic()
    while not chromium.evaluate(script):
        if time.monotonic() - start > 30:
            sys.exit(f"error: this has not come: {what}")
        time.sleep(0.01)
    took = time.monotonic() - start
    print(f"    {what}: {took * 1000:.0f} ms", flush=True)
    if took > bound and took > bound * slowness():
        sys.exit(f"error: {what} took {took:.2f} s")


def size(count):
    return f"document.querySelector('#entity-0')?.ariaSetSize === '{count}'"


def graph(chromium, key, text):
    """Goes to the graph with the keyboard, and from the entity to one beside it."""
    for _ in range(100):
        if chromium.evaluate("document.activeElement.matches('#graph .node')"):
            break
        chromium.press("Tab")
    chromium.press(key)
    until(chromium, f"{text} in the graph", f"document.activeElement.querySelector('b')?.textContent === {json.dumps(text)}")


def drive(chromium, url):
    chromium.look(1400, 900)
    chromium.open(url)
    until(chromium, "the page", "document.querySelector('#types [data-key$=\".Book\"]') !== null")
    start = time.monotonic()
    chromium.evaluate("document.querySelector('#types [data-key$=\".Book\"]').click()")
    until(chromium, "the list of 10,000", size(10_000), start, BOUND)
    start = time.monotonic()
    chromium.evaluate("document.querySelector('[role=listbox]').focus()")
    chromium.press("End")
    until(chromium, "its end", "document.querySelector('[role=option][aria-selected=true] b')?.textContent === '9999'", start, BOUND)
    if chromium.evaluate("document.querySelectorAll('[role=option]').length") > 60:
        sys.exit("error: rows are drawn that nobody sees")

    chromium.press("/")
    until(chromium, "the search field", "document.activeElement.id === 'search'")
    for letter in "title 777":
        chromium.command("Input.insertText", text=letter)
        time.sleep(0.05)
    until(chromium, "11 of 10,000 after the last letter", size(11), time.monotonic(), BOUND)

    start = time.monotonic()
    chromium.evaluate("[...document.querySelectorAll('[role=option]')].find((row) => row.querySelector('b').textContent === '7770').click()")
    until(chromium, "an entity", "document.querySelector('#entity h2')?.textContent === 'Book 7770'", start, BOUND)
    # The page asks once in a second.
    written = "document.querySelector('#value')?.textContent.match(/written (\\d+)/)?.[1]"
    for _ in range(3):
        now = chromium.evaluate(written)
        until(chromium, "a newer value", f"{written} !== {json.dumps(now)}", bound=1 + BOUND)
    until(chromium, "the search is still there", size(11))

    start = time.monotonic()
    chromium.evaluate("document.querySelector('#near [data-side=children] button').click()")
    until(chromium, "the author of all", "document.querySelector('#entity h2')?.textContent === 'Author austen'", start, BOUND)
    parents = "document.querySelectorAll('#near [data-side=parents] .link').length"
    if chromium.evaluate(parents) != 12:
        sys.exit("error: an entity does not show the first 12 of its neighbours")
    # The author, five books, and the number of the others.
    if chromium.evaluate("[...document.querySelectorAll('#graph .node')].map((node) => node.textContent).join()") != \
            "0Book · author,1Book · author,2Book · author,3Book · author,4Book · author,9,995 more,austenAuthor":
        sys.exit("error: the graph does not show the first ones of the neighbours, and how many there are")
    more = "document.querySelector('#near [data-side=parents] .more')"
    if chromium.evaluate(f"{more}.textContent") != "9,988 more":
        sys.exit("error: the button of the other neighbours does not say how many there are")
    options = "[...document.querySelectorAll('#near [role=option]')]"
    start = time.monotonic()
    chromium.evaluate(f"{more}.click()")
    until(chromium, "the list of its 10,000 parents", f"{options}[0]?.ariaSetSize === '10000' && {options}[1]?.textContent === 'Book 1author →'",
          start, BOUND)
    if not chromium.evaluate("document.activeElement.matches('#near [role=listbox]')"):
        sys.exit("error: the keyboard is not in the list")
    start = time.monotonic()
    chromium.press("End")
    last = f"{options}.some((row) => row.textContent === 'Book 9999author →' && row.ariaSelected === 'true')"
    until(chromium, "the last one", last, start, BOUND)
    # The author is written meanwhile.
    time.sleep(2.5)
    if not chromium.evaluate(last) or not chromium.evaluate("document.activeElement.matches('#near [role=listbox]')"):
        sys.exit("error: after a write the list is closed, at another place, or without the keyboard")
    if chromium.evaluate(f"{options}.length") > 60:
        sys.exit("error: neighbours are drawn that nobody sees")
    start = time.monotonic()
    chromium.press("Enter")
    until(chromium, "the last book", "document.querySelector('#entity h2').textContent === 'Book 9999'", start, BOUND)

    # The graph with the keyboard: from the book to its author, and from there to the list of all books.
    graph(chromium, "ArrowRight", "austen")
    chromium.press("Enter")
    until(chromium, "the author again", "document.querySelector('#entity h2').textContent === 'Author austen'")
    graph(chromium, "ArrowLeft", "0")
    for _ in range(5):
        chromium.press("ArrowDown")
    until(chromium, "the number of the other books", "document.activeElement.textContent === '9,995 more'")
    chromium.press("Enter")
    until(chromium, "their list", f"document.activeElement.matches('#near [role=listbox]') && {options}[0]?.ariaSetSize === '10000'")
    scroll = "document.documentElement.scrollWidth > innerWidth"
    chromium.look(390, 844)
    if chromium.evaluate(scroll):
        sys.exit("error: the page is wider than a phone")


main()

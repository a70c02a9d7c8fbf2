"""Drives the inspector of a store of 10,000 books, one of which is written all the time, in a headless Chromium, and measures how
long a person waits. See Tests/ConcordInspectorTests/BrowserTests.swift.

Usage: inspector_many.py URL   (ends with 3 where there is no browser)
"""
import json
import sys
import time

import browser

# A second or less for a search, or for an entity, of a debug build on an idle machine; a busy one takes several times as long. What costs the
# square of the entities takes minutes.
BOUND = 10.0


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
    if took > bound:
        sys.exit(f"error: {what} took {took:.2f} s")


def size(count):
    return f"document.querySelector('#entity-0')?.ariaSetSize === '{count}'"


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
    more = "document.querySelector('#near [data-side=parents] .more')"
    if chromium.evaluate(f"{more}.textContent") != "9,988 more":
        sys.exit("error: the button of the other neighbours does not say how many there are")
    start = time.monotonic()
    chromium.evaluate(f"{more}.click()")
    until(chromium, "its first 500 parents", f"{parents} === 500", start, BOUND)
    if not chromium.evaluate("document.querySelector('#near').textContent.includes('and 9,500 more, which are too many')"):
        sys.exit("error: nothing says that there are more")
    if not chromium.evaluate("document.activeElement.classList.contains('link')"):
        sys.exit("error: the keyboard is lost")
    time.sleep(2.5)
    if chromium.evaluate(parents) != 500:
        sys.exit(f"error: {chromium.evaluate(parents)} neighbours are shown after a write, not 500")
    scroll = "document.documentElement.scrollWidth > innerWidth"
    chromium.look(390, 844)
    if chromium.evaluate(scroll):
        sys.exit("error: the page is wider than a phone")


main()

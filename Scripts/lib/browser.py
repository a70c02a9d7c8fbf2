"""A headless Chromium, driven through the pipe of its DevTools protocol, with nothing but Python's own library."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The browser's path, or None where none is installed."""
    names = [os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
             "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
             "/Applications/Chromium.app/Contents/MacOS/Chromium"]
    return next(filter(None, map(shutil.which, filter(None, names))), None)


class Browser:
    def __init__(self, path):
        self.profile = tempfile.mkdtemp(prefix="bookstore-browser-")
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        options = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--mute-audio",
                   "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
                   f"--user-data-dir={self.profile}", "about:blank"]
        if os.geteuid() == 0:
            options.insert(0, "--no-sandbox")
        # The browser reads from descriptor 3 and writes to 4.
        shell = ["/bin/sh", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "sh", path]
        self.process = subprocess.Popen(shell + options, pass_fds=(commands, answers), stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.unread, self.number, self.session = b"", 0, None
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.command("Page.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def command(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        latest = time.monotonic() + 60
        while True:
            answer = self.next_message(latest)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def next_message(self, latest):
        while b"\0" not in self.unread:
            if not select.select([self.answers], [], [], max(0, latest - time.monotonic()))[0]:
                raise RuntimeError("the browser says nothing")
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.unread += part
        text, self.unread = self.unread.split(b"\0", 1)
        return json.loads(text)

    def open(self, url):
        self.command("Page.navigate", url=url)

    def frames(self):
        """The addresses of the frames of the page."""
        tree = self.command("Page.getFrameTree")["frameTree"]
        return [child["frame"]["url"] for child in tree.get("childFrames", [])]

    def evaluate(self, script):
        answer = self.command("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
        return answer["result"].get("value")

    def click(self, selector):
        """Clicks with the mouse in the middle of an element."""
        x, y = self.evaluate(f"""(() => {{
          const place = document.querySelector({json.dumps(selector)});
          place.scrollIntoView({{block: "nearest", behavior: "instant"}});
          const box = place.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        """Presses a key that has a name, or one that writes a character."""
        numbers = {" ": 32, "ArrowUp": 38, "ArrowDown": 40, "Tab": 9, "Enter": 13, "Home": 36, "End": 35}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            written = {"text": text} if text and kind == "keyDown" else {}
            self.command("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                         windowsVirtualKeyCode=numbers.get(key, 0), **written)

    def type(self, selector, text):
        """Replaces what a field has."""
        self.click(selector)
        self.evaluate("document.activeElement.select()")
        self.command("Input.insertText", text=text)

    def look(self, width, height, scheme="light"):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                     mobile=width < 600)
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, file, whole=False):
        data = self.command("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(file, "wb") as output:
            output.write(base64.b64decode(data))

"""chromium.py - Debian's Chromium without a window, spoken to by the DevTools protocol through a
pair of pipes: a page, JavaScript in it, and a virtual authenticator that holds passkeys.
"""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading

PATIENCE_S = 200  # for what takes a second on an idle machine
FLAGS = ("--headless", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
         "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync",
         "--disable-component-update", "--disable-extensions", "--remote-debugging-pipe",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost")


def program():
    """The path of the browser; None where it is not installed."""
    return shutil.which("chromium")


def _high(descriptor):
    """The same file at a number above those that the browser expects, 3 and 4."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 16)
    os.close(descriptor)
    return high


class Chromium:
    """One browser with an empty profile. `with` it; calls block until their answer has come. It is
    killed after `seconds`, which no run of a test needs."""

    def __init__(self, seconds=PATIENCE_S):
        self.folder = tempfile.mkdtemp(prefix="perpd-chromium-")
        its_input, our_output = map(_high, os.pipe())
        our_input, its_output = map(_high, os.pipe())

        # By a shell: Popen passes on what is open in this process, where another thread may have
        # closed 3 or 4.
        renumber = f'exec "$@" 3<&{its_input} 4>&{its_output} {its_input}<&- {its_output}>&-'
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", renumber, "bash", program(), *FLAGS, *root,
                 f"--user-data-dir={self.folder}/profile", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=(its_input, its_output), start_new_session=True,
                env={**os.environ, "HOME": self.folder})
        os.close(its_input)
        os.close(its_output)
        self._output, self._input = our_output, os.fdopen(our_input, "rb", buffering=0)
        self._buffer, self._number = b"", 0
        self.events = []  # of the protocol, as they came
        self._timer = threading.Timer(seconds, self._kill)
        self._timer.start()

    def _kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._timer.cancel()
        self._kill()
        self.process.wait()
        self._input.close()
        os.close(self._output)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _message(self):
        while b"\0" not in self._buffer:
            data = self._input.read(65536)
            if not data:
                with open(os.path.join(self.folder, "log"), errors="replace") as log:
                    raise AssertionError(f"the browser has ended: {log.read()[-2000:]}")
            self._buffer += data
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._output, data):]
        while (answer := self._message()).get("id") != self._number:
            self.events.append(answer)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]


class Page:
    """A page of the browser with an authenticator of its own."""

    def __init__(self, browser, url):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=target,
                                     flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("WebAuthn.enable")
        self.call("WebAuthn.addVirtualAuthenticator", options={
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
            "hasUserVerification": True, "isUserVerified": True,
            "automaticPresenceSimulation": True})
        self.call("Page.navigate", url=url)
        self.run("document.readyState === 'complete' || new Promise(done => "
                 "addEventListener('load', done))")

    def call(self, method, **parameters):
        return self.browser.call(method, self._session, **parameters)

    def run(self, expression):
        """What the expression gives, awaited; an exception of the page fails."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            raise AssertionError(f"{expression[:100]}: {text}")
        return answer["result"].get("value")

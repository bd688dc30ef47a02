"""The explorer in a browser, as tests use it: what is drawn, and acts that draw it anew."""

import time


class Page:
    """The explorer in the browser."""

    def __init__(self, browser, page):
        self.browser, self.page = browser, page

    def open(self, state="", device="desktop", dark=False):
        self.browser.open(self.page, device, dark)
        self.wait(0)
        if state:
            self.go(state)
        return self

    def go(self, state):
        self.act(lambda: self.browser.script("location.hash = arguments[0]", state))

    def act(self, action):
        """Do what draws the page anew, and wait for that."""
        before = self.drawn()
        action()
        self.wait(before)

    def drawn(self):
        return int(self.browser.script("return document.body.dataset.drawn || 0"))

    def wait(self, before):
        end = time.time() + 20
        while self.drawn() <= before:
            assert time.time() < end, self.browser.console()
            time.sleep(0.02)

    def texts(self, selector):
        return self.browser.script(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector
        )

    def text(self, selector):
        return self.texts(selector)[0]

    def find(self, selector):
        return self.browser.script("return document.querySelector(arguments[0])", selector)

    def state(self):
        return self.browser.script("return explorer.state()")

    def key(self, key):
        self.act(lambda: self.find("body").send_keys(key))

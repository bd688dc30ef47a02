"""A real browser for the tests of pages: Chromium without a window, without network, and with an empty profile."""

import base64
import json
import shutil
from pathlib import Path

from tests.support.debian import needed

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars"]  # fmt: skip
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}


class Browser:
    """A page in Chromium: its screenshots, its console, and what it asked for."""

    def __init__(self, profile: Path) -> None:
        needed(["chromium", "chromedriver"], ["chromium", "chromium-driver"])
        from selenium.webdriver import Chrome, ChromeOptions, ChromeService

        options = ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in [*FLAGS, f"--user-data-dir={profile}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = Chrome(options=options, service=ChromeService(shutil.which("chromedriver")))

    def open(self, page: Path, device: str, dark: bool = False) -> None:
        width, height = WIDTHS[device]
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": device == "phone"}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wishes = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get("about:blank")  # away from the browser's own first page, and from a fragment of this page
        self.console(), self.requests()
        self.driver.get(page.resolve().as_uri())

    def script(self, text: str, *arguments):
        return self.driver.execute_script(text, *arguments)

    def screenshot(self, path: Path) -> None:
        """The whole page, however high."""
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        found = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        path.write_bytes(base64.b64decode(found["data"]))

    def pdf(self, path: Path) -> None:
        found = self.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
        path.write_bytes(base64.b64decode(found["data"]))

    def console(self) -> list[str]:
        """What the console said since it was last asked."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses that pages asked for since this was last asked, data: apart."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        found = [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]
        return [url for url in found if not url.startswith("data:")]

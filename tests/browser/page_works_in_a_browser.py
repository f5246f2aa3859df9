# SPDX-License-Identifier: GPL-3.0-or-later
"""Does chromium show the page that follows a run, without a message on its console?

usage: page_works_in_a_browser.py PROGRAM CONFIG    (in a folder with whole runs: isolated, gas)"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

program, config = sys.argv[1:]
SECONDS = 300  # a busy machine draws slowly
# tools/report.py as it is, but for pages at once in place of every few seconds.
REPORT = """
from photons import report, serve
serve.REFRESH_SECONDS, serve.DRAWING_SHARE = 1, 1
report.main()
"""


def wait_for(condition, what):
    """Wait until condition() is true, and return its value."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"not within {SECONDS} s: {what}")


@contextlib.contextmanager
def served(folder):
    """The address of the page of a folder."""
    server = subprocess.Popen(
        [sys.executable, "-c", REPORT, "--serve", "0", folder], stdout=subprocess.PIPE, text=True
    )
    try:
        yield server.stdout.readline().split()[0]
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def browser():
    options = webdriver.ChromeOptions()
    options.add_argument("--headless=new")
    options.add_argument("--disable-dev-shm-usage")  # /dev/shm of a container may be small
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("chromedriver"), options=options)
    driver.set_page_load_timeout(SECONDS)
    try:
        yield driver
    finally:
        driver.quit()


def asked(driver, script):
    """The value of a script; None while the page is loaded anew."""
    try:
        ready = driver.execute_script("return document.readyState") == "complete"
        return driver.execute_script(f"return {script}") if ready else None
    except WebDriverException:
        return None


def text_of(driver):
    return asked(driver, "document.body.innerText") or ""


def step_of(driver):
    found = re.search(r"^step (\d+),", text_of(driver), re.MULTILINE)
    return int(found[1]) if found else -1


def require_sound(driver, captions):
    """All pictures are there, and the console of the browser is empty."""
    script = "[...document.images].map(image => [image.alt, image.naturalWidth])"
    pictures = wait_for(lambda: asked(driver, script), "pictures")
    assert all(width > 300 for _, width in pictures), pictures
    for caption in captions:
        assert any(name.startswith(caption) for name, _ in pictures), (caption, pictures)
    messages = driver.get_log("browser")
    assert not messages, messages


def share_of(driver):
    return asked(driver, "document.querySelector('progress').value")


def follow(driver, run):
    """The page of a run that goes on, is stopped, and fails."""
    with served("run") as address:
        driver.get(address)
        require_sound(driver, ["Power spectra", "Seconds a step", "projected density"])
        first = step_of(driver)
        assert first > 0 and 0 < share_of(driver) < 0.9
        assert " to go" in text_of(driver) and driver.title == "run"
        # The page is loaded anew by itself, and stays where it was.
        driver.execute_script("window.seen = true; window.scrollTo(0, 700)")
        place = wait_for(lambda: asked(driver, "window.scrollY"), "a page longer than the window")
        run.send_signal(signal.SIGCONT)
        wait_for(lambda: step_of(driver) > first, "a later step")
        assert not asked(driver, "window.seen")
        wait_for(lambda: asked(driver, "window.scrollY") == place, "the place on the page")
        open("run/stop", "w").close()
        assert run.wait(SECONDS) == 0
        wait_for(lambda: ", stopped\n" in text_of(driver), "the run is stopped")
        with open("run/log/run.log", "a") as file:
            file.write("2026-01-01T00:00:00Z error: the disk is full\n")
        wait_for(lambda: ", failed\n" in text_of(driver), "the run failed")
        assert "Z error: the disk is full\n" in text_of(driver)
        require_sound(driver, ["Power spectra"])


def show_whole(driver, folder, captions):
    """The page of a whole run of another system; it is not loaded anew."""
    with served(folder) as address:
        driver.get(address)
        require_sound(driver, captions)
        assert share_of(driver) == 1 and ", ended\n" in text_of(driver)
        assert asked(driver, "document.querySelector('meta[http-equiv=refresh]') === null")


def show_hostile(driver):
    """Scripts in a run's files are text of the page."""
    sys.path.append(os.environ["PHOTONS_SOURCE"] + "/tests/support")
    import hostile_run

    hostile_run.make("run", hostile_run.NAME)
    with served(hostile_run.NAME) as address:
        driver.get(address)
        require_sound(driver, ["Power spectra"])
        assert driver.title == hostile_run.NAME
        foreign = "document.querySelectorAll('script, svg, a, [onload], [onerror]').length"
        assert asked(driver, foreign) == 0
        assert asked(driver, "window.hit === undefined")
        shown = asked(driver, "document.body.textContent")
        for place in hostile_run.PLACES:
            assert hostile_run.attack(place) in shown, place


def rows():
    try:
        with open("run/log/timings.csv") as file:
            return len(file.readlines())
    except FileNotFoundError:
        return 0


run = subprocess.Popen([program, "-q", config])
try:
    wait_for(lambda: rows() > 20 and os.path.exists("run/powerspec_000.txt"), "20 steps")
    run.send_signal(signal.SIGSTOP)
    with browser() as driver:
        follow(driver, run)
        show_hostile(driver)
        show_whole(driver, "isolated", ["Surface density", "Change of the total energy"])
        show_whole(driver, "gas", ["Means in bins", "Change of mass and energy"])
finally:
    run.kill()
    run.wait()

"""A private FiftyOne App: the plugin downloaded by the real command line, a server, and a headless Chromium."""

from __future__ import annotations

import contextlib
import functools
import http.server
import importlib
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ARTEFACTS = REPOSITORY / "tests" / "artefacts"
PLUGIN = "@fiftyone-hsd/hsd"
SKIP = {".git", "__pycache__", ".venv", "venv", "build", "dist", "artefacts"}
CHROMIUM_ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # Nothing but our own server resolves. A route handler would run in the test's thread and stall the App.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def wait_for(condition, seconds, what, sleep=time.sleep):
    """Until `condition()` is true; its errors count as not yet."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(Exception):
            if condition():
                return
        sleep(0.2)
    raise TimeoutError(f"{what} did not come in {seconds} s")


def stop(process):
    """End one process that we started."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def fo(mongod):
    """FiftyOne on the private mongod."""
    os.environ["FIFTYONE_DO_NOT_TRACK"] = "1"
    # Importing it warns about its use of strawberry, connecting about mongoengine's.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import fiftyone
        import fiftyone.operators

        fiftyone.list_datasets()
    return fiftyone


@pytest.fixture(scope="session")
def environment(fo):
    """Environment of child processes: this interpreter's, with the repository importable as it is here."""
    path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}


def zip_repository(out):
    """The repository as GitHub zips it, with one folder at the top."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, names, files in os.walk(REPOSITORY):
            hidden = [n for n in names if n in SKIP or n.startswith(".") or n.endswith(".egg-info")]
            names[:] = sorted(set(names) - set(hidden))
            for file in files:
                path = Path(folder, file)
                archive.write(path, f"fiftyone-hsd-abc123/{path.relative_to(REPOSITORY)}")


@contextlib.contextmanager
def served(folder):
    """The folder over http on the loopback address."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def fiftyone_command(*arguments, environment, check=True):
    """Run the `fiftyone` command line."""
    command = [sys.executable, "-m", "fiftyone.core.cli", *arguments]
    script = Path(sys.executable).parent / "fiftyone"
    if script.exists():
        command = [str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=180)
    if check and done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def downloaded(environment, tmp_path_factory):
    """What `fiftyone plugins download` said, and the folder of the plugin."""
    folder = tmp_path_factory.mktemp("download")
    zip_repository(folder / "plugin.zip")
    with served(folder) as url:
        said = fiftyone_command("plugins", "download", f"{url}/plugin.zip", environment=environment)
    return said, Path(environment["FIFTYONE_PLUGINS_DIR"]) / "@fiftyone-hsd" / "hsd"


@pytest.fixture(scope="session")
def tabs(fo):
    """Name -> module of the panel's tabs, from this repository."""
    name = "hsd_plugin_of_this_repository"
    if name not in sys.modules:
        folder = REPOSITORY / "plugin"
        found = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        sys.modules[name] = importlib.util.module_from_spec(found)
        found.loader.exec_module(sys.modules[name])
    return importlib.import_module(f"{name}.tabs").tabs()


@pytest.fixture
def work_off(environment):
    """Runs a queued operation by FiftyOne's own worker, until it ends; its record."""

    def run():
        from fiftyone.operators.delegated import DelegatedOperationService

        command = [str(Path(sys.executable).parent / "fiftyone"), "delegated", "launch"]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        service = DelegatedOperationService()
        try:
            wait_for(lambda: service.list_operations()[0].run_state in ("completed", "failed"), 240, "the worker")
        finally:
            stop(process)
        return service.list_operations()[0]

    return run


@pytest.fixture
def make_dataset(fo, small_corpus):
    """A function that makes a persistent dataset of the drawn corpus, which other processes can see."""
    made = []

    def make(name, every=1):
        if fo.dataset_exists(name):
            fo.delete_dataset(name)
        found = fo.Dataset(name, persistent=True)
        images = sorted(p for p in (small_corpus / "images").rglob("*") if p.is_file())[::every]
        found.add_samples(
            [
                fo.Sample(
                    filepath=str(path),
                    tags=["train" if path.parts[-3] == "TRAIN" else "test"],
                    ground_truth=fo.Classification(label=path.parent.name),
                    patient=path.name.split("_")[0],
                )
                for path in images
            ]
        )
        made.append(name)
        return found

    yield make
    for name in made:
        if fo.dataset_exists(name):
            fo.delete_dataset(name)


@pytest.fixture(scope="session")
def blank(fo, small_corpus):
    """A dataset of one image: opening it first makes the server forget the state of another."""
    found = fo.Dataset("blank", persistent=True)
    found.add_sample(fo.Sample(filepath=str(next(p for p in (small_corpus / "images").rglob("*") if p.is_file()))))
    yield found.name
    fo.delete_dataset("blank")


@pytest.fixture(scope="session")
def server(downloaded, environment, tmp_path_factory):
    """URL of an App server with the downloaded plugin."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "server.log"
    command = [sys.executable, "-m", "fiftyone.server.main", "--port", str(port), "--address", "127.0.0.1"]
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment)
        url = f"http://127.0.0.1:{port}"

        def up():
            with urllib.request.urlopen(f"{url}/fiftyone", timeout=2) as answer:  # noqa: S310 - our own server
                return json.load(answer)["version"]

        try:
            wait_for(up, 120, f"the App server ({log})")
            yield url
        finally:
            stop(process)


@pytest.fixture(scope="module")
def chromium(server):
    """A headless browser, for one file: while it runs, its event loop makes FiftyOne hand back tasks."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=CHROMIUM_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture
def app(chromium, server, blank, request):
    """A page of the App; a picture of it is left among the artefacts when the test ends."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    page = App(context.new_page(), server, blank)
    try:
        yield page
    finally:
        page.picture(re.sub(r"\W+", "_", request.node.name))
        context.close()


@pytest.fixture
def app_class():
    """The class of `app`, for pages of another size."""
    return App


@pytest.fixture
def aside():
    """Runs a call in another thread: inside Playwright's loop FiftyOne would hand back tasks instead of results."""
    with ThreadPoolExecutor(1) as pool:
        yield lambda call: pool.submit(call).result()


class App:
    """The App of FiftyOne 1.22 by the selectors that it has."""

    def __init__(self, page, url, blank):
        self.page, self.url, self.blank, self.console = page, url, blank, []
        from playwright.sync_api import expect

        self.expect = expect
        page.set_default_timeout(120_000)
        page.on("console", lambda m: self.console.append((m.type, m.text)))
        page.on("pageerror", lambda e: self.console.append(("pageerror", str(e))))
        # A popup would cover the grid.
        page.add_init_script("localStorage.setItem('fiftyone-enterprise-tooltip-seen', 'true')")

    def cy(self, name):
        return self.page.locator(f'[data-cy="{name}"]')

    def picture(self, name):
        ARTEFACTS.mkdir(exist_ok=True)
        with contextlib.suppress(Exception):
            self.page.screenshot(path=str(ARTEFACTS / f"{name}.png"))

    def open(self, name, **query):
        """Another dataset first: the server keeps one state for all pages and would not read this one again."""
        self.page.goto(f"{self.url}/datasets/{self.blank}")
        self.cy("looker").first.wait_for()
        self.page.goto(f"{self.url}/datasets/{name}" + (f"?{urllib.parse.urlencode(query)}" if query else ""))
        self.cy("looker").first.wait_for()

    def form(self, label):
        """Open an operator's form through the operator browser."""
        self.page.keyboard.press("`")
        self.cy("operators-browser-search").fill(label)
        self.cy("operators-browser").get_by_text(label, exact=True).click()
        modal = self.cy("operators-prompt-modal")
        modal.wait_for()
        return modal

    def execute(self, modal):
        button = modal.get_by_role("button", name="Execute", exact=True)
        button.wait_for()
        # The form is drawn anew while it resolves, so the button is looked up again until it is enabled.
        self.expect(button).to_be_enabled(timeout=60_000)
        button.click()

    def output(self, seconds=180):
        """What a generator operator shows at its end."""
        found = self.cy("operators-prompt-view-modal")
        found.wait_for(timeout=seconds * 1000)
        return found

    def panel(self, name):
        """Open a panel beside the grid, unless it is open."""
        content = self.cy(f"panel-content-{name}")
        if not content.count():
            self.cy("new-panel-btn").first.click()
            self.cy(f"new-panel-option-{name}").click()
        content.wait_for()
        return content

    def opened(self, name, sample_id, panel):
        """Open one sample by its address (a click on a small tile may select it instead), and a panel beside it."""
        self.open(name, id=sample_id, workspace="hsd")
        modal = self.cy("modal")
        modal.wait_for()
        tab, plus = self.cy(f"panel-tab-{panel}"), modal.locator('[data-cy="new-panel-btn"]')
        tab.or_(plus).first.wait_for()
        if tab.count():  # the App remembers which panels were open beside a sample
            tab.click()
        else:
            plus.click()
            self.cy(f"new-panel-option-{panel}").click()
        content = self.cy(f"panel-content-{panel}")
        content.wait_for()
        return content

    def counts(self, n):
        """Wait until the grid shows n samples."""
        self.expect(self.cy("entry-counts")).to_have_text(f"{n:,} sample" + ("" if n == 1 else "s"), timeout=60_000)

    def bar(self, panel, plot, number):
        """Click one bar of a plot; plotly needs a real mouse that hovers first."""
        bar = panel.locator(".js-plotly-plot").nth(plot).locator(".bars .point path").nth(number)
        bar.wait_for()
        bar.scroll_into_view_if_needed()
        box = bar.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.wait_for_timeout(300)
        self.page.mouse.click(x, y)

    def errors(self):
        # "entry is loading" is FiftyOne's own grid, asked for its next page while the view changes.
        usual = (
            "entry is loading",
            "net::ERR_NAME_NOT_RESOLVED",
            "Failed to load resource",
            "react-spring",
            "net::ERR",
        )
        kinds = ("error", "pageerror")
        return [c for c in self.console if c[0] in kinds and not any(u in c[1] for u in usual)]

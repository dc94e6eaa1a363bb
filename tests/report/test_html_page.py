from __future__ import annotations

import html.parser
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report import sections, write
from fiftyone_hsd.report.blocks import Figure, Section
from fiftyone_hsd.report.html_page import page, script_json

FETCHING = {"src", "href", "srcset", "poster", "data", "action", "formaction", "xlink:href", "background"}


class Parsed(html.parser.HTMLParser):
    """What a browser would see: elements, their attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {k: v or "" for k, v in attrs}))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        else:
            self.words.append(data)


@pytest.fixture(scope="module")
def text(case: Callable[..., AuditReport], tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    return write(case(folder / "images"), folder / "out").read_text("utf-8")


def test_hostile_text_makes_no_element(text: str, nasty: str) -> None:
    parsed = Parsed(text)
    assert len(parsed.scripts) == 3  # the data, plotly.js, our own
    assert not any(tag in ("iframe", "object", "embed", "base", "form") for tag, _ in parsed.elements)
    assert not any(k.startswith("on") for _, attributes in parsed.elements for k in attributes)
    assert nasty in "".join(parsed.words)
    assert json.loads(parsed.scripts[0])


def test_nothing_is_fetched(text: str) -> None:
    for tag, attributes in Parsed(text).elements:
        for name in FETCHING & attributes.keys():
            assert attributes[name].startswith(("data:", "#")), (tag, attributes)
    style = re.search(r"<style>(.*?)</style>", text, re.S)
    assert style
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    policy = next(a["content"] for t, a in Parsed(text).elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "http" not in policy.replace("http-equiv", "")


def test_plotly_is_there_once(text: str) -> None:
    assert text.count("plotly.js v") == 1


def test_no_invisible_character_is_left_raw(text: str) -> None:
    for character in "\u202e\udcff":
        assert character not in text
    assert "\\xff\\xfe" in text
    assert "\\u202e" in text


def test_figure_strings_are_escaped_for_plotly_but_hover_templates_are_not() -> None:
    figure = Figure(
        "t",
        ({"type": "bar", "x": ["<b>x</b> & $y$"], "y": [float("nan")], "hovertemplate": "%{x}<extra></extra>"},),
        {"title": {"text": "<a href='javascript:1'>x</a>"}},
    )
    parsed = Parsed(page("t", "v", [Section("s", "s", 0, "", (figure,))]))
    (spec,) = json.loads(parsed.scripts[0])
    assert spec["data"][0]["x"] == ["&lt;b&gt;x&lt;/b&gt; &amp; $y$"]
    assert spec["data"][0]["y"] == [None]
    assert spec["data"][0]["hovertemplate"] == "%{x}<extra></extra>"
    assert spec["layout"]["title"]["text"] == "&lt;a href='javascript:1'&gt;x&lt;/a&gt;"


def test_script_json_has_no_markup() -> None:
    value = {"a": "</script><!--<script>&\u2028"}
    assert not set("<>&\u2028") & set(script_json(value))
    assert json.loads(script_json(value)) == value


def test_every_section_is_in_the_contents(text: str, report: AuditReport) -> None:
    parsed = Parsed(text)
    keys = [a["id"] for t, a in parsed.elements if t == "section"]
    assert keys == [s.key for s in sections.build(report)]
    assert [a["href"] for t, a in parsed.elements if t == "a"] == [f"#{k}" for k in keys]


def test_pictures_can_be_left_out(report: AuditReport, tmp_path: Path) -> None:
    bare = write(report, tmp_path / "bare", pictures=False).read_text("utf-8")
    assert "data:image/jpeg" not in bare
    assert "no pictures asked for" in bare


def test_a_page_without_figures_carries_no_plotly() -> None:
    assert len(page("t", "v", [Section("s", "s", 0, "lead", ())])) < 40_000


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_runs_in_a_browser(
    case: Callable[..., AuditReport], tmp_path: Path, scheme: Any, browser_path: str
) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    path = write(case(tmp_path / "images"), tmp_path / "out")
    said: list[str] = []
    with playwright.sync_playwright() as api:
        browser = api.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
        view.on("request", lambda r: said.append(r.url))
        view.on("pageerror", lambda e: said.append(str(e)))
        view.on("console", lambda m: said.append(m.text))
        view.on("dialog", lambda d: said.append(d.message))
        view.goto(path.as_uri())
        view.wait_for_selector(".js-plotly-plot .main-svg")
        figures = view.locator(".figure").count()
        drawn = view.locator(".js-plotly-plot").count()
        wide = view.evaluate("document.documentElement.scrollWidth")
        bold = view.locator(".js-plotly-plot tspan").evaluate_all("e => e.filter(x => x.style.fontWeight).length")
        browser.close()
    assert [s for s in said if not s.startswith(("data:", path.as_uri(), "blob:"))] == []
    assert figures == drawn > 2
    assert wide == 390
    assert bold == 0

(function () {
  "use strict";
  var root = document.documentElement;
  var figures = JSON.parse(document.getElementById("figures").textContent);
  var dark = window.matchMedia("(prefers-color-scheme: dark)");

  function colour(name) {
    return getComputedStyle(root).getPropertyValue("--" + name).trim();
  }

  // Colours are tokens such as @c1; only values under a key that ends in "color" are read as such.
  function themed(value, key) {
    if (Array.isArray(value)) return value.map(function (v) { return themed(v, key); });
    if (value && typeof value === "object") {
      var copy = {};
      Object.keys(value).forEach(function (k) { copy[k] = themed(value[k], k); });
      return copy;
    }
    if (typeof value === "string" && /color$/i.test(key) && /^@[a-z0-9]+$/.test(value)) return colour(value.slice(1));
    return value;
  }

  function merged(base, own) {
    Object.keys(own).forEach(function (k) {
      var both = base[k] && own[k] && typeof base[k] === "object" && typeof own[k] === "object";
      base[k] = both && !Array.isArray(own[k]) ? merged(base[k], own[k]) : own[k];
    });
    return base;
  }

  function axis() {
    return {
      color: colour("muted"), gridcolor: colour("grid"), linecolor: colour("line"), zerolinecolor: colour("line"),
      automargin: true, fixedrange: true, ticks: "", tickfont: { size: 12 }, title: { font: { size: 12.5 }, standoff: 10 }
    };
  }

  function draw(spec, place) {
    var own = themed(spec.layout, "");
    var layout = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 10, r: 16, t: 14, b: 10 },
      font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: colour("ink") },
      hoverlabel: { bgcolor: colour("raised"), bordercolor: colour("line"), font: { color: colour("ink"), size: 12.5 }, align: "left" },
      legend: { orientation: "h", yanchor: "bottom", y: 1.01, xanchor: "left", x: 0, font: { size: 12.5 } },
      xaxis: axis(), yaxis: axis(), showlegend: false, hovermode: "closest"
    };
    Object.keys(own).forEach(function (k) { if (/^[xy]axis\d+$/.test(k)) layout[k] = axis(); });
    window.Plotly.react(place, themed(spec.data, ""), merged(layout, own), {
      responsive: true, displaylogo: false, typesetMath: false, scrollZoom: false,
      modeBarButtons: [["toImage"]], toImageButtonOptions: { format: "svg", filename: "hsd" }
    });
  }

  function all() {
    if (!window.Plotly) return;
    figures.forEach(function (spec, i) {
      var place = document.getElementById("figure-" + (i + 1));
      if (place) draw(spec, place);
    });
  }

  all();
  dark.addEventListener("change", all);

  var links = {};
  document.querySelectorAll("nav a").forEach(function (a) { links[a.getAttribute("href").slice(1)] = a; });
  var seen = new IntersectionObserver(function (entries) {
    entries.forEach(function (e) {
      var a = links[e.target.id];
      if (a) a.classList.toggle("here", e.isIntersecting);
    });
  }, { rootMargin: "-10% 0px -70% 0px" });
  document.querySelectorAll("main section").forEach(function (s) { seen.observe(s); });
})();

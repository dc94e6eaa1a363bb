// Keys for the panel Judge. FiftyOne lets no Python panel bind keys, so this presses the panel's own buttons.
(() => {
  if (window.hsdJudgeKeys) {
    return; // loaded twice, a key would give two verdicts
  }
  window.hsdJudgeKeys = true;
  const BUTTONS = { y: "Same group", n: "Not related", u: "Skip" };

  function typing(element) {
    return element && (element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName));
  }

  document.addEventListener("keydown", (event) => {
    const label = BUTTONS[event.key.toLowerCase()];
    if (!label || event.repeat || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) {
      return;
    }
    // The panel is in the page only while a sample is open and its tab is chosen.
    const panel = document.querySelector('[data-cy="panel-content-hsd_judge"]');
    const named = (button) => button.innerText.trim().toLowerCase().startsWith(label.toLowerCase());
    const button = panel && [...panel.querySelectorAll("button")].find(named);
    if (button && !button.disabled) {
      event.preventDefault();
      event.stopPropagation();
      button.click();
    }
  }, true);
})();

// Lets a moderator press a button by its key. The keys can be turned off, and they do nothing while the moderator types.
// Without this script every button still works.
const STORED = "souk-admin-keys";
const form = document.querySelector("form[data-keys]");
const isTyping = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

if (form) {
  // For a second after the window came to the front nothing is decided: the key or click may have been meant for a window
  // that was above it and closed. Of a page that loads in front, souk.css hides the buttons for its first second.
  const SETTLING_MS = 1000;
  let inFrontSince = document.hasFocus() ? -SETTLING_MS : Number.POSITIVE_INFINITY;
  addEventListener("focus", () => {
    inFrontSince = performance.now();
  });
  addEventListener("blur", () => {
    inFrontSince = Number.POSITIVE_INFINITY;
  });
  const isSettled = () => performance.now() - inFrontSince >= SETTLING_MS;

  const keys = form.querySelector(".keys");
  const toggle = form.querySelector("[data-keys-switch]");
  let on = localStorage.getItem(STORED) !== "off";
  const show = () => {
    toggle.setAttribute("aria-pressed", String(on));
    toggle.textContent = on ? "Single keys are on" : "Single keys are off";
  };
  keys.hidden = false;
  show();
  toggle.addEventListener("click", () => {
    on = !on;
    localStorage.setItem(STORED, on ? "on" : "off");
    show();
  });
  document.addEventListener("keydown", (event) => {
    if (!on || event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
    const button = form.querySelector(`button[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    // In the first second of a page, its buttons take no answer (souk.css), so their keys do not, either.
    if (!button?.checkVisibility({ visibilityProperty: true }) || !isSettled()) return;
    event.preventDefault();
    button.click();
  });
  // The form is sent once, however often the key is pressed.
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent || !isSettled()) event.preventDefault();
    else sent = true;
  });
  addEventListener("pageshow", () => {
    sent = false;
  });
}

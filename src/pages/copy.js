// Gives every block with a button "Copy" its work. Without this script the buttons stay hidden, and people mark the text.
const SHOWN_MS = 2000;

const write = async (text, source) => {
  // Browsers offer the clipboard only on https and on the machine itself.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  getSelection()?.selectAllChildren(source);
  if (!document.execCommand("copy")) throw new Error("The browser does not let a page copy.");
};

for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = button.previousElementSibling;
  const label = button.textContent;
  button.hidden = false;
  // A screen reader says the new words of the button.
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    const done = await write(source.textContent.trim(), source).then(
      () => "Copied",
      () => "Mark the text and copy it",
    );
    button.textContent = done;
    setTimeout(() => {
      button.textContent = label;
    }, SHOWN_MS);
  });
}

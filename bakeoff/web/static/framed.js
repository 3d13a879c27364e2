/** A report in a frame of its own, and the address of what it shows, which is kept in the address of this page. */

import { h, say } from "./dom.js";

const ADDRESS = /^#samples\/[!-~]{1,2000}$/;

/**
 * Make the frame. It may run its scripts, and reach nothing else.
 *
 * A sandboxed page cannot change our address, so the viewer in it says where it is; whatever else a report says is
 * passed over. `home` is the page that such an address belongs to. Asked to copy, we copy that page's address, as the
 * frame's own ends with this start of the app.
 */
export function frame(path, title, home = location.pathname + location.search) {
  const made = h("iframe", { class: "frame", sandbox: "allow-scripts", src: path, title, referrerpolicy: "no-referrer" });
  made.addEventListener("load", () => theme(made));
  addEventListener("message", function told(event) {
    if (!made.isConnected) { removeEventListener("message", told); return; }
    const { bakeoff: kind, hash } = event.data ?? {};
    if (event.source !== made.contentWindow || typeof hash !== "string" || !ADDRESS.test(hash)) return;
    if (home === location.pathname + location.search) history.replaceState(null, "", home + hash);
    if (kind === "copy") navigator.clipboard?.writeText(location.origin + home + hash).then(() => say("link copied"), () => {});
  });
  return made;
}

/** Give the report this page's theme: a frame sees the system's alone. */
const theme = (made) => made.contentWindow.postMessage({ bakeoffTheme: document.documentElement.dataset.theme ?? "auto" }, "*");
new MutationObserver(() => document.querySelectorAll("iframe.frame").forEach(theme)).observe(document.documentElement, { attributeFilter: ["data-theme"] });

/** What the viewer shall show first: the end of this page's address, where it names a sample. */
export const wanted = () => (ADDRESS.test(location.hash) ? location.hash : "");

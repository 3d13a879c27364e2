/** Small helpers: elements are made of text, never of markup, so nothing a model or a file says becomes part of the page. */

export const $ = (id) => document.getElementById(id);

/** Make an element; `on…` attributes are listeners, true and false switch an attribute, children are text or nodes. */
export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (value === true) made.setAttribute(name, "");
    else made.setAttribute(name, value);
  }
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Tell a screen reader, politely and not twice. */
export function say(text) {
  const place = $("said");
  if (place.textContent !== text) place.textContent = text;
}

/** Show a message in its place, or hide the place. */
export function tell(place, text, kind = "bad") {
  place.hidden = !text;
  place.className = `notice ${kind}`;
  place.textContent = text || "";
}

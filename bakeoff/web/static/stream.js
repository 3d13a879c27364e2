/**
 * The live state in every tab over one connection.
 *
 * A browser opens six connections to a server at most, so a connection a tab would stop the seventh tab for good. The
 * tab that holds a lock listens and hands on; when it closes, the next one gets the lock. Where there are no locks (a
 * page over plain http from another machine) only tabs that are seen listen.
 */

const CHANNEL = "bakeoff-live";

/** Call `on.state(live)`, `on.log({fresh, part})` and `on.link(isUp)` as things happen. */
export function follow(on) {
  const channel = "BroadcastChannel" in window ? new BroadcastChannel(CHANNEL) : null;
  const take = (message) => {
    if (message.kind === "state") on.state?.(message.data);
    else if (message.kind === "log") on.log?.(message.data);
    else if (message.kind === "link") on.link?.(message.data);
    else if (message.kind === "hello") last.forEach((kept) => channel?.postMessage(kept));
  };
  const last = new Map();
  let lines = [];
  const give = (kind, data) => {
    const message = { kind, data };
    if (kind === "log") {
      lines = (data.fresh ? [] : lines).concat(data.part.lines).slice(-2000);
      last.set("log", { kind, data: { fresh: true, part: { ...data.part, lines } } });
    } else last.set(kind, message);
    take(message);
    channel?.postMessage(message);
  };
  if (channel) channel.onmessage = (event) => take(event.data);

  function listen() {
    const source = new EventSource("/api/live/events");
    source.addEventListener("state", (event) => give("state", JSON.parse(event.data)));
    source.addEventListener("log", (event) => give("log", JSON.parse(event.data)));
    source.onopen = () => give("link", true);
    source.onerror = () => {
      give("link", false);
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { source.close(); current = listen(); }, 2000);
    };
    return source;
  }
  let current = null;
  if (navigator.locks && channel) {
    channel.postMessage({ kind: "hello" });
    navigator.locks.request(CHANNEL, () => new Promise(() => { current = listen(); }));
  } else {
    const look = () => {
      if (document.hidden) { current?.close(); current = null; }
      else if (!current) current = listen();
    };
    document.addEventListener("visibilitychange", look);
    look();
  }
}

/** Talking to the app. A change carries the token of this start of the app; after a restart it is asked for again. */

let token = null;

export class Refused extends Error {
  constructor(status, body) {
    super(body.error || `the app answered ${status}`);
    this.status = status;
    this.code = body.code || "";
  }
}

async function read(answer) {
  let body;
  try {
    body = await answer.json();
  } catch {
    body = { error: `the app answered ${answer.status}` };
  }
  if (!answer.ok) throw new Refused(answer.status, body);
  return body;
}

export async function get(path) {
  return read(await call(path));
}

export async function post(path, body) {
  for (const isSecond of [false, true]) {
    if (token === null || isSecond) ({ token } = await get("/api/token"));
    try {
      return await read(await call(path, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Bakeoff-Token": token },
        body: JSON.stringify(body),
      }));
    } catch (problem) {
      if (isSecond || problem.code !== "token") throw problem;
    }
  }
}

async function call(path, how) {
  try {
    return await fetch(path, how);
  } catch {
    throw new Refused(0, { error: "the app does not answer; is `bakeoff ui` still running?", code: "gone" });
  }
}

/** Where files of runs are, which changes with every start of the app. */
export async function files() {
  return (await get("/api/token")).files;
}

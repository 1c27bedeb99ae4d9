/** Questions to the server, and actions with the token of the address that was opened. */

const KEPT = "railfab-token";

/** An answer that says what is wrong, in a sentence. */
export class Refused extends Error {}

/** Takes the token out of the address, so that no screenshot and no link of a colleague has it. */
export function takeToken() {
  const given = /^#token=([^&]+)$/.exec(location.hash)?.[1];
  if (given) {
    sessionStorage.setItem(KEPT, decodeURIComponent(given));
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEPT);
}

/** The answer of the server as JSON. */
export async function get(path, query = {}) {
  const filled = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const text = new URLSearchParams(filled).toString();
  return answer(() => fetch(`api/${path}${text ? `?${text}` : ""}`));
}

export async function act(kind, body, token) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  return answer(() => fetch(`api/actions/${kind}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function answer(ask) {
  let response;
  try {
    response = await ask();
  } catch {
    throw new Refused("The server does not answer.");
  }
  const read = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(read.error ?? `The server answered with status ${response.status}.`);
  return read;
}

/** Names of variables that hold credentials. */
const credential = /KEY|SECRET|TOKEN|PASS|IDENTITY/
/** Values that are credentials, also in a wrong variable. */
const pastedCredential = /^(?:kl_|sk_|rk_|pk_|whsec_)|-----BEGIN|\/\/[^/]*@/

const maxShownLength = 60

/**
 * A variable's value for an error message. Credentials are never shown; of a URL only the protocol is, because
 * the rest may contain a password.
 */
export function shownValue(name: string, value: string): string {
  if (name.endsWith('_URL')) {
    const protocol = /^[a-z][a-z0-9+.-]{0,20}:\/\//i.exec(value)?.[0]
    return protocol === undefined ? 'a value without ://' : `a URL that begins with ${protocol}`
  }
  if (credential.test(name.replace(/^KEYLEDGER_/, '')) || pastedCredential.test(value))
    return `a value of length ${value.length}, which is not shown`
  const short = value.length > maxShownLength ? `${value.slice(0, maxShownLength)}…` : value
  return JSON.stringify(short)
}

/** How long a connection may keep this process waiting, and how many there may be. */
export type ConnectionBounds = {
  /** From the first byte of a request, or from connecting, to the end of its headers. */
  headersMs: number
  /** From the first byte of a request to the last byte of its body, except on a route with a slow body. */
  requestMs: number
  /** Between two bytes of a slow body. */
  stallMs: number
  /** Without a byte in either direction, also between two requests. */
  idleMs: number
  /** Open at the same time; a connection above that is closed at once. */
  most: number
}

export const defaultBounds: ConnectionBounds = {
  headersMs: 10_000,
  requestMs: 30_000,
  stallMs: 10_000,
  idleMs: 75_000,
  most: 10_000,
}

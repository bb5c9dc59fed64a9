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

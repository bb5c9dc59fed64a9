/** The embedded stack cannot run. The message says why and how to fix it. */
export class LocalStackError extends Error {
  override readonly name = 'LocalStackError'
}

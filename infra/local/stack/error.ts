/** Why the embedded stack cannot run. The message says what is in the way and how to mend it. */
export class LocalStackError extends Error {
  override readonly name = 'LocalStackError'
}

/** Something did not come to its end in the time that it was given. It may still do so, and nobody waits for it. */
export class TimeoutError extends Error {
  constructor(limitMs: number) {
    super(`no response within ${limitMs} ms`)
    this.name = 'TimeoutError'
  }
}

/** What the work comes to. @throws TimeoutError */
export async function withTimeout<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new TimeoutError(limitMs)), limitMs)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    // The answer may still come after the time limit.
    work.catch(() => undefined)
  }
}

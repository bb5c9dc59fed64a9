/** The work did not finish within its time limit. It may still finish, and its result is ignored. */
export class TimeoutError extends Error {
  constructor(limitMs: number) {
    super(`no response within ${limitMs} ms`)
    this.name = 'TimeoutError'
  }
}

/** Waits for the work, at most limitMs. @throws TimeoutError */
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

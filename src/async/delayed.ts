/** Work that is put off for a while, so that whatever else comes is done with it. No timer runs while there is nothing to do. */
export type Delayed = {
  /**
   * The work is done once the time has passed, also for all that asks until then. What asks during the work is done after it.
   * @param afterMs longer than the usual delay after a failure
   */
  ask: (afterMs?: number) => void
  /** Does the work now, after any that has begun. */
  now: () => Promise<void>
  /** Nothing is done any more unless it is asked for with `now`. */
  cancel: () => void
}

/**
 * Delays work. The timer does not keep the process alive.
 * @param work never rejects; it asks again when it could not be done
 */
export function createDelayed(delayMs: number, work: () => Promise<void>): Delayed {
  let timer: NodeJS.Timeout | undefined
  let last = Promise.resolve()
  let isRunning = false
  /** The longest delay that was asked for during the work. */
  let askedMs: number | undefined
  let isCanceled = false

  const now = () => {
    last = last.then(work)
    return last
  }

  async function run(): Promise<void> {
    timer = undefined
    isRunning = true
    await now()
    isRunning = false
    const afterMs = askedMs
    askedMs = undefined
    if (afterMs !== undefined) ask(afterMs)
  }

  function ask(afterMs = delayMs): void {
    if (isRunning) askedMs = Math.max(askedMs ?? 0, afterMs)
    else if (!isCanceled) timer ??= setTimeout(() => void run(), afterMs).unref()
  }

  return {
    ask,
    now,
    cancel() {
      isCanceled = true
      clearTimeout(timer)
    },
  }
}

/** Work that waits a while for more to do, and is done once for all that asked meanwhile. Nothing runs while nobody asks. */
export type Delayed = {
  /** The work begins when the delay has passed; during the work it means that it is done once more, as long after it. */
  ask: () => void
  /** Nothing begins any more. Work that has begun goes on. */
  cancel: () => void
}

/**
 * Delays work. The timer does not keep the process alive.
 * @param work never rejects; returns after how many milliseconds to do it again, or undefined when nothing is left
 */
export function createDelayed(delayMs: number, work: () => Promise<number | undefined>): Delayed {
  let timer: NodeJS.Timeout | undefined
  let isRunning = false
  let isAsked = false
  let isCanceled = false

  async function run(): Promise<void> {
    timer = undefined
    isRunning = true
    isAsked = false
    const againMs = await work()
    isRunning = false
    if (againMs !== undefined || isAsked) start(againMs ?? delayMs)
  }

  function start(ms: number): void {
    if (!isCanceled) timer ??= setTimeout(() => void run(), ms).unref()
  }

  return {
    ask() {
      if (isRunning) isAsked = true
      else start(delayMs)
    },
    cancel() {
      isCanceled = true
      clearTimeout(timer)
    },
  }
}

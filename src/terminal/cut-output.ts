const cut = new AbortController()

/** Aborts when nothing reads stdout any more, as after `| head -1`: what prints on and on then ends in order. */
export const outputCut: AbortSignal = cut.signal

/** Whether a write failed because nothing reads the output any more. */
export const isCutOutput = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EPIPE'

/**
 * Lets the process live when its output is no longer read: the write fails with EPIPE, which would end it with a stack trace. A command
 * that changes something finishes, and a server goes on.
 */
export function surviveCutOutput(): void {
  const ignored = (error: Error) => {
    if (!isCutOutput(error)) throw error
  }
  process.stderr.on('error', ignored)
  process.stdout.on('error', (error: Error) => {
    ignored(error)
    cut.abort()
  })
}

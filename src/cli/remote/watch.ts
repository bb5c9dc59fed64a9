import { setTimeout as pause } from 'node:timers/promises'
import { CommandUnavailable } from '../../terminal/exit-codes.ts'
import { asLine, inJson, printToStderr } from '../../terminal/output.ts'
import { RemoteError } from './errors.ts'

const everyMs = 2000

/**
 * Reads and shows an answer again and again until Ctrl-C: redrawn at a terminal, otherwise printed when it has
 * changed, with `json` as one line.
 */
export async function watch(
  read: () => Promise<unknown>,
  { json, lines }: { json: boolean; lines: (body: unknown) => string[] },
): Promise<void> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  const redraws = process.stdout.isTTY && !json
  let last: string | undefined
  try {
    while (!stopping.signal.aborted) {
      const text = await read().then(
        (body) => (json ? inJson(body) : lines(body).map(asLine).join('\n')),
        ifPassing,
      )
      if (text !== undefined && text !== last) {
        // Clears what is there, so that shorter lines leave nothing behind.
        process.stdout.write(`${redraws ? '\x1b[H\x1b[2J' : ''}${text}\n`)
        last = text
      }
      await pause(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
  }
}

/** The server may restart meanwhile. @throws every other error */
function ifPassing(error: unknown): undefined {
  const passing =
    error instanceof CommandUnavailable ||
    (error instanceof RemoteError && (error.status >= 500 || error.status === 429))
  if (!passing) throw error
  printToStderr(error.message)
}

import { setTimeout as pause } from 'node:timers/promises'
import { untilInterrupted } from '../../terminal/interruption.ts'
import { asLine, inJson, printToStderr } from '../../terminal/output.ts'
import { isPassing } from './errors.ts'

const everyMs = 2000

/**
 * Reads and shows an answer again and again until Ctrl-C: redrawn at a terminal, otherwise printed when it has
 * changed, with `json` as one line.
 */
export async function watch(
  read: () => Promise<unknown>,
  { json, lines }: { json: boolean; lines: (body: unknown) => string[] },
): Promise<void> {
  const interruption = untilInterrupted()
  const { signal } = interruption
  const redraws = process.stdout.isTTY && !json
  let last: string | undefined
  try {
    while (!signal.aborted) {
      const text = await read().then(
        (body) => (json ? inJson(body) : lines(body).map(asLine).join('\n')),
        ifPassing,
      )
      if (text !== undefined && text !== last) {
        // Clears what is there, so that shorter lines leave nothing behind.
        process.stdout.write(`${redraws ? '\x1b[H\x1b[2J' : ''}${text}\n`)
        last = text
      }
      await pause(everyMs, undefined, { signal }).catch(() => undefined)
    }
  } finally {
    interruption.end()
  }
}

/** The server may restart meanwhile. @throws every other error */
function ifPassing(error: unknown): undefined {
  if (!isPassing(error)) throw error
  printToStderr(error.message)
}

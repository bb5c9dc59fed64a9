import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandRefused } from '../../terminal/exit-codes.ts'
import { untilInterrupted } from '../../terminal/interruption.ts'
import { asLine, inJson, isCutOutput, printToStderr } from '../../terminal/output.ts'
import { isPassing } from './errors.ts'

/**
 * Writes the body of an answer to a new file that only the user may read, or to stdout. An incomplete file is removed.
 * @param file undefined is stdout
 * @param onChunk called for each part
 * @throws CommandRefused when the file exists or cannot be written
 */
export async function saveBody(
  response: Response,
  file: string | undefined,
  onChunk: (chunk: Buffer) => void = () => undefined,
): Promise<void> {
  if (!response.body) return
  const counting = new Transform({
    transform(chunk: Buffer, _, done) {
      onChunk(chunk)
      done(null, chunk)
    },
  })
  if (file === undefined)
    return pipeline(response.body, counting, unclosed(process.stdout)).catch((error: unknown) => {
      if (!isCutOutput(error)) throw error
    })
  const out = createWriteStream(file, { flags: 'wx', mode: 0o600 })
  try {
    await pipeline(response.body, counting, out)
  } catch (error) {
    // A write stream reports only now whether the file could be opened.
    if (error instanceof Error && 'path' in error && error.path === file)
      throw new CommandRefused(`Cannot write ${file}: ${error.message}`)
    await rm(file, { force: true })
    throw error
  }
}

/** Stdout belongs to the process, so a pipeline must not end it. */
const unclosed = (out: NodeJS.WriteStream): Writable =>
  new Writable({ write: (chunk: Buffer, _, done) => void out.write(chunk, (error) => done(error)) })

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

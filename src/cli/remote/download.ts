import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CommandRefused } from '../../terminal/exit-codes.ts'
import { isCutOutput } from '../../terminal/output.ts'

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

import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

export type Environment = Readonly<Record<string, string>>
/** The bars that long work prints, which on a slow machine is any work. */
export const withoutProgress = (stderr: string): string => stderr.replaceAll(/^.*[█░]{30}.*\n/gm, '')

export type Finished = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

const script = fileURLToPath(new URL('command-process.ts', import.meta.url))
/** A text that no command prints. */
const mark = '[the command has ended] '

/**
 * Runs commands one after another in one process, because starting a process takes longer than most commands.
 * @param own the directory and environment of the process
 * @param onText receives all output
 */
export function startCommands(own: { cwd: string; env: Environment }, onText: (text: string) => void) {
  const child = spawn(process.execPath, [script, mark], { ...own, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  if (!child.stdout || !child.stderr) throw new Error('the process of the commands has no outputs')
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) =>
      reject(new Error(`the process of the commands ended with ${code ?? signal}: ${stderr.rest()}`)),
    )
  })
  ended.catch(() => undefined)
  const stdout = readMarked(child.stdout, onText)
  const stderr = readMarked(child.stderr, onText)
  let last: Promise<unknown> = Promise.resolve()

  async function runNext(words: readonly string[], environment: Environment): Promise<Finished> {
    child.send({ words, environment })
    const [printed, said] = await Promise.race([Promise.all([stdout.next(), stderr.next()]), ended])
    return {
      code: Number(printed.ending),
      signal: null,
      stdout: printed.text,
      stderr: withoutProgress(said.text),
    }
  }

  return {
    run(words: readonly string[], environment: Environment): Promise<Finished> {
      const finished = last.then(() => runNext(words, environment))
      last = finished.catch(() => undefined)
      return finished
    },
    async end(): Promise<void> {
      child.kill('SIGKILL')
      await ended.catch(() => undefined)
    },
  }
}

/** Splits a stream at lines that begin with the mark. */
function readMarked(stream: Readable, onText: (text: string) => void) {
  let text = ''
  let changed = Promise.withResolvers<void>()
  stream.setEncoding('utf8').on('data', (more: string) => {
    text += more
    onText(more)
    changed.resolve()
    changed = Promise.withResolvers()
  })
  return {
    rest: () => text,
    async next(): Promise<{ text: string; ending: string }> {
      for (;;) {
        const start = text.indexOf(mark)
        const end = text.indexOf('\n', start)
        if (start >= 0 && end >= 0) {
          const found = { text: text.slice(0, start), ending: text.slice(start + mark.length, end) }
          text = text.slice(end + 1)
          return found
        }
        await changed.promise
      }
    },
  }
}

import { spawn } from 'node:child_process'
import { extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

const program = join(import.meta.dirname, '../cli', `keyledger${extname(import.meta.filename)}`)

/**
 * Runs a command in a process of its own, so that the system can share the processor between the two.
 * @param words the command with its options; `--child` ends it when this process dies
 * @param allowed the exit codes that are no error, if something was printed
 * @returns what it printed
 * @throws Error with its last message
 */
export async function runOwnCommand(
  words: readonly string[],
  signal: AbortSignal,
  allowed: readonly number[] = [0],
): Promise<{ code: number; printed: string }> {
  const child = spawn(process.execPath, [program, ...words], {
    // The channel closes when this process dies, and then the command ends.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const stop = () => child.kill('SIGTERM')
  signal.addEventListener('abort', stop, { once: true })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  try {
    const [code, printed, errorText] = await Promise.all([ended, textOf(child.stdout), textOf(child.stderr)])
    const isAllowed = code !== null && allowed.includes(code) && (code === 0 || printed !== '')
    if (isAllowed) return { code, printed }
    throw new Error(errorText.trim().split('\n').at(-1) || `the process of ${words[0]} exited with ${code}`)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const textOf = (output: Readable | null): Promise<string> =>
  output === null ? Promise.resolve('') : text(output)

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { CommandMisused, CommandRefused } from '../../terminal/exit-codes.ts'

/** Reads a file, or stdin for `-`. @param what what it is for, in messages */
export async function readInput(path: string, what: string): Promise<string> {
  return path === '-' ? text(process.stdin) : readBytes(path, what).toString('utf8')
}

/** Reads a file. @throws CommandMisused when it cannot be read */
export function readBytes(path: string, what: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandMisused(`${what}: cannot read ${path}: ${why}`)
  }
}

/** Parses JSON that is given directly, as `@<file>`, or as `-` for stdin. @throws CommandMisused */
export async function readJson(given: string, what: string): Promise<unknown> {
  const source = given === '-' ? '-' : given.startsWith('@') ? given.slice(1) : undefined
  const json = source === undefined ? given : await readInput(source, what)
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandMisused(`${what} is not JSON: ${why}`)
  }
}

/**
 * Asks a person whether to go on. `--yes` answers it; it never replaces the approval of another person.
 * @throws CommandRefused for another answer, CommandMisused when nobody can answer
 */
export async function askFirst(question: string | undefined, options: { yes?: boolean }): Promise<void> {
  if (question === undefined || options.yes) return
  if (!process.stdin.isTTY) {
    throw new CommandMisused(`${question} There is no terminal to answer it at: add --yes.`)
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${question} [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandRefused('Nothing was changed.')
  } finally {
    terminal.close()
  }
}

import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { CommandMisused } from '../terminal/exit-codes.ts'

/**
 * Reads a secret from the first line of a file; `-` is stdin.
 * @throws CommandMisused, never with the secret in it
 */
export async function firstLineOf(path: string): Promise<string> {
  try {
    const content = path === '-' ? await text(process.stdin) : readFileSync(path, 'utf8')
    return content.split(/\r?\n/, 1)[0] ?? ''
  } catch (error) {
    throw new CommandMisused(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const enter = new Set(['\r', '\n', '\u0004'])
const interrupt = '\u0003'
const erase = new Set(['\u007f', '\b'])

/** Reads a line from the terminal without echoing it. @throws CommandMisused when it is interrupted */
export async function typedHidden(prompt: string): Promise<string> {
  const { stdin } = process
  process.stderr.write(prompt)
  stdin.setRawMode(true).setEncoding('utf8').resume()
  let typed: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const onData = (more: string) => {
    for (const character of more) {
      if (enter.has(character)) return resolve(typed.join(''))
      if (character === interrupt) return reject(new CommandMisused('Interrupted. Nothing was changed.'))
      typed = erase.has(character) ? typed.slice(0, -1) : [...typed, character]
    }
  }
  stdin.on('data', onData)
  try {
    return await promise
  } finally {
    stdin.off('data', onData).setRawMode(false).pause()
    process.stderr.write('\n')
  }
}

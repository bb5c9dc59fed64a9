import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The path of a Node older than the bundled one, if this machine has one. */
export function oldNode(): string | undefined {
  const own = join(import.meta.dirname, '../../node_modules')
  const candidates = (process.env.PATH ?? '').split(':').filter((directory) => !directory.startsWith(own))
  return [...candidates, '/usr/local/bin', '/usr/bin']
    .map((directory) => join(directory, 'node'))
    .find((node) => existsSync(node) && Number(/^v(\d+)/.exec(versionOf(node))?.[1]) < 24)
}

function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' })
}

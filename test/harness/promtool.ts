import { delimiter, join } from 'node:path'
import { programAt } from './debian.ts'

const inPath = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'promtool'))

/** Prometheus' rule checker, installed if necessary; undefined when it cannot be installed. */
export function promtool(): string | undefined {
  try {
    return programAt([...inPath, '/usr/bin/promtool'], ['prometheus'], 'no promtool')
  } catch {
    return undefined
  }
}

import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Where a test saves its pictures, in a folder of this name; undefined unless `npm run pictures` runs it. */
export function pictureFolder(name: string): string | undefined {
  const directory = process.env.KEYLEDGER_PICTURES
  if (directory === undefined) return undefined
  const folder = resolve(join(import.meta.dirname, '../..'), directory, name)
  mkdirSync(folder, { recursive: true })
  return folder
}

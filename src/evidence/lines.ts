import type { ArchivedFile } from './zip.ts'

/** So many lines stand in one file, and as much is in memory at once. */
const linesEach = 500

/** A file as it is written by a program for programs. */
export const jsonFile = (name: string, value: unknown): ArchivedFile => ({
  name,
  content: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
})

/** Values as JSON lines, in as many files as it takes: `<name>-0001.jsonl` and on. None makes no file. */
export async function* lineFiles(name: string, values: AsyncIterable<unknown>): AsyncIterable<ArchivedFile> {
  let lines: string[] = []
  let files = 0
  const file = (): ArchivedFile => {
    const content = Buffer.from(`${lines.join('\n')}\n`)
    lines = []
    return { name: `${name}-${String(++files).padStart(4, '0')}.jsonl`, content }
  }
  for await (const value of values) {
    lines.push(JSON.stringify(value))
    if (lines.length === linesEach) yield file()
  }
  if (lines.length > 0) yield file()
}

import type { ArchivedFile } from './zip.ts'

/** How many lines a file has at most, which bounds the memory. */
const linesEach = 500

/** A JSON file. */
export const jsonFile = (name: string, value: unknown): ArchivedFile => ({
  name,
  content: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
})

/**
 * Values as JSON lines, in files of {@link linesEach}: `<name>-0001.jsonl` and so on. No values make no file.
 */
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

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
  let number = 0
  for await (const batch of batchesOf(values)) yield lineFile(name, ++number, batch)
}

/** One file of JSON lines. */
export const lineFile = (name: string, number: number, values: readonly unknown[]): ArchivedFile => ({
  name: `${name}-${String(number).padStart(4, '0')}.jsonl`,
  content: Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join('')),
})

/** The values of each file. */
export async function* batchesOf<T>(values: AsyncIterable<T>): AsyncIterable<T[]> {
  let batch: T[] = []
  for await (const value of values) {
    batch.push(value)
    if (batch.length < linesEach) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** The lines of a text file. @throws the error of reading it, which readline leaves to the stream */
export async function* linesOf(file: string): AsyncIterable<string> {
  const input = createReadStream(file, 'utf8')
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  let failure: Error | undefined
  input.on('error', (error) => {
    failure = error
    lines.close()
  })
  for await (const line of lines) yield line
  if (failure) throw failure
}

import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { wholeNumberOf } from '../../numbers.ts'
import { askVendor } from '../../relay/online.ts'
import { acceptAnswer, makeRelease, makeRequest } from '../../relay/requests.ts'
import { CommandMisused } from '../../terminal/exit-codes.ts'
import { printToStderr } from '../../terminal/output.ts'
import { withRelay, writeOut } from './open.ts'
import type { DataOption, OutOption } from './options.ts'

/** `keyledger relay accept` */
export async function accept(path: string, { data }: DataOption): Promise<void> {
  const answer = await contentOf(path)
  await withRelay(data, ({ database, key, clock }) => {
    acceptAnswer(database, key, clock, answer)
  })
  printToStderr('The answer was accepted. A relay that runs goes by it within a second.')
}

/** `keyledger relay renew` */
export async function renew({
  data,
  out,
  seats,
}: DataOption & OutOption & { seats?: string }): Promise<void> {
  const wanted = seats === undefined ? undefined : wholeNumberOf('--seats', seats, 1, 100_000)
  await withRelay(data, async ({ database, key, clock, enrollment }) => {
    const request = makeRequest(database, key, clock, wanted)
    if (enrollment.server === null || out !== undefined) {
      writeOut(request, out)
      printToStderr('Send this request to the vendor, and accept the answer: keyledger relay accept <file>.')
      return
    }
    acceptAnswer(database, key, clock, await askVendor(enrollment, { request }))
    printToStderr('The relay is renewed. A relay that runs goes by the new certificate within a second.')
  })
}

/** `keyledger relay release` */
export async function release({ data, out }: DataOption & OutOption): Promise<void> {
  await withRelay(data, async ({ database, key, clock, enrollment }) => {
    const statement = makeRelease(database, key, clock)
    if (enrollment.server === null || out !== undefined) {
      writeOut(statement, out)
      printToStderr('Send this statement to the vendor: the seats are free once the vendor has it.')
      return
    }
    await askVendor(enrollment, { release: statement })
    printToStderr('The seats are free again at the vendor.')
  })
}

async function contentOf(path: string): Promise<string> {
  try {
    return path === '-' ? await text(process.stdin) : readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandMisused(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

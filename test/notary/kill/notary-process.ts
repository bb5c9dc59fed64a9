// A notary in a process of its own, without the lock that keeps others away. It prints every checkpoint that it has signed, also
// those that nobody else has seen, and kills itself at a statement: before it is sent, or before the answer arrives.
import { writeSync } from 'node:fs'
import pg from 'pg'
import { z } from 'zod'
import { createPool } from '../../../projections/database/pool.ts'
import { connectLedger } from '../../../src/ledger/ledger.ts'
import { openRawLog } from '../../../src/ledger/raw/log.ts'
import { followLog } from '../../../src/notary/notary.ts'
import { signer } from '../signer.ts'

const [databaseUrl, eventStoreUrl, moment, statement] = z
  .tuple([z.string(), z.string(), z.enum(['never', 'before', 'sent']), z.coerce.number()])
  .parse(process.argv.slice(2))

let statements = 0
const query: unknown = pg.Client.prototype.query

function watched(this: pg.Client, ...given: unknown[]): unknown {
  const text = textOf(given)
  const counts = text !== undefined && !text.startsWith('set ')
  if (counts) statements += 1
  const isLast = counts && moment !== 'never' && statements === statement
  for (const note of notesIn(given)) print({ note })
  if (isLast && moment === 'before') kill()
  const answer: unknown = Reflect.apply(query as () => unknown, this, given)
  // The statement is on its way, and the answer never arrives.
  if (isLast) setImmediate(kill)
  return answer
}
Object.assign(pg.Client.prototype, { query: watched })

const textOf = ([first]: unknown[]): string | undefined => {
  if (typeof first === 'string') return first
  return typeof first === 'object' && first && 'text' in first ? String(first.text) : undefined
}

/** The signed notes among the values of a statement. */
const notesIn = (given: unknown[]): string[] =>
  given
    .flat()
    .filter((value): value is string => typeof value === 'string' && value.startsWith(`${signer.origin}\n`))

const print = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`)

function kill(): never {
  print({ killedAt: statements })
  process.kill(process.pid, 'SIGKILL')
  throw new Error('it is dead')
}

const db = createPool(databaseUrl, { size: 2 })
const log = openRawLog(eventStoreUrl)
const ledger = connectLedger(eventStoreUrl)
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
while (!stop.signal.aborted) {
  const options = { db, log, ledger, signer, now: () => new Date(), pollMs: 5, checkpointMs: 5 }
  await followLog(options, stop.signal).catch((error: unknown) => {
    // Another one was faster; in the server, too, it starts again.
    print({ failed: String(error) })
  })
}
print({ statements })
process.exit(0)

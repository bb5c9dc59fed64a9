// The baseline of commands: appends events of the same size to new streams of the same store, 64 at a time.
import { randomUUID } from 'node:crypto'
import { jsonEvent, NO_STREAM } from '@eventstore/db-client'
import { clientOf } from '../../src/ledger/connection/client.ts'
import { wholeOption } from './number-option.ts'

const [url = '', sizeText = '900', countText = '20000'] = process.argv.slice(2)
const count = wholeOption('The number of events', countText, 1, 1_000_000_000)
const client = clientOf(url)
const padding = 'x'.repeat(wholeOption('The size of an event', sizeText, 60, 10_000_000) - 60)

async function appender(): Promise<void> {
  while (left-- > 0) {
    const event = jsonEvent({ type: 'BareAppend', data: { id: randomUUID(), padding } })
    await client.appendToStream(`bare-${randomUUID()}`, event, { expectedRevision: NO_STREAM })
  }
}

let left = 2000
await Promise.all(Array.from({ length: 64 }, appender))
left = count
const started = performance.now()
await Promise.all(Array.from({ length: 64 }, appender))
const perSecond = (count * 1000) / (performance.now() - started)
process.stdout.write(`${JSON.stringify({ perSecond })}\n`)
await client.dispose()

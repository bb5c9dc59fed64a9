import type { MeterEvent } from '../../src/domain/meters/events.ts'
import { meterKey, streamName } from '../../src/domain/streams.ts'
import { connectLedger } from '../../src/ledger/ledger.ts'
import type { Stores } from '../harness/process.ts'
import { type Client, type Minted, productId } from './vendor.ts'

/** Works on numbers, so many at once. */
export async function atOnce(
  workers: number,
  count: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let index = next++; index < count; index = next++) await work(index)
    }),
  )
}

/** Counts a use of `calls`. @returns the answer; that of a key that was used for something else, too */
export async function consume(
  send: Client['send'],
  { licenseKey }: Pick<Minted, 'licenseKey'>,
  { amount, key }: { amount: string; key: string },
): Promise<Record<string, unknown>> {
  const use = { license_key: licenseKey, product_id: productId, meter: 'calls', amount, idempotency_key: key }
  const { status, body } = await send('POST', '/v1/licenses/consume', use)
  if (status !== 200 && status !== 422) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

/** What was recorded as used under the meter `calls` of a license or a customer. */
export async function usesIn({ eventstoreUrl }: Stores, ownerId: string) {
  const ledger = connectLedger(eventstoreUrl)
  try {
    const events: MeterEvent[] = []
    for await (const entry of ledger.readStream(streamName('meter', meterKey(ownerId, 'calls')))) {
      if (!entry.readable || entry.category !== 'meter') throw new Error('unreadable')
      events.push(entry.event)
    }
    return events.flatMap((event) => (event.type === 'UsesRecorded' ? event.data.uses : []))
  } finally {
    await ledger.close()
  }
}

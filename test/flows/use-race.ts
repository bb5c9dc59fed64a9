import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { amountText } from '../../src/domain/meters/amount.ts'
import type { MeterEvent } from '../../src/domain/meters/events.ts'
import { meterKey, streamName } from '../../src/domain/streams.ts'
import { connectLedger } from '../../src/ledger/ledger.ts'
import { type createHost, freePort, type Stores } from '../harness/process.ts'
import { wholeVariable } from '../harness/variables.ts'
import { type Minted, productId } from './vendor.ts'

/** `KEYLEDGER_TEST_USES=5000` for a long run. */
export const uses = wholeVariable('KEYLEDGER_TEST_USES', 400)
const servers = 3

const Answer = z.object({ allowed: z.boolean(), remaining: z.string() })

/** What a use was answered in the end, and under which key it was sent. */
export type RacedUse = { key: string; allowed: boolean; amount: string; licenseId: string }

/** Starts servers that share their stores. @returns the address of one, and a race on all of them */
export async function startServers(host: ReturnType<typeof createHost>, stores: Stores) {
  const ports = await Promise.all(Array.from({ length: servers }, freePort))
  const running = await Promise.all(ports.map((port) => host.serve(stores.environment, { port })))

  async function killUntil(end: AbortSignal): Promise<void> {
    for (let index = 0; !end.aborted; index = (index + 1) % servers) {
      await sleep(1500)
      await running[index]?.end('SIGKILL')
      const port = ports[index]
      if (port !== undefined) running[index] = await host.serve(stores.environment, { port })
    }
  }

  /** Licenses take turns in using `calls`, on servers that are killed, with a tenth of the answers lost. */
  async function race(
    token: string,
    licenses: readonly Minted[],
    keyOf: (index: number) => string,
  ): Promise<{ answers: RacedUse[]; lost: number }> {
    const racing = new AbortController()
    const killing = killUntil(racing.signal)
    const answers: RacedUse[] = []
    let lost = 0
    let next = 0
    async function ask(index: number, { licenseId, licenseKey }: Minted): Promise<void> {
      const key = keyOf(index)
      // More in all than there is.
      const amount = amountText(BigInt(1 + ((index * 7919) % 1_000_000)))
      const body = { license_key: licenseKey, product_id: productId, meter: 'calls', amount }
      for (;;) {
        const port = ports[Math.floor(Math.random() * servers)]
        const isLost = Math.random() < 0.1
        const answer = await consume(port ?? 0, token, { ...body, idempotency_key: key }).catch(
          () => undefined,
        )
        if (isLost) lost++
        else if (answer) return void answers.push({ key, allowed: answer.allowed, amount, licenseId })
        if (!answer) await sleep(50)
      }
    }
    async function work(): Promise<void> {
      for (let index = next++; index < uses; index = next++) {
        const license = licenses[index % licenses.length]
        if (license) await ask(index, license)
      }
    }
    await Promise.all(Array.from({ length: 32 }, work))
    racing.abort()
    await killing
    return { answers, lost }
  }
  return { race, address: () => running[0]?.address ?? '' }
}

/** @throws for an answer that says nothing about the use: it is to be sent again */
export async function consume(port: number, token: string, body: object): Promise<z.infer<typeof Answer>> {
  const response = await fetch(`http://localhost:${port}/v1/licenses/consume`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer: unknown = await response.json()
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(answer)}`)
  return Answer.parse(answer)
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

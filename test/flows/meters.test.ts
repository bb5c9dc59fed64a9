// Guarantee: over several servers, with lost answers, retries under the same keys and servers that are killed, each key that was
// allowed is counted exactly once, and never more is allowed than there is.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../projections/database/pool.ts'
import { amountOf, amountText, sumOf } from '../../src/domain/meters/amount.ts'
import type { MeterEvent } from '../../src/domain/meters/events.ts'
import { meterKey, streamName } from '../../src/domain/streams.ts'
import { connectLedger } from '../../src/ledger/ledger.ts'
import { createHost, freePort, type Stores } from '../harness/process.ts'
import { wholeVariable } from '../harness/variables.ts'
import { client, createVendor, productId } from './vendor.ts'

const host = createHost()
const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

/** `KEYLEDGER_TEST_USES=5000` for a long run. */
const uses = wholeVariable('KEYLEDGER_TEST_USES', 400)
const servers = 3
/** Of one license, whose half of the uses is more than twice that. */
const included = String(uses / 10)

const Answer = z.object({ allowed: z.boolean(), remaining: z.string() })
const verification = z.object({ events: z.int(), rows: z.int(), differences: z.array(z.unknown()) })

test(`${uses} uses of two licenses race on ${servers} servers that are killed, with a tenth of the answers lost`, async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const ports = await Promise.all(Array.from({ length: servers }, freePort))
  const running = await Promise.all(ports.map((port) => host.serve(stores.environment, { port })))
  const [first] = running.map(({ address }) => client(address, token))
  if (!first) throw new Error('no server')
  const meters = [{ meter: 'calls', unit: 'calls', included, period: 'license', overage: 'block' }]
  const product = { productId, name: 'API', keyTypes: [{ name: 'Pro', meters }] }
  expect((await first.send('POST', '/v1/products', product)).status).toBe(201)
  const licenses = await Promise.all([first.mint(), first.mint()])

  const racing = new AbortController()
  const killing = (async () => {
    for (let index = 0; !racing.signal.aborted; index = (index + 1) % servers) {
      await sleep(1500)
      await running[index]?.end('SIGKILL')
      const port = ports[index]
      if (port !== undefined) running[index] = await host.serve(stores.environment, { port })
    }
  })()
  let lost = 0
  const asked = Array.from({ length: uses }, (_, index) => ({
    license: licenses[index % 2],
    key: `use-${index}`,
    // More in all than there is.
    amount: amountText(BigInt(1 + ((index * 7919) % 1_000_000))),
  }))
  let next = 0
  const answers = new Map<string, { allowed: boolean; amount: string; licenseId: string }>()
  const work = async (): Promise<void> => {
    for (let use = asked[next++]; use; use = asked[next++]) {
      const { license, key, amount } = use
      if (!license) throw new Error('no license')
      const body = { license_key: license.licenseKey, product_id: productId, meter: 'calls', amount }
      for (;;) {
        const port = ports[Math.floor(Math.random() * servers)]
        const isLost = Math.random() < 0.1
        const answer = await consume(port ?? 0, token, { ...body, idempotency_key: key }).catch(
          () => undefined,
        )
        if (answer && !isLost) {
          answers.set(key, { allowed: answer.allowed, amount, licenseId: license.licenseId })
          break
        }
        if (isLost) lost++
        if (!answer) await sleep(50)
      }
    }
  }
  await Promise.all(Array.from({ length: 32 }, work))
  racing.abort()
  await killing

  expect(lost).toBeGreaterThan(uses / 20)
  for (const { licenseId } of licenses) {
    const own = [...answers].filter(([, answer]) => answer.licenseId === licenseId)
    const allowed = own.filter(([, answer]) => answer.allowed)
    const lines = await usesIn(stores, licenseId)
    expect(lines.map(({ key }) => key).toSorted()).toStrictEqual(allowed.map(([key]) => key).toSorted())
    const used = sumOf(lines.map(({ amount }) => amountOf(amount)))
    expect(used).toBe(sumOf(allowed.map(([, { amount }]) => amountOf(amount))))
    expect(used).toBeLessThanOrEqual(amountOf(included))
    const { body } = await client(running[0]?.address ?? '', token).send(
      'GET',
      `/v1/licenses/${licenseId}/meters`,
    )
    expect(body).toMatchObject({
      meters: [{ used: amountText(used), remaining: amountText(amountOf(included) - used) }],
    })
  }
  // Otherwise nothing was refused, and the race proves less.
  expect([...answers.values()].some(({ allowed }) => !allowed)).toBe(true)
  const found = await host.json(verification, ['projections', 'verify'], stores.environment)
  expect(found).toStrictEqual({ ...found, differences: [] })
})

test('a server that is killed right after the append has counted, and the retry counts nothing more', async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const [one, two] = await Promise.all([host.serve(stores.environment), host.serve(stores.environment)])
  const vendor = client(one.address, token)
  const meters = [{ meter: 'calls', unit: 'calls', included: '100', period: 'license', overage: 'block' }]
  await vendor.send('POST', '/v1/products', { productId, name: 'API', keyTypes: [{ name: 'Pro', meters }] })
  const license = await vendor.mint()
  const db = createPool(stores.databaseUrl)
  closing.push(() => db.end())
  // The read models of both servers stand still: what was appended is in none of them.
  const holder = await db.connect()
  await holder.query('begin; lock table read_models.meters in exclusive mode')
  const port = (server: { address: string }) => Number(new URL(server.address).port)
  const body = {
    ...{ license_key: license.licenseKey, product_id: productId, meter: 'calls', amount: '60' },
    idempotency_key: 'once',
  }
  expect(await consume(port(one), token, body)).toMatchObject({ allowed: true, remaining: '40' })
  await one.end('SIGKILL')
  expect(await consume(port(two), token, body)).toMatchObject({ allowed: true, remaining: '40' })
  expect(await consume(port(two), token, { ...body, idempotency_key: 'another' })).toMatchObject({
    allowed: false,
    remaining: '40',
  })
  await holder.query('rollback')
  holder.release()
  expect(await usesIn(stores, license.licenseId)).toMatchObject([{ key: 'once', amount: '60' }])
})

/** @throws for an answer that says nothing about the use: it is to be sent again */
async function consume(port: number, token: string, body: object): Promise<z.infer<typeof Answer>> {
  const response = await fetch(`http://localhost:${port}/v1/licenses/consume`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer: unknown = await response.json()
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(answer)}`)
  return Answer.parse(answer)
}

async function usesIn({ eventstoreUrl }: Stores, licenseId: string) {
  const ledger = connectLedger(eventstoreUrl)
  try {
    const events: MeterEvent[] = []
    for await (const entry of ledger.readStream(streamName('meter', meterKey(licenseId, 'calls')))) {
      if (!entry.readable || entry.category !== 'meter') throw new Error('unreadable')
      events.push(entry.event)
    }
    return events.flatMap((event) => (event.type === 'UsesRecorded' ? event.data.uses : []))
  } finally {
    await ledger.close()
  }
}

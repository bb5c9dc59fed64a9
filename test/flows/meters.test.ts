// Guarantee: over several servers, with lost answers, retries under the same keys and servers that are killed, each key that was
// allowed is counted exactly once, and never more is allowed than there is.
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../projections/database/pool.ts'
import { amountOf, amountText, sumOf } from '../../src/domain/meters/amount.ts'
import { createHost } from '../harness/process.ts'
import { consume, startServers, uses, usesIn } from './use-race.ts'
import { client, createVendor, productId } from './vendor.ts'

const host = createHost()
const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

/** Of one license, whose half of the uses is more than twice that. */
const included = String(uses / 10)

const verification = z.object({ events: z.int(), rows: z.int(), differences: z.array(z.unknown()) })

test(`${uses} uses of two licenses race on servers that are killed, with a tenth of the answers lost`, async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const { race, address } = await startServers(host, stores)
  const first = client(address(), token)
  const meters = [{ meter: 'calls', unit: 'calls', included, period: 'license', overage: 'block' }]
  const product = { productId, name: 'API', keyTypes: [{ name: 'Pro', meters }] }
  expect((await first.send('POST', '/v1/products', product)).status).toBe(201)
  const licenses = await Promise.all([first.mint(), first.mint()])

  const { answers, lost } = await race(token, licenses, (index) => `use-${index}`)

  expect(lost).toBeGreaterThan(uses / 20)
  for (const { licenseId } of licenses) {
    const allowed = answers.filter((use) => use.licenseId === licenseId && use.allowed)
    const lines = await usesIn(stores, licenseId)
    expect(lines.map(({ key }) => key).toSorted()).toStrictEqual(allowed.map(({ key }) => key).toSorted())
    const used = sumOf(lines.map(({ amount }) => amountOf(amount)))
    expect(used).toBe(sumOf(allowed.map(({ amount }) => amountOf(amount))))
    expect(used).toBeLessThanOrEqual(amountOf(included))
    const { body } = await client(address(), token).send('GET', `/v1/licenses/${licenseId}/meters`)
    expect(body).toMatchObject({
      meters: [{ used: amountText(used), remaining: amountText(amountOf(included) - used) }],
    })
  }
  // Otherwise nothing was refused, and the race proves less.
  expect(answers.some(({ allowed }) => !allowed)).toBe(true)
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

test('licenses that share a meter race for it with the same keys, and never use more than there is together', async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const { race, address } = await startServers(host, stores)
  const first = client(address(), token)
  const product = { productId, name: 'API', keyTypes: [{ name: 'Pro' }] }
  expect((await first.send('POST', '/v1/products', product)).status).toBe(201)
  const licenses = await Promise.all(Array.from({ length: 5 }, () => first.mint()))
  const meters = [{ meter: 'calls', unit: 'calls', included, period: 'license', overage: 'block' }]
  const created = await first.send('POST', '/v1/customers', { email: 'team@example.com', meters })
  const { customer } = z.object({ customer: z.object({ id: z.string() }) }).parse(created.body)
  for (const { licenseId } of licenses)
    await first.send('POST', `/v1/customers/${customer.id}/link-license`, { licenseId })

  // Each license numbers its requests from 0.
  const { answers, lost } = await race(
    token,
    licenses,
    (index) => `use-${Math.floor(index / licenses.length)}`,
  )

  expect(lost).toBeGreaterThan(uses / 20)
  const nameOf = ({ key, licenseId }: { key: string; licenseId?: string | undefined }) =>
    `${licenseId} ${key}`
  const allowed = answers.filter((use) => use.allowed)
  const lines = await usesIn(stores, customer.id)
  expect(lines.map(nameOf).toSorted()).toStrictEqual(allowed.map(nameOf).toSorted())
  const used = sumOf(lines.map(({ amount }) => amountOf(amount)))
  expect(used).toBe(sumOf(allowed.map(({ amount }) => amountOf(amount))))
  expect(used).toBeLessThanOrEqual(amountOf(included))
  expect(allowed.length).toBeLessThan(answers.length)
  for (const { licenseId } of licenses) expect(await usesIn(stores, licenseId)).toStrictEqual([])
  const { body } = await client(address(), token).send('GET', `/v1/customers/${customer.id}/meters`)
  expect(body).toMatchObject({ meters: [{ used: amountText(used) }] })
  const found = await host.json(verification, ['projections', 'verify'], stores.environment)
  expect(found).toStrictEqual({ ...found, differences: [] })
})

// Guarantee: over several servers, with lost answers, retries under the same keys and servers that are killed, each key that was
// allowed is counted exactly once, and never more is allowed than there is.
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../projections/database/pool.ts'
import { amountOf, amountText, sumOf } from '../../src/domain/meters/amount.ts'
import type { Keyset } from '../../src/sdk/javascript/index.ts'
import { createHost } from '../harness/process.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { included, runHistory, steps } from '../meters/history.ts'
import { askedOf } from './asked-meter.ts'
import { atOnce, consume, usesIn } from './counted-uses.ts'
import { startKilledServers } from './killed-servers.ts'
import { type Client, client, clientThat, createSdkKey, createVendor, productId, tenantId } from './vendor.ts'

const host = createHost()
const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

/** `KEYLEDGER_TEST_USES=5000` for a long run. */
const uses = wholeVariable('KEYLEDGER_TEST_USES', 400)
/** `KEYLEDGER_TEST_METERS=10000` for a long run. */
const histories = wholeVariable('KEYLEDGER_TEST_METERS', 18)
const servers = 3

/** All apps of the histories call from one address. */
const noLimitsOfApps = {
  KEYLEDGER_LIMIT_CLIENT_ACTIVATE: 'off',
  KEYLEDGER_LIMIT_CLIENT_VALIDATE: 'off',
  KEYLEDGER_LIMIT_CLIENT_INSTANCE: 'off',
  KEYLEDGER_LIMIT_CLIENT_TENANT: 'off',
}

const Answer = z.object({ allowed: z.boolean() })
const PublishedKeys = z.object({ keys: z.record(z.string(), z.string()) })
const verification = z.object({ events: z.int(), rows: z.int(), differences: z.array(z.unknown()) })

test(`${uses} uses that race and ${histories} random histories, on ${servers} servers that are killed, with a tenth of the answers lost`, {
  timeout: testMs * Math.max(1, histories / 100, uses / 1000),
}, async () => {
  const stores = await host.stores()
  const environment = { ...stores.environment, ...noLimitsOfApps }
  const [token, sdkKey] = [await createVendor(environment), await createSdkKey(environment)]
  const killed = await startKilledServers(host, environment, token, servers, sdkKey)
  await makeProduct(client(killed.address, token), amountText(included))
  const insistent = clientThat(killed.insist)
  const [raced] = await killed.whileKilled(() => Promise.all([raceUses(insistent), runHistories(insistent)]))

  expect(killed.lost()).toBeGreaterThan(uses / 20)
  for (const { license, allowed, refused } of raced) {
    const lines = await usesIn(stores, license.licenseId)
    expect(lines.map(({ key }) => key).toSorted()).toStrictEqual([...allowed.keys()].toSorted())
    const used = sumOf(lines.map(({ amount }) => amountOf(amount)))
    expect(used).toBe(sumOf(allowed.values()))
    expect(used).toBeLessThanOrEqual(included)
    // Otherwise the race proves less.
    expect(refused).toBeGreaterThan(0)
    const standing = await askedOf(insistent.send, license, keysetOf(insistent)).standing()
    expect(standing).toMatchObject({ used, remaining: included - used })
  }
  const found = await host.json(verification, ['projections', 'verify'], stores.environment)
  expect(found).toStrictEqual({ ...found, differences: [] })
})

/** The keys of the tenant, asked for once something is signed. */
function keysetOf(vendor: Client): () => Promise<Keyset> {
  let asked: Promise<Keyset> | undefined
  return () =>
    (asked ??= vendor
      .send('GET', `/${tenantId}/.well-known/service-keys`)
      .then(({ body }) => PublishedKeys.parse(body)))
}

/** Two licenses, whose uses are more than twice what there is. */
async function raceUses(vendor: Client) {
  const raced = (await Promise.all([vendor.mint(), vendor.mint()])).map((license) => ({
    license,
    allowed: new Map<string, bigint>(),
    refused: 0,
  }))
  await atOnce(32, uses, async (index) => {
    const of = raced[index % 2]
    if (!of) throw new Error('no license')
    const key = `use-${index}`
    const amount = BigInt(1 + ((index * 7919) % 1_000_000))
    const { allowed } = Answer.parse(
      await consume(vendor.send, of.license, { amount: amountText(amount), key }),
    )
    if (allowed) of.allowed.set(key, amount)
    else of.refused++
  })
  return raced
}

/** Each of a license of its own, compared with a model that only adds up, to the last digit. */
async function runHistories(vendor: Client): Promise<void> {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const keyset = keysetOf(vendor)
  const random = fc.sample(steps, { numRuns: histories, seed })
  await atOnce(8, histories, async (index) => {
    const history = random[index] ?? []
    await runHistory(askedOf(vendor.send, await vendor.mint(), keyset), history).catch((cause: unknown) => {
      throw new Error(`history ${index} of seed ${seed}: ${JSON.stringify(history, asText)}`, { cause })
    })
  })
}

test('a server that is killed right after the append has counted, and the retry counts nothing more', async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const [one, two] = await Promise.all([host.serve(stores.environment), host.serve(stores.environment)])
  const vendor = client(one.address, token)
  await makeProduct(vendor, '100')
  const license = await vendor.mint()
  const db = createPool(stores.databaseUrl)
  closing.push(() => db.end())
  // The read models of both servers stand still: what was appended is in none of them.
  const holder = await db.connect()
  await holder.query('begin; lock table read_models.meters in exclusive mode')
  const use = { amount: '60', key: 'once' }
  const other = client(two.address, token)
  const counted = { allowed: true, remaining: '40' }
  expect(await consume(vendor.send, license, use)).toMatchObject(counted)
  await one.end('SIGKILL')
  expect(await consume(other.send, license, use)).toMatchObject(counted)
  expect(await consume(other.send, license, { ...use, key: 'another' })).toMatchObject({
    allowed: false,
    remaining: '40',
  })
  await holder.query('rollback')
  holder.release()
  expect(await usesIn(stores, license.licenseId)).toMatchObject([{ key: 'once', amount: '60' }])
})

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

async function makeProduct(vendor: Client, amount: string): Promise<void> {
  const meters = [{ meter: 'calls', unit: 'calls', included: amount, period: 'license', overage: 'block' }]
  const product = { productId, name: 'API', keyTypes: [{ name: 'Pro', meters }] }
  expect((await vendor.send('POST', '/v1/products', product)).status).toBe(201)
}

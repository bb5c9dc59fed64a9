/**
 * Guarantee: what an app uses is counted once, also when answers are lost and when the app is killed at any moment; without a network it
 * uses what was reserved for it and no more, in any number of processes, and a clock that is set back brings nothing back.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createClient, type Fetch, memoryStorage, type Storage } from '../../src/sdk/javascript/app/index.ts'
import {
  createMeters,
  type JournalStorage,
  memoryJournal,
  type RefusedUse,
} from '../../src/sdk/javascript/app/meters/index.ts'
import { fileJournal, fileStorage } from '../../src/sdk/javascript/node/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { beginning } from '../harness/ledger.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { fetchOf, impatientClock, noNetwork } from './asking.ts'

let api: TestApi
let tenant: TestTenant
let sdkKey: string
let directory: string
const calls = { meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'block' }
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keyledger-meters-'))
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  await makeProduct(api.ask, tenant.token, 'api', {
    keyTypes: [{ name: 'Pro', deviceLimit: 5, meters: [calls] }],
  })
})
afterAll(async () => {
  await api.close()
  await rm(directory, { recursive: true })
})
beforeEach(() => api.ledger.clock.set(beginning))

const now = () => api.ledger.clock.now().getTime()
/** Each answer of a call about meters may be lost, as this says. */
const losing =
  (isLost: () => boolean): Fetch =>
  async (url, init) => {
    const answer = await fetchOf(api.ask)(url, init)
    if (/\/(?:consume|uses|allowance)$/.test(url) && isLost()) throw new TypeError('fetch failed')
    return answer
  }

async function open({
  journal = memoryJournal(),
  storage = memoryStorage(),
  time = now,
}: {
  journal?: JournalStorage
  storage?: Storage
  time?: () => number
} = {}) {
  const { licenseKey, id } = await mint(api.ask, tenant.token, 'api', { keyTypeId: 'pro' })
  const network = { fetch: fetchOf(api.ask) }
  const refused: RefusedUse[] = []
  const client = createClient({
    ...{
      baseUrl: 'https://licenses.example.com',
      tenantId: tenant.tenantId,
      productId: 'api',
      sdkKey,
      storage,
    },
    clock: impatientClock(time),
    fetch: (url, init) => network.fetch(url, init),
  })
  expect(await client.activate(licenseKey)).toMatchObject({ ok: true })
  const meters = createMeters(client, { journal, onRefused: (use) => void refused.push(use) })
  return { id, client, meters, meter: meters.meter('calls'), network, refused }
}
const shownOf = async (id: string) => {
  const { body } = await api.ask('GET', `/v1/licenses/${id}/meters`, { token: tenant.token })
  const Meter = z.object({
    used: z.string(),
    remaining: z.string(),
    allowances: z.array(z.object({ left: z.string() })),
  })
  return z.object({ meters: z.array(Meter) }).parse(body).meters[0]
}

describe('with a network', () => {
  test('uses are allowed by the server until nothing is left, once for each key', async () => {
    const { id, meter } = await open()
    expect(await meter.use('7.5', { key: 'a' })).toStrictEqual({
      ...{ allowed: true, key: 'a', remaining: '2.5', by: 'server' },
    })
    expect(await meter.use('7.5', { key: 'a' })).toMatchObject({ allowed: true, remaining: '2.5' })
    expect(await meter.use('3')).toMatchObject({
      allowed: false,
      reason: 'meter_exhausted',
      remaining: '2.5',
    })
    expect(await shownOf(id)).toMatchObject({ used: '7.5' })
    for (const wrong of ['0', '-1', '1.0000001', '1e3', ''])
      await expect(meter.use(wrong)).rejects.toThrow(TypeError)
  })

  test('nothing is used without a license', async () => {
    const { client, meter } = await open()
    await client.deactivate()
    expect(await meter.use('1')).toMatchObject({ allowed: false, reason: 'no_license' })
    expect(await meter.record('1')).toMatchObject({ recorded: false, reason: 'no_license' })
    expect(await meter.reserve('1', 60)).toMatchObject({ granted: false, reason: 'no_license' })
  })
})

describe('without a network', () => {
  test('what is reserved is used and no more, and what is left comes back', async () => {
    const { id, meters, meter, network } = await open()
    expect(await meter.reserve('4', 86_400)).toStrictEqual({
      ...{ granted: true, amount: '4', endsAt: Date.parse(beginning) / 1000 + 86_400 },
    })
    network.fetch = noNetwork
    expect(await meter.use('3', { key: 'a' })).toStrictEqual({
      ...{ allowed: true, key: 'a', remaining: '1', by: 'allowance' },
    })
    expect(await meter.use('3', { key: 'a' })).toMatchObject({ allowed: true, remaining: '1' })
    expect(await meter.use('1.000001')).toMatchObject({
      ...{ allowed: false, reason: 'allowance_spent', remaining: '1' },
    })
    expect(await meter.standing()).toStrictEqual({ reserved: '1', unreported: 1 })
    expect(await meters.report()).toMatchObject({ ok: false, problem: { reason: 'offline' } })
    network.fetch = fetchOf(api.ask)
    expect(await meters.report()).toStrictEqual({ ok: true, counted: 1, refused: [] })
    expect(await shownOf(id)).toStrictEqual({ used: '3', remaining: '6', allowances: [{ left: '1' }] })
    expect(await meter.giveBack()).toMatchObject({ ok: true })
    expect(await shownOf(id)).toStrictEqual({ used: '3', remaining: '7', allowances: [] })
    expect(await meter.standing()).toStrictEqual({ reserved: '0', unreported: 0 })
  })

  test('without a reserve nothing is allowed, and what was used anyway is recorded and refused for good', async () => {
    const { id, meters, meter, network, refused } = await open()
    network.fetch = noNetwork
    expect(await meter.use('1')).toMatchObject({ allowed: false, reason: 'offline' })
    expect(await meter.record('9', { key: 'a' })).toStrictEqual({ recorded: true, key: 'a' })
    await meter.record('2', { key: 'b' })
    network.fetch = fetchOf(api.ask)
    const [one] = [{ key: 'b', meter: 'calls', amount: '2', usedAt: now() / 1000, reason: 'meter_exhausted' }]
    expect(await meters.report()).toStrictEqual({ ok: true, counted: 1, refused: [one] })
    expect(refused).toStrictEqual([one])
    expect(await shownOf(id)).toMatchObject({ used: '9' })
  })

  test('nothing is used after the end, also when the clock is set back, and the rest comes back by itself', async () => {
    let time = now()
    const { id, meters, meter, network } = await open({ time: () => time })
    await meter.reserve('4', 3600)
    network.fetch = noNetwork
    time += 3_600_000
    expect(await meter.use('1')).toMatchObject({ allowed: true, by: 'allowance' })
    time += 1000
    expect(await meter.record('1', { key: 'late' })).toMatchObject({ recorded: true })
    time = Date.parse(beginning)
    expect(await meter.use('1')).toMatchObject({ allowed: false, reason: 'allowance_spent', remaining: '0' })
    network.fetch = fetchOf(api.ask)
    api.ledger.clock.advance(3_601_000)
    expect(await meters.report()).toMatchObject({ ok: true, counted: 2 })
    expect(await shownOf(id)).toStrictEqual({ used: '2', remaining: '8', allowances: [] })
  })

  test('an allowance in a journal of another license, or that was changed, lets nothing be spent', async () => {
    const journal = memoryJournal()
    const one = await open({ journal })
    await one.meter.reserve('4', 86_400)
    const other = await open({ journal })
    other.network.fetch = noNetwork
    expect(await other.meter.use('1')).toMatchObject({ allowed: false })
    const { text = '', revision } = await journal.read()
    const [, token = ''] = /"token":"([^"]+)"/.exec(text) ?? []
    const forged = `${token.slice(0, 40)}${token[40] === 'A' ? 'B' : 'A'}${token.slice(41)}`
    await journal.write(text.replace(token, forged), revision)
    one.network.fetch = noNetwork
    expect(await one.meter.use('1')).toMatchObject({ allowed: false })
  })
})

test('lost answers lose and double nothing', async () => {
  const { id, meters, meter, network } = await open()
  let sent = 0
  // Of three attempts, none is answered in every second call.
  network.fetch = losing(() => sent++ % 6 < 3)
  expect(await meter.reserve('5', 86_400)).toMatchObject({ granted: false, reason: 'offline' })
  expect(await meter.reserve('5', 86_400)).toMatchObject({ granted: true, amount: '5' })
  expect(await shownOf(id)).toMatchObject({ allowances: [{ left: '5' }] })
  for (let index = 0; index < 250; index++) await meter.use('0.01', { key: `k${index}` })
  let reported = await meters.report()
  expect(reported).toMatchObject({ ok: false, problem: { reason: 'offline' } })
  let { counted } = reported
  while (!reported.ok) {
    reported = await meters.report()
    counted += reported.counted
  }
  expect(counted).toBe(250)
  expect(await shownOf(id)).toStrictEqual({ used: '2.5', remaining: '5', allowances: [{ left: '2.5' }] })
  expect(await meter.standing()).toStrictEqual({ reserved: '2.5', unreported: 0 })
})

test('two processes that are killed and started again use what is reserved, once, and no more', async () => {
  const [storage, journal] = [
    fileStorage(join(directory, 'license.json')),
    fileJournal(join(directory, 'journal')),
  ]
  const { id, meters, meter } = await open({ storage, journal })
  await meter.reserve('3', 86_400)
  const allowed = new Set<string>()
  let isSpent = false
  const run = async (name: string) => {
    for (let round = 0; !isSpent; round++) {
      const env = { ...process.env, NOW: new Date(now()).toISOString(), TENANT: tenant.tenantId }
      const victim = spawn(
        process.execPath,
        [join(import.meta.dirname, 'meter-victim.ts'), directory, `${name}${round}`],
        {
          ...{ env, stdio: ['ignore', 'pipe', 'inherit'] },
        },
      )
      let lines = 0
      const reading = createInterface({ input: victim.stdout }).on('line', (line) => {
        if (line.startsWith('refused')) isSpent = line === 'refused allowance_spent'
        else allowed.add(line)
        if (++lines === 5 + 7 * round) void setTimeout(round).then(() => victim.kill('SIGKILL'))
      })
      await Promise.all([once(victim, 'exit'), once(reading, 'close')])
    }
  }
  await Promise.all([run('one'), run('two')])
  expect(isSpent).toBe(true)
  const { text = '' } = await journal.read()
  const { entries } = z.object({ entries: z.array(z.object({ key: z.string() })) }).parse(JSON.parse(text))
  const keys = entries.map(({ key }) => key)
  expect(new Set(keys).size).toBe(300)
  // What was allowed is journaled; what is more was journaled just before its process was killed.
  expect([...allowed].filter((key) => !keys.includes(key))).toStrictEqual([])
  expect(allowed.size).toBeGreaterThan(250)
  expect(await meters.report()).toStrictEqual({ ok: true, counted: 300, refused: [] })
  expect(await shownOf(id)).toStrictEqual({ used: '3', remaining: '7', allowances: [] })
}, 120_000)

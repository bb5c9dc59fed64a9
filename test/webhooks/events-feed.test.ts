/**
 * Guarantee: the feed returns every public event of a tenant's licenses, once, in the order of the log, with the id and the
 * body of its delivery and the key masked. A cursor is valid forever, also across a
 * rebuild.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { rebuild } from '../../projections/runner/rebuild.ts'
import { publicNameOf } from '../../src/domain/deliveries/outbox.ts'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { createCursors } from '../../src/http/cursor.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { pointWebhook, sellLicense, startDispatch } from '../harness/dispatch.ts'
import { commandLicense, noProgress } from '../harness/ledger.ts'
import { startStandIn } from '../harness/stand-in.ts'

const Event = z.looseObject({ id: z.string(), event: z.string(), license_id: z.string() })
const Feed = z.strictObject({
  items: z.array(Event),
  nextCursor: z.string().nullable(),
  cursor: z.string().nullable(),
})

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
})

async function read(after: string | null = null, limit = 100): Promise<z.infer<typeof Feed>> {
  const query = new URLSearchParams({ limit: String(limit), ...(after !== null && { after }) })
  const { status, body } = await api.ask('GET', `/v1/events?${query}`, { token: tenant.token })
  expect(status).toBe(200)
  return Feed.parse(body)
}

/** Everything after a cursor, page by page. */
async function readAll(after: string | null = null, limit = 100): Promise<z.infer<typeof Event>[]> {
  const events: z.infer<typeof Event>[] = []
  for (let from: string | null = after, more = true; more; ) {
    const { items, nextCursor } = await read(from, limit)
    events.push(...items)
    from = nextCursor
    more = nextCursor !== null
  }
  return events
}

const device = (number: number, name = `Device ${number}`) => ({
  deviceId: `device-${number}`,
  instanceId: `ins_${number}`,
  installId: null,
  name,
  platform: null,
  at: api.ledger.clock.now().toISOString(),
})
const activate = (licenseId: string, number: number) =>
  commandLicense(api.ledger, licenseId, { type: 'ActivateDevice', ...device(number) })
const deactivate = (licenseId: string, number: number) =>
  commandLicense(api.ledger, licenseId, { type: 'DeactivateDevice', ...device(number) })

test('the feed returns the bodies of the webhook, except for the masked key', async () => {
  const receiver = await startStandIn(() => ({ status: 200, body: {} }))
  const dispatch = await startDispatch(api.ledger)
  try {
    await pointWebhook(api.ledger, tenant.tenantId, `${receiver.url}/hook`, {
      events: ['license.created', 'license.deactivated'],
    })
    const { licenseId, licenseKey } = await sellLicense(api.ledger, tenant.tenantId)
    await activate(licenseId, 1)
    await deactivate(licenseId, 1)
    await expect.poll(() => receiver.asked.length).toBe(2)
    const received = receiver.asked.map(({ body }) =>
      z.looseObject({ id: z.string() }).parse(JSON.parse(body)),
    )
    const fed = await readAll()
    expect(JSON.stringify(fed)).not.toContain(licenseKey)
    expect(fed.map(({ event, sequence }) => [event, sequence])).toStrictEqual([
      ['license.created', 1],
      ['license.activated', 2],
      ['license.deactivated', 3],
    ])
    expect(received.map(({ event, sequence }) => [event, sequence])).toStrictEqual([
      ['license.created', 1],
      // The webhook is not set for the activation, so its deliveries are numbered without it.
      ['license.deactivated', 2],
    ])
    for (const sent of received) {
      const same = fed.find(({ id }) => id === sent.id)
      const own = { sequence: same?.sequence, license: same?.license }
      expect(same).toStrictEqual({ ...sent, ...('key' in sent && { key: same?.key }), ...own })
    }
    expect(fed[0]).toMatchObject({ customer_email: 'ada@example.com' })
    expect(fed[0]?.key).toMatch(/^ACME…/)
  } finally {
    await dispatch.stop()
    await receiver.close()
  }
})

test('the feed is empty at first, and continues after the cursor', async () => {
  expect(await read()).toStrictEqual({ items: [], nextCursor: null, cursor: null })
  const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
  const first = await read()
  expect(first).toMatchObject({ items: [{ event: 'license.created', sequence: 1 }], nextCursor: null })
  expect(await read(first.cursor)).toStrictEqual({ items: [], nextCursor: null, cursor: first.cursor })
  await activate(licenseId, 1)
  expect(await readAll(first.cursor)).toMatchObject([{ event: 'license.activated', device_id: 'device-1' }])
})

test('cursor and after are two names of one parameter', async () => {
  const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
  const first = await read()
  await activate(licenseId, 1)
  const ask = async (query: string) =>
    (await api.ask('GET', `/v1/events?${query}`, { token: tenant.token })).body
  const next = await ask(`cursor=${first.cursor}`)
  expect(next).toMatchObject({ items: [{ event: 'license.activated' }] })
  expect(next).toStrictEqual(await ask(`after=${first.cursor}`))
  expect(await ask('cursor=end')).toStrictEqual(await ask('after=end'))
})

test('a cursor of another tenant and an invalid cursor return 400', async () => {
  await sellLicense(api.ledger, tenant.tenantId)
  const { cursor } = await read()
  const stranger = await makeTenant(api.ledger)
  for (const [token, query] of [
    [stranger.token, `?after=${cursor}`],
    [tenant.token, '?after=0'],
    [tenant.token, '?limit=101'],
    [tenant.token, '?cursor=0'],
    [tenant.token, `?cursor=${cursor}&after=${cursor}`],
  ] as const) {
    expect((await api.ask('GET', `/v1/events${query}`, { token })).status).toBe(400)
  }
  const others = await api.ask('GET', '/v1/events', { token: stranger.token })
  expect(others.body).toStrictEqual({ items: [], nextCursor: null, cursor: null })
})

test('a cursor is valid in a copy of the log with other positions, but not in an older backup', async () => {
  const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
  for (const number of [1, 2, 3]) await activate(licenseId, number)
  const { cursor } = await read(null, 2)
  const rest = await readAll(cursor)
  expect(rest).toHaveLength(2)
  const { db, masterKey } = api.ledger
  const { rows } = await db.query<{ position: bigint; at: string }>(
    `select p.position, h.at from public_events p join license_history h on h.position = p.position
     where p.tenant_id = $1 order by p.position offset 1 limit 1`,
    [tenant.tenantId],
  )
  const [second] = rows
  // In the form of earlier versions.
  const withPosition = createCursors(masterKey.cursors).write([tenant.tenantId, 'events'], {
    createdAt: second?.at ?? '',
    id: String(second?.position),
  })
  expect(await readAll(withPosition)).toStrictEqual(rest)

  await moveEverything(7)
  try {
    expect(await readAll(cursor)).toStrictEqual(rest)
    const { status, body } = await api.ask('GET', `/v1/events?after=${withPosition}`, { token: tenant.token })
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('read from the first event') as string },
    })
  } finally {
    await moveEverything(-7)
  }
  // An older backup was restored.
  await db.query('delete from license_history where license_id = $1 and revision > 0', [licenseId])
  expect((await api.ask('GET', `/v1/events?after=${cursor}`, { token: tenant.token })).status).toBe(400)
})

/** Gives the tenant's events other positions, as in a copy of the log. */
async function moveEverything(by: number): Promise<void> {
  const { db } = api.ledger
  const licenses = 'select license_id from public_events where tenant_id = $1'
  await db.query(`update license_history set position = position + $2 where license_id in (${licenses})`, [
    tenant.tenantId,
    by,
  ])
  await db.query('update public_events set position = position + $2 where tenant_id = $1', [
    tenant.tenantId,
    by,
  ])
}

/** The events of a tenant in the log that have a public name, in order. */
async function publicInLog(licenseIds: readonly string[]): Promise<string[]> {
  const { entries } = await api.ledger.ports.ledger.readPage(undefined, 100_000)
  const streams = new Set(licenseIds.map((id) => `license-${id}`))
  return entries.flatMap((entry: LogEntry) => {
    if (!entry.readable || entry.category !== 'license' || !streams.has(entry.stream)) return []
    const name = publicNameOf(entry.event)
    return name ? [`${entry.stream.slice('license-'.length)} ${name}`] : []
  })
}

test('paging by any size returns the log once and in order, also across a rebuild', async () => {
  const action = fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 2 }), fc.constantFrom(activate, deactivate))
  const rounds = fc.array(fc.tuple(fc.array(action, { maxLength: 5 }), fc.integer({ min: 1, max: 4 })), {
    maxLength: 5,
  })
  await fc.assert(
    fc.asyncProperty(rounds, fc.nat({ max: 4 }), async (all, rebuildAt) => {
      tenant = await makeTenant(api.ledger)
      const sold = await Promise.all([1, 2, 3].map(() => sellLicense(api.ledger, tenant.tenantId)))
      const licenseIds = sold.map(({ licenseId }) => licenseId)
      const seen: string[] = []
      let cursor: string | null = null
      for (const [round, [actions, limit]] of all.entries()) {
        await Promise.all(actions.map(([license, number, act]) => act(licenseIds[license] ?? '', number)))
        if (round === rebuildAt) await rebuild(api.ledger.db, api.ledger.ports.ledger, noProgress)
        const page = await read(cursor, limit)
        cursor = page.cursor
        seen.push(...page.items.map(({ license_id, event }) => `${license_id} ${event}`))
      }
      const rest = await readAll(cursor, 3)
      seen.push(...rest.map(({ license_id, event }) => `${license_id} ${event}`))
      expect(seen).toStrictEqual(await publicInLog(licenseIds))
    }),
    { numRuns: 6, interruptAfterTimeLimit: 4000 },
  )
})

test('`end` skips to what happens next, and a license has a feed of its own', async () => {
  expect(await read('end')).toStrictEqual({ items: [], nextCursor: null, cursor: null })
  const first = await sellLicense(api.ledger, tenant.tenantId)
  const second = await sellLicense(api.ledger, tenant.tenantId)
  const { items, cursor } = await read('end')
  expect(items).toStrictEqual([])
  await activate(first.licenseId, 1)
  await activate(second.licenseId, 1)
  expect((await read(cursor)).items).toMatchObject([
    { event: 'license.activated', license_id: first.licenseId },
    { event: 'license.activated', license_id: second.licenseId },
  ])
  const ofFirst = async (more: string, token = tenant.token) =>
    api.ask('GET', `/v1/events?license=${first.licenseId}${more}`, { token })
  const page = Feed.parse((await ofFirst('&limit=1')).body)
  expect(page.items).toMatchObject([{ event: 'license.created', license_id: first.licenseId }])
  const rest = Feed.parse((await ofFirst(`&after=${page.nextCursor}`)).body)
  expect(rest).toMatchObject({ items: [{ event: 'license.activated' }], nextCursor: null })
  expect((await ofFirst(`&after=${cursor}`)).status).toBe(400)
  const end = Feed.parse((await ofFirst('&after=end')).body)
  expect(Feed.parse((await ofFirst(`&after=${end.cursor}`)).body).items).toStrictEqual([])
  const stranger = await makeTenant(api.ledger)
  expect(Feed.parse((await ofFirst('', stranger.token)).body).items).toStrictEqual([])
})

/**
 * Guarantee: two pages show what needs attention: what is behind, parked, failing or exhausted. Of what all
 * workspaces share, they show the state, but nothing of another workspace.
 */
import { jsonEvent } from '@eventstore/db-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runRebuild } from '../../src/commands/rebuilds.ts'
import { joinLimits } from '../../src/limits/limits.ts'
import { createTestApp, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { appendRaw, beginning, noProgress } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'
import { wordsOf } from './words.ts'

let api: TestApi
let tenant: TestTenant
let owner: Client
let stranger: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const other = await makeTenant(api.ledger)
  owner = clientOf(api.app, '192.0.2.1')
  await owner.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  stranger = clientOf(api.app, '192.0.2.2')
  await stranger.signIn(await makeMember(api.ledger, other.tenantId, 'support'))
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const system = async (client: Client) => wordsOf((await client.get('/dashboard/system')).text)

test('every page states its age, and whether newer data exists', async () => {
  const { ports } = api.ledger
  const fresh = wordsOf((await owner.get('/dashboard/products')).text)
  expect(fresh).toMatch(/Updated (?:just now|\d+ \w+ ago); up to date\s?\./)
  // In this process, only waiting commands advance the read models.
  const stream = 'tenant-somebody-elses'
  await appendRaw(api.ledger, stream, [nonsense])
  expect(wordsOf((await owner.get('/dashboard/products')).text)).toContain('1 newer event is being processed')
  expect(wordsOf((await owner.get('/dashboard')).text)).toContain('1 event behind')
  expect(await system(owner)).toContain('Lag 1 event')
  await api.ledger.readModels.catchUp()
  expect(await system(owner)).toMatch(/Lag none/)
  expect(await ports.ledger.head()).toBe(await api.ledger.readModels.checkpoint())
})

const nonsense = jsonEvent({
  type: 'Nonsense',
  data: { of: 'no shape' },
  metadata: {
    requestId: 'req_nonsense',
    actor: 'system:test',
    causationId: 'req_nonsense',
    correlationId: 'req_nonsense',
    schema: 1,
    at: beginning,
  },
})

test('a parked stream is named only to its own workspace', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor')
  await appendRaw(api.ledger, `license-${id}`, [nonsense], 0n)
  await api.ledger.readModels.catchUp()
  expect(await system(owner)).toContain(`license-${id} Nonsense does not fit its schema`)
  expect(wordsOf((await owner.get('/dashboard')).text)).toContain('1 stream parked')
  const theirs = await system(stranger)
  expect(theirs).toContain('Parked streams 2')
  expect(theirs).not.toContain(id)
  expect(wordsOf((await stranger.get('/dashboard')).text)).not.toContain('parked')
})

test('Home and System show the same figures', async () => {
  const { clock, db } = api.ledger
  const daysAgo = (days: number) => new Date(clock.now().getTime() - days * 86_400_000)
  const insert = async (id: string, status: string, { days, tries }: { days: number; tries: number }) =>
    db.query(
      `insert into deliveries (stream, revision, state, delivery_id, tenant_id, channel, endpoint_id, event, license_id,
         license_revision, status, tries, next_attempt_at, place, waits, created_at)
       values ('delivery-' || $1, 1, '{}', $1, $2, 'webhook', 'first', 'license.created', $1, 0, $3, $4, $5, 'none', false, $6)`,
      [id, tenant.tenantId, status, tries, status === 'pending' ? clock.now() : null, daysAgo(days)],
    )
  await insert('whd_abandoned_lately', 'abandoned', { days: 1, tries: 8 })
  await insert('whd_abandoned_before', 'abandoned', { days: 4, tries: 8 })
  await insert('whd_abandoned_long_ago', 'abandoned', { days: 8, tries: 8 })
  await insert('whd_failing', 'pending', { days: 1, tries: 3 })
  try {
    const home = wordsOf((await owner.get('/dashboard')).text)
    const there = await system(owner)
    const on = (page: string, figure: RegExp) => Number(figure.exec(page)?.[1])
    const figures = (page: string, failing: RegExp, abandoned: RegExp, parked: RegExp) => ({
      failing: on(page, failing),
      abandoned: on(page, abandoned),
      parkedStreams: on(page, parked),
    })
    const shown = figures(home, /(\d+) delivery failing/, /(\d+) deliveries abandoned/, /(\d+) stream parked/)
    expect(shown).toStrictEqual({ failing: 1, abandoned: 2, parkedStreams: 1 })
    expect({ ...shown, parkedStreams: there.split('does not fit its schema').length - 1 }).toStrictEqual(
      shown,
    )
    expect(there).toMatch(/Failed attempts 1\b/)
    expect(there).toContain('Abandoned in the last 7 days 2')
  } finally {
    await db.query(
      `delete from deliveries where delivery_id like 'whd_abandoned%' or delivery_id = 'whd_failing'`,
    )
  }
})

test('an exhausted limit is shown only to its workspace', async () => {
  const { limits, leave } = await joinLimits(
    api.ledger.db,
    { runtime: { perMinute: 6, burst: 2 }, clientNewInstances: { perMinute: 1000 / 60, burst: 1000 } },
    (error) => {
      throw error
    },
  )
  const app = await createTestApp(api.ledger, api.ledger.ports, { limits })
  try {
    const there = clientOf(app, '192.0.2.1')
    for (const [name, value] of owner.cookies) there.cookies.set(name, value)
    expect(await system(there)).toContain('Runtime API the workspace 6 per minute 0 %')
    expect(await system(there)).toContain('New anonymous instances the workspace 1,000 per hour 0 %')
    for (let calls = 0; calls < 2; calls++) await limits.runtime?.take(tenant.tenantId)
    await limits.runtime?.flush()
    expect(await system(there)).toMatch(/Runtime API the workspace 6 per minute (?:100|9\d) %/)
    const validate = { product_id: 'editor', license_key: 'none', device_id: 'laptop' }
    const refused = await app.inject({
      method: 'POST',
      url: '/v1/licenses/validate',
      headers: { authorization: `Bearer ${tenant.token}` },
      payload: validate,
    })
    expect(refused.statusCode).toBe(429)
    const hits = '0 management, checkout and evidence, 1 runtime, 0 apps'
    expect(await system(there)).toContain(hits)
    expect(await system(stranger)).not.toContain(hits)
  } finally {
    await app.close()
    await leave()
  }
})

test('sign-ins are shown to owners and auditors only', async () => {
  expect(await system(owner)).toMatch(/Sign-ins .*@example\.com .* 192\.0\.2\.1/)
  const theirs = await system(stranger)
  expect(theirs).toContain('Signing keys')
  expect(theirs).not.toContain('Sign-ins')
})

test('a running rebuild shows its progress', async () => {
  const { db } = api.ledger
  const client = await db.connect()
  try {
    await client.query(
      'create schema read_models_next; create table read_models_next.checkpoint as table checkpoint',
    )
    await client.query('update read_models_next.checkpoint set position = position / 2')
    expect(await system(owner)).toContain('Rebuild not running')
    await client.query('select pg_advisory_lock(7214502)')
    expect(await system(owner)).toMatch(/Rebuild running, (?:4\d|50) %/)
    const part = await owner.get('/dashboard/system', { 'hx-request': 'true', 'hx-trigger': 'read-models' })
    expect(part.text).toMatch(/^<div id="read-models".*every 2s/)
  } finally {
    await client.query('select pg_advisory_unlock_all(); drop schema read_models_next cascade')
    client.release()
  }
})

test('a rebuild cannot be started here, and the page says who can', async () => {
  expect(await system(owner)).toContain('on the host with keyledger projections rebuild')
  expect((await owner.get('/dashboard/system/rebuild')).status).toBe(404)
  expect((await owner.post('/dashboard/system/rebuild')).status).toBe(404)
})

test('the result of the last rebuild is shown', async () => {
  const { db, ports } = api.ledger
  await db.query('insert into usage.rebuilds (id, started_at) values (gen_random_uuid(), $1)', ['2026-01-01'])
  expect(await system(owner)).toMatch(/not running last rebuild: started .* and was interrupted/)
  await runRebuild(ports, noProgress)
  expect(await system(owner)).toMatch(/last rebuild: finished .*, \d+ events in/)
})

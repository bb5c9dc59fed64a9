/**
 * Guarantee: a license's page shows its history: its state and the explanation, now and at any past time. The
 * search finds it by anything a customer names, without recording the text or putting it into a URL; and an action
 * that a member requests waits for an approval and is then executed.
 */
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'
import { wordsOf } from './words.ts'

let api: TestApi
let tenant: TestTenant
let owner: Client
let support: Client
let stranger: Client
let license: { id: string; licenseKey: string }
let path: string
/** When the third device was refused. */
let refusedAt: string

const inDay = 86_400_000

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { ledger, ask } = api
  const signIn = async (of: TestTenant, role: 'owner' | 'support', address: string) => {
    const client = clientOf(api.app, address)
    await client.signIn(await makeMember(ledger, of.tenantId, role))
    return client
  }
  await makeProduct(ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro', deviceLimit: 2 }] })
  license = await mint(ask, tenant.token, 'editor', { email: 'ada@example.com' })
  path = `/dashboard/licenses/${license.id}`
  await activate('laptop', 'MacBook')
  ledger.clock.advance(inDay)
  await activate('desk', 'Studio PC')
  ledger.clock.advance(3_600_000)
  refusedAt = ledger.clock.now().toISOString()
  expect((await activate('phone', 'Phone')).body).toMatchObject({ status: 'seat_limit_reached' })
  ledger.clock.advance(inDay)
  await ask('POST', `/v1/licenses/deactivate`, {
    token: tenant.token,
    body: { ...asked, device_id: 'laptop' },
  })
  owner = await signIn(tenant, 'owner', '192.0.2.1')
  support = await signIn(tenant, 'support', '192.0.2.2')
  stranger = await signIn(await makeTenant(ledger), 'owner', '192.0.2.3')
})
afterAll(() => api.close())

let asked: { product_id: string; license_key: string }
function activate(device_id: string, name: string) {
  asked = { product_id: 'editor', license_key: license.licenseKey }
  return api.ask('POST', '/v1/licenses/activate', {
    token: tenant.token,
    body: { ...asked, device_id, name },
  })
}
const page = async (query = '', client = owner) => wordsOf((await client.get(`${path}${query}`)).text)

test('it shows the present answers, and those for one device', async () => {
  const now = await page()
  expect(now).toMatch(
    /Would it validate now\? Yes active Valid: .* Could another device be activated now\? Yes/,
  )
  expect(now).toMatch(/1 of 2 in use , 1 free Studio PC since .* free/)
  const gone = await page('?device=laptop')
  expect(gone).toMatch(/Would it validate now on laptop\? No inactive Denied: “MacBook” was deactivated on/)
})

test('it shows the answers at a past time or after any event, under a URL that can be kept', async () => {
  const at = refusedAt.slice(0, 19)
  const asking = await owner.get(`${path}?device=phone&at=${at}`)
  expect(asking).toMatchObject({ status: 303 })
  const then = wordsOf((await support.get(asking.location ?? '')).text)
  expect(then).toMatch(
    /Could phone have been activated then\? No seat_limit_reached Denied: 2 of 2 seats are in use; seat 1 taken by “MacBook” on .*; seat 2 taken by “Studio PC” on/,
  )
  expect(then).toContain('after event 2 of 3: “Studio PC” activated.')
  expect(then).toContain('2 of 2 in use , none free')
  expect(await page('?asOf=0')).toMatch(/after event 0 of 3: Issued\. .* 0 of 2 in use , 2 free/)
  const { text } = await owner.get(`${path}?asOf=1`)
  expect(text).toMatch(/<input type="range"[^>]* min="0" max="3"[^>]* value="1"/)
})

test('two moments are compared', async () => {
  expect(await owner.get(`${path}?from=0&to=3`)).toMatchObject({
    status: 303,
    location: `${path}?compare=0..3`,
  })
  expect(await page('?compare=0..3')).toMatch(
    /Comparison after event 0 .* → after event 3 .* Seats in use 0 → 1 .* MacBook laptop not present deactivated Studio PC desk not present active/,
  )
})

test('the history is shown by day, with the actor, the changes and the recorded event', async () => {
  const shown = await page()
  expect(shown).toMatch(
    /3 Mar 2026 .* “MacBook” deactivated by token “test” Seats in use 2 → 1 .* 2 Mar 2026 .* “Studio PC” activated .* 1 Mar 2026 .* “MacBook” activated .* Issued by token “test”/,
  )
  const { text } = await owner.get(path)
  expect(text).toMatch(/<details><summary>Event 1<\/summary>.*DeviceActivated/s)
  expect(await page('?upTo=1')).not.toContain('“Studio PC” activated by')
})

test.each([
  ['?asOf=99', 400],
  ['?asOf=2099-01-01T00:00:00Z', 400],
  ['?asOf=tomorrow', 400],
  ['?asOf=1&asOf=2', 400],
  ['?compare=1..x', 400],
  ['?compare=1', 400],
  ['?upTo=-1', 400],
  ['?asOf=2020-01-01T00:00:00Z', 404],
])('%s gets %i', async (query, status) => {
  expect((await owner.get(`${path}${query}`)).status).toBe(status)
})

test('a comparison longer than two moments is refused', async () => {
  const [, to = ''] = /^(.*)Z$/.exec(api.ledger.clock.now().toISOString()) ?? []
  expect((await owner.get(`${path}?compare=0..${to}Z`)).status).toBe(200)
  expect((await owner.get(`${path}?compare=0..${to}${'0'.repeat(60)}Z`)).status).toBe(400)
  expect((await owner.get(`${path}?compare=1${'.'.repeat(12_000)}`)).status).toBe(400)
})

test('another workspace finds nothing', async () => {
  for (const query of ['', '?asOf=0', '?compare=0..1'])
    expect((await stranger.get(`${path}${query}`)).status).toBe(404)
  expect((await stranger.get(`${path}/do/revoke`)).status).toBe(404)
})

test('the search finds it by anything a customer names, and records nothing of the text', async () => {
  const lines: string[] = []
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString())
      done()
    },
  })
  const app = await createTestApp(api.ledger, api.ledger.ports, { log: pino({ level: 'trace' }, sink) })
  try {
    const client = clientOf(app, '192.0.2.2')
    for (const [name, value] of support.cookies) client.cookies.set(name, value)
    const find = async (text: string) => {
      await client.get('/dashboard')
      return client.post('/dashboard/search', { text })
    }
    for (const text of [license.licenseKey, license.licenseKey.toLowerCase(), license.id, 'ada@example.com'])
      expect(await find(` ${text} `)).toMatchObject({ status: 303, location: path })
    expect(await find('laptop')).toMatchObject({ status: 303, location: `${path}?device=laptop` })
    const unknown = await find('nobody@example.com')
    expect(wordsOf(unknown.text)).toContain('No results')
    expect(unknown.text).not.toContain('nobody@example.com')
    expect((await find('a'.repeat(1001))).status).toBe(400)
    expect(lines.join('')).not.toMatch(/example\.com|laptop/)
    expect(lines.join('').toUpperCase()).not.toContain(license.licenseKey.toUpperCase())
  } finally {
    await app.close()
  }
  await stranger.get('/dashboard')
  const theirs = await stranger.post('/dashboard/search', { text: license.licenseKey })
  expect(wordsOf(theirs.text)).toContain('No results')
})

test('devices are listed, filtered, and link to their answers', async () => {
  const all = await owner.get('/dashboard/devices')
  expect(wordsOf(all.text)).toMatch(/Studio PC desk .* active .* MacBook laptop .* deactivated/)
  expect(all.text).toContain(`href="${path}?device=desk"`)
  const active = wordsOf((await owner.get('/dashboard/devices?status=active&product=editor')).text)
  expect(active).toContain('Studio PC')
  expect(active).not.toContain('MacBook')
  expect(wordsOf((await stranger.get('/dashboard/devices')).text)).toContain('No devices yet')
})

test('a request by support waits for an approval, and is executed once', async () => {
  expect((await support.get(path)).text).toContain(`${path}/do/revoke`)
  await support.get(`${path}/do/revoke`)
  const waits = await support.post(`${path}/do/revoke`, { reason: 'charged back' })
  const approval = waits.location ?? ''
  expect(approval).toMatch(/^\/dashboard\/approvals\/cnf_/)
  const read = await support.get(approval)
  expect(wordsOf(read.text)).toMatch(
    /Revoke a license Requested just now by a member\. .* Reason given by the requester “charged back”/,
  )
  expect((await support.post(`${approval}/approve`, { seen: 'a'.repeat(64) })).status).toBe(403)
  expect(await page()).toContain('Would it validate now? Yes')
  const seen = /name="seen" value="([0-9a-f]{64})"/.exec((await owner.get(approval)).text)?.[1] ?? ''
  expect((await owner.post(`${approval}/approve`, { seen })).status).toBe(303)
  expect(wordsOf((await owner.get(approval)).text)).toMatch(/Approved and executed\. .* executed/)
  const after = await page()
  expect(after).toMatch(/Would it validate now\? No revoked Denied: revoked on .*: charged back/)
  expect(after).toMatch(/Revoked: charged back by support[\w-]*@example\.com .* approval/)
  expect((await owner.get(path)).text).not.toContain(`${path}/do/revoke`)
  expect((await owner.post(`${path}/do/revoke`, {})).status).toBe(409)
})

test('an action is undone in the same way, also by a member who approves their own request', async () => {
  const approved = async (action: string, filled: Record<string, string>) => {
    await owner.get(`${path}/do/${action}`)
    const { location = '' } = await owner.post(`${path}/do/${action}`, filled)
    const seen = /name="seen" value="([0-9a-f]{64})"/.exec((await owner.get(location)).text)?.[1] ?? ''
    expect((await owner.post(`${location}/approve`, { seen })).status).toBe(303)
  }
  await approved('reinstate', { reason: 'it was another one' })
  expect(await page()).toMatch(/Would it validate now\? Yes active/)
  expect((await owner.get(`${path}?device=laptop`)).text).toContain(`${path}/do/reseat?device=laptop`)
  expect((await owner.get(`${path}?device=desk`)).text).not.toContain('/do/reseat')
  await approved('reseat', { device: 'laptop' })
  expect(await page('?device=laptop')).toMatch(/Would it validate now on laptop\? Yes active/)
  expect((await owner.post(`${path}/do/take-back-import`, {})).status).toBe(409)
})

test('an auditor views, and cannot request actions', async () => {
  const auditor = clientOf(api.app, '192.0.2.4')
  await auditor.signIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
  expect((await auditor.get(path)).text).not.toContain('/do/')
  expect((await auditor.get(`${path}/do/revoke`)).status).toBe(403)
  expect((await auditor.post(`${path}/do/revoke`, {})).status).toBe(403)
})

test('views, searches, requests and approvals are in the audit log, without the text of searches', async () => {
  const text = wordsOf((await owner.get('/dashboard/audit')).text)
  expect(text).toMatch(
    /auditor[\w-]*@example\.com dashboard viewed a license .* approved: revoke a license .* requested: revoke a license/,
  )
  expect(text).toContain('searched: found by email')
  expect(text).not.toMatch(/\bada@example|laptop/)
  const back = await owner.get(`/dashboard/audit?target=${license.id}&action=viewed`)
  expect(wordsOf(back.text)).toContain('a license , as of 1')
  expect(wordsOf(back.text)).not.toContain('searched, and')
  expect(wordsOf((await stranger.get('/dashboard/audit')).text)).not.toContain(license.id)
})

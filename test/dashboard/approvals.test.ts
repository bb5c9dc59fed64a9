/**
 * Guarantee: a decision on the pages counts for what was shown, within its time, and only by members who may
 * decide; approvals are viewed, given, withdrawn and recorded.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { changeApprovalRule, loadTenant } from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import { combinableScopes } from '../../src/domain/tokens/events.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember, type TestMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: TestMember
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  api.ledger.clock.advance(3_600_000)
  tenant = await makeTenant(api.ledger)
  owner = await makeMember(api.ledger, tenant.tenantId, 'owner')
})

let addresses = 0
async function signedIn(member = owner): Promise<Client> {
  const client = clientOf(api.app, `192.0.2.${++addresses}`)
  expect((await client.signIn(member)).status).toBe(303)
  await client.get('/dashboard/account')
  return client
}

const Pending = z.object({ confirmation: z.object({ id: z.string(), approveUrl: z.string() }) })
async function asksToRevoke() {
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro', deviceLimit: 3 }] })
  const license = await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
  const url = `/v1/licenses/${license.id}/revoke`
  const { status, body } = await api.ask('POST', url, { token: tenant.token, body: {} })
  expect(status).toBe(202)
  const { id, approveUrl } = Pending.parse(body).confirmation
  const activate = (device_id: string) =>
    api.ask('POST', '/v1/licenses/activate', {
      token: tenant.token,
      body: { product_id: 'editor', license_key: license.licenseKey, device_id, name: device_id },
    })
  const run = () =>
    api.ask('POST', url, { token: tenant.token, body: {}, headers: { 'x-service-confirmation': id } })
  const poll = async () => {
    const { body: polled } = await api.ask('GET', `/v1/confirmations/${id}`, { token: tenant.token })
    return z.object({ status: z.string() }).parse(polled).status
  }
  return { id, license, approveUrl, path: `/dashboard/approvals/${id}`, activate, run, poll }
}
/** The sentences of each list of effects. */
const listsIn = (text: string): string[][] =>
  Array.from(text.matchAll(/<ul class="sentences">(.*?)<\/ul>/gs), ([, list = '']) =>
    Array.from(list.matchAll(/<li>(.*?)<\/li>/g), ([, sentence = '']) => sentence),
  )
const seenIn = (text: string) => /name="seen" value="([0-9a-f]{64})"/.exec(text)?.[1] ?? ''

describe('an approval', () => {
  test('opens by its URL, shows the effect, and executes once', async () => {
    const { approveUrl, path, run, poll } = await asksToRevoke()
    expect(approveUrl).toBe(`http://localhost:8080${path}`)
    const client = await signedIn()
    expect((await client.get('/dashboard/approvals')).text).toContain(path)
    const { text } = await client.get(path)
    for (const shown of ['Revoke', 'ada@example.com', '127.0.0.1', 'test', 'in 9 minutes'])
      expect(text).toContain(shown)
    expect(await poll()).toBe('pending')
    const approved = await client.post(`${path}/approve`, { seen: seenIn(text) })
    expect(approved).toMatchObject({ status: 303, location: path })
    expect(await poll()).toBe('approved')
    expect((await client.get(path)).text).toContain(`by ${owner.email}`)
    expect((await run()).status).toBe(200)
    expect((await run()).status).toBe(403)
    expect((await client.get(path)).text).toContain('>executed<')
  })

  test('names what would change, and what has changed since the request', async () => {
    const { path, activate } = await asksToRevoke()
    await activate('laptop')
    const client = await signedIn()
    const first = listsIn((await client.get(path)).text)
    expect(first).toStrictEqual([
      [
        expect.stringMatching(/^License ACMEEDIT….{4} goes from active to revoked$/),
        '1 device loses its seat: “laptop”',
        'Its key stops validating at once',
      ],
      ['1 device loses its seat: “laptop”'],
    ])
    expect((await client.get(path)).text).toContain('New since it was requested')
    await client.post(`${path}/deny`)
    expect((await client.get(path)).text).not.toContain('What changes')
  })

  test('says that the effect is the same as when it was requested', async () => {
    const { path } = await asksToRevoke()
    const { text } = await (await signedIn()).get(path)
    expect(text).toContain('The same now as when it was requested.')
    expect(text.indexOf('What changes')).toBeLessThan(text.indexOf(`${path}/deny`))
  })

  test('does not say so beside a note that the license has changed', async () => {
    const { path, license } = await asksToRevoke()
    const edited = { token: tenant.token, body: { metadata: { order: 'A-1042' } } }
    expect((await api.ask('PATCH', `/v1/licenses/${license.id}`, edited)).status).toBe(200)
    const { text } = await (await signedIn()).get(path)
    expect(text).toContain('This has changed since it was requested.')
    expect(text).not.toContain('The same now')
  })

  test('counts only for what was read: after a change it has to be read again', async () => {
    const { path, activate, poll } = await asksToRevoke()
    const client = await signedIn()
    const read = await client.get(path)
    await activate('laptop')
    const stale = await client.post(`${path}/approve`, { seen: seenIn(read.text) })
    expect(stale.status).toBe(409)
    expect(stale.text).toContain('has changed since you opened the page')
    expect(stale.text).toContain('1 device loses its seat')
    expect(stale.text).toContain('has changed since it was requested')
    expect(await poll()).toBe('pending')
    expect((await client.post(`${path}/approve`, { seen: seenIn(stale.text) })).status).toBe(303)
    expect(await poll()).toBe('approved')
  })

  test('needs a proof that is at most ten minutes old', async () => {
    const client = await signedIn()
    api.ledger.clock.advance(9 * 60_000)
    const { path, poll } = await asksToRevoke()
    const seen = seenIn((await client.get(path)).text)
    api.ledger.clock.advance(60_000)
    const late = await client.post(`${path}/approve`, { seen }, { referer: `http://localhost:8080${path}` })
    expect(late.text).toContain('Confirm your identity')
    expect(late.text).toContain(`href="${path}"`)
    expect(await poll()).toBe('pending')
    expect((await client.post(`${path}/deny`)).status).toBe(303)
    expect(await poll()).toBe('denied')
  })

  test('is denied permanently', async () => {
    const { path, run, poll } = await asksToRevoke()
    const client = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'approver'))
    const seen = seenIn((await client.get(path)).text)
    await client.post(`${path}/deny`)
    expect(await poll()).toBe('denied')
    expect((await run()).status).toBe(403)
    const late = await client.post(`${path}/approve`, { seen })
    expect(late.status).toBe(409)
    expect(await poll()).toBe('denied')
  })

  test('expires, and can then be neither approved nor denied', async () => {
    const { path, poll } = await asksToRevoke()
    const client = await signedIn()
    api.ledger.clock.advance(4 * 60_000)
    const seen = seenIn((await client.get(path)).text)
    api.ledger.clock.advance(6 * 60_000)
    expect(await poll()).toBe('expired')
    const again = await signedIn()
    expect((await again.get(path)).text).toContain('expired')
    for (const decision of ['approve', 'deny'])
      expect((await again.post(`${path}/${decision}`, { seen })).status).toBe(409)
    expect((await again.get('/dashboard/approvals')).text).toContain('No pending requests')
  })

  test('can be withdrawn until it is used', async () => {
    const { path, run, poll } = await asksToRevoke()
    const client = await signedIn()
    const { text } = await client.get(path)
    expect(text).not.toContain(`${path}/withdraw`)
    await client.post(`${path}/approve`, { seen: seenIn(text) })
    const auditor = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
    expect((await auditor.get(path)).text).not.toContain(`${path}/withdraw`)
    expect((await auditor.post(`${path}/withdraw`)).status).toBe(403)
    const approved = await client.get(path)
    expect(approved.text).toContain(`${path}/withdraw`)
    expect(approved.text).toContain('left to use it')
    expect((await client.post(`${path}/withdraw`)).status).toBe(303)
    expect(await poll()).toBe('denied')
    expect((await run()).status).toBe(403)
    expect((await client.get(path)).text).toContain(`Withdrawn by ${owner.email}`)
  })

  test('cannot be withdrawn after it was used', async () => {
    const { path, run } = await asksToRevoke()
    const client = await signedIn()
    const { text } = await client.get(path)
    await client.post(`${path}/approve`, { seen: seenIn(text) })
    expect((await run()).status).toBe(200)
    expect((await client.post(`${path}/withdraw`)).status).toBe(409)
    expect((await client.get(path)).text).toContain('>executed<')
  })

  test('needs another member, if the workspace requires it: the requester cannot approve, also not for their token', async () => {
    const client = await signedIn()
    expect((await client.get('/dashboard/settings')).text).toContain('Any owner or approver')
    await client.get('/dashboard/settings/approvals')
    const alone = await client.post('/dashboard/settings/approvals', { rule: 'another', lifetime: '600' })
    expect(alone.status).toBe(409)
    expect(alone.text).toContain('Only one member can approve requests')
    const approver = await makeMember(api.ledger, tenant.tenantId, 'approver')
    await client.get('/dashboard/settings/approvals')
    expect(
      (await client.post('/dashboard/settings/approvals', { rule: 'another', lifetime: '600' })).status,
    ).toBe(303)
    expect((await client.get('/dashboard/settings')).text).toContain('A member other than the requester')
    const { token } = await createToken(
      api.ledger.ports,
      { tenantId: tenant.tenantId, name: 'CI', scopes: combinableScopes, expiresAt: null },
      { requestId: 'req_1', actor: `member:${owner.memberId}` },
    )
    const asked = await api.ask('POST', '/v1/sdk-key/rotate', { token })
    const path = `/dashboard/approvals/${Pending.parse(asked.body).confirmation.id}`
    const own = await client.get(path)
    expect(own.text).toContain('You made this request, so another member must approve it.')
    expect(own.text).not.toContain(`${path}/approve`)
    expect(own.text).toMatch(
      new RegExp(`Approvers</h2> *<div class="sheet"><div[^>]*><p>${approver.email}</p>`),
    )
    const other = await signedIn(approver)
    const seen = seenIn((await other.get(path)).text)
    const forced = await client.post(`${path}/approve`, { seen })
    expect(forced.status).toBe(409)
    expect(forced.text).toContain('You cannot approve a request made by you')
    await other.get(path)
    expect((await other.post(`${path}/approve`, { seen })).status).toBe(303)
    expect((await other.get(path)).text).toContain(`by ${approver.email}`)
  })

  test('can take up to a day where the workspace says so, and the page says until when', async () => {
    const client = await signedIn()
    const save = async (lifetime: string) => {
      await client.get('/dashboard/settings/approvals')
      return client.post('/dashboard/settings/approvals', { rule: 'anyone', lifetime })
    }
    for (const wrong of ['599', '86401']) expect((await save(wrong)).status).toBe(400)
    expect((await save('86400')).status).toBe(303)
    expect((await client.get('/dashboard/settings')).text).toContain('24 hours')
    const { path } = await asksToRevoke()
    api.ledger.clock.advance(60_000)
    const until = /Can be approved <span>until <time [^>]*>\d\d:\d\d UTC<\/time>, in 23 hours<\/span>/
    expect((await client.get(path)).text).toMatch(until)
    expect((await client.get('/dashboard/approvals')).text).toContain(', in 23 hours')
  })

  test('is possible for any approver if no member created the token, and only owners change the rule', async () => {
    const approver = await makeMember(api.ledger, tenant.tenantId, 'approver')
    const client = await signedIn(approver)
    const admin = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'admin'))
    for (const refused of [
      await client.get('/dashboard/settings/approvals'),
      await client.post('/dashboard/settings/approvals', { rule: 'another', lifetime: '600' }),
      await admin.post('/dashboard/settings/approvals', { rule: 'another', lifetime: '600' }),
    ]) {
      expect(refused.status).toBe(403)
    }
    await changeApprovalRule(api.ledger.ports, tenant.tenantId, true, origin)
    const { path, poll } = await asksToRevoke()
    const { text } = await client.get(path)
    expect(text).toContain('an operator on the host')
    await client.post(`${path}/approve`, { seen: seenIn(text) })
    expect(await poll()).toBe('approved')
  })

  test('is switched off only by another member: not by two owners who approve their own request at once', async () => {
    const { ports } = api.ledger
    await changeApprovalRule(ports, tenant.tenantId, true, origin)
    const clients = [await signedIn(), await signedIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))]
    const isOn = async () => {
      const found = await loadTenant(ports, tenant.tenantId)
      return found.status !== 'absent' && found.anotherMemberApproves
    }
    const paths = await Promise.all(
      clients.map(async (client) => {
        await client.get('/dashboard/settings/approvals')
        const { headers } = await client.post('/dashboard/settings/approvals', {
          rule: 'anyone',
          lifetime: '600',
        })
        return z.string().parse(headers.location)
      }),
    )
    expect(new Set(paths).size).toBe(2)
    // Only the other one's page has the form, with what was seen.
    const crossed = clients.toReversed()
    const pages = await Promise.all(paths.map(async (path, at) => (await crossed[at]?.get(path))?.text ?? ''))
    for (const page of pages) expect(page).toContain('can then approve their own dangerous requests')
    const seen = pages.map(seenIn)
    const approvedBy = (approvers: readonly Client[]) =>
      Promise.all(
        paths.map(async (path, at) => approvers[at]?.post(`${path}/approve`, { seen: seen[at] ?? '' })),
      )
    expect((await approvedBy(clients)).map((answer) => answer?.status)).toStrictEqual([409, 409])
    expect(await isOn()).toBe(true)
    await Promise.all(paths.map(async (path, at) => crossed[at]?.get(path)))
    // The later one changes nothing any more, and may have to be read again.
    expect((await approvedBy(crossed)).map((answer) => answer?.status)).toContain(303)
    expect(await isOn()).toBe(false)
  })

  test('marks what the client reports about itself as such, without misleading characters', async () => {
    const { ports } = api.ledger
    const { token } = await createToken(
      ports,
      { tenantId: tenant.tenantId, name: 'CI” of ada\u202e', scopes: combinableScopes, expiresAt: null },
      origin,
    )
    const keyTypes = [{ name: 'Pro' }, { name: 'Old' }]
    await makeProduct(api.ask, token, 'editor', { name: 'Editor', keyTypes })
    const asked = await api.ask('DELETE', '/v1/products/editor/key-types/pro', {
      token,
      headers: { 'user-agent': 'curl” by ada' },
    })
    const client = await signedIn()
    const { text } = await client.get(`/dashboard/approvals/${Pending.parse(asked.body).confirmation.id}`)
    expect(text).toContain('“curl&quot; by ada”, self-reported')
    expect(text).toContain('named “CI&quot; of ada” by its creator')
    expect(text).toContain('Delete the key type “Pro” (pro) of “Editor” (editor)')
    for (const page of [text, (await client.get('/dashboard/products')).text])
      expect(page).not.toMatch(/\u202e/)
  })

  test('of a webhook shows the host on a line of its own, and the whole URL below', async () => {
    const url = 'https://good.example.\u0435vil.example/https://good.example/'
    const asked = await api.ask('PUT', '/v1/webhook', { token: tenant.token, body: { url } })
    const client = await signedIn()
    const { text } = await client.get(`/dashboard/approvals/${Pending.parse(asked.body).confirmation.id}`)
    expect(text).toMatch(
      /<dt>Host<\/dt> *<dd><code class="host">good\.example\.xn--vil-[a-z0-9]+\.example<\/code><\/dd>/,
    )
    expect(text).toMatch(
      /<dt>Full URL<\/dt> *<dd><code class="whole">https:\/\/good\.example\.еvil\.example\/https:/,
    )
    expect(text).not.toContain('<a href="https://good')
  })

  test('is counted in the navigation of members who decide, by requests that neither extend the session nor are recorded', async () => {
    const client = await signedIn()
    const auditor = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
    const badge = async (of = client) =>
      />Approvals<span class="waiting"[^>]*><span class="count">(\d*)</.exec(
        (await of.get('/dashboard')).text,
      )?.[1]
    expect(await badge()).toBe('')
    await asksToRevoke()
    expect(await badge()).toBe('1')
    expect(await badge(auditor)).toBeUndefined()
    expect((await auditor.get('/dashboard/approvals/waiting')).status).toBe(403)
    const traces = async () => {
      const { rows } = await api.ledger.db.query<Record<string, unknown>>(
        `select (select jsonb_agg(s order by s.session_hash) from vault.sessions s) as sessions,
           (select count(*) from audit) as audit, (select position from checkpoint) as position`,
      )
      return rows[0]
    }
    const before = await traces()
    api.ledger.clock.advance(120_000)
    const polled = await client.get('/dashboard/approvals/waiting')
    expect(polled.text).toBe('{"waiting":1}')
    expect(polled.setCookies).toStrictEqual([])
    expect(polled.headers['cache-control']).toBe('no-store')
    expect(await traces()).toStrictEqual(before)
    // Eight hours with only background requests end the session.
    for (let minutes = 0; minutes < 480; minutes += 60) {
      api.ledger.clock.advance(3_600_000)
      await client.get('/dashboard/approvals/waiting')
    }
    expect((await client.get('/dashboard/approvals/waiting')).status).toBe(303)
  })

  test('is read only for members who do not decide', async () => {
    const { path } = await asksToRevoke()
    const client = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
    const { status, text } = await client.get(path)
    expect(status).toBe(200)
    expect(text).not.toContain(`${path}/approve`)
  })

  test('is updated as a part of the page', async () => {
    const { path } = await asksToRevoke()
    const client = await signedIn()
    const headers = { 'hx-request': 'true', 'hx-trigger': 'approval' }
    const { text } = await client.get(path, headers)
    expect(text).toMatch(/^<div id="approval"/)
    expect((await client.get('/dashboard/approvals', headers)).text).toMatch(/^<div id="approvals"/)
    await client.post('/dashboard/sign-out')
    const out = await client.get(path, headers)
    expect(out).toMatchObject({
      status: 204,
      headers: { 'hx-redirect': `/dashboard/sign-in?return=${encodeURIComponent(path)}` },
    })
  })
})

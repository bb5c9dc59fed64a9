/**
 * Guarantee: an action on a page happens once, as it was shown, and to nothing else: secrets are shown once, and at
 * least one owner remains.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listMembers } from '../../projections/members.ts'
import { listSigningKeys } from '../../projections/signing.ts'
import { addMember, changeRole } from '../../src/commands/members/members.ts'
import { signingKeyOf } from '../../src/commands/signing-keys.ts'
import { Refusal } from '../../src/domain/refusal.ts'
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

describe('a token', () => {
  const form = async (client: Client) => {
    const { text } = await client.get('/dashboard/tokens/new')
    return { tokenId: /name="tokenId" value="([^"]+)"/.exec(text)?.[1] ?? '', name: 'CI', lifetime: '30' }
  }
  const tokenIn = (text: string) => /value="(kl_pat_\w+)"/.exec(text)?.[1] ?? ''

  test('is created with the chosen scopes, shown once, shown as used, and revoked', async () => {
    const client = await signedIn()
    const fields = { ...(await form(client)), scopes: ['licenses:read', 'danger'] }
    const made = await client.post('/dashboard/tokens', fields)
    expect(made.status).toBe(200)
    const token = tokenIn(made.text)
    const verified = await api.ask('GET', '/v1/tokens/verify', { token })
    expect(verified.body).toMatchObject({
      tokenId: fields.tokenId,
      name: 'CI',
      scopes: ['danger', 'licenses:read'],
    })
    const path = `/dashboard/tokens/${fields.tokenId}`
    await api.ledger.ports.tokenUse.flush()
    const { text } = await client.get(path)
    expect(text).toContain('just now')
    expect(text).not.toContain(token)
    await client.post(`${path}/revoke`)
    expect((await api.ask('GET', '/v1/tokens/verify', { token })).status).toBe(401)
    expect((await client.get('/dashboard/tokens')).text).not.toContain(fields.tokenId)
    expect((await client.get('/dashboard/tokens?show=all')).text).toContain(fields.tokenId)
  })

  test('is revoked only by a member who has just proved who they are, once', async () => {
    const client = await signedIn()
    const fields = { ...(await form(client)), scopes: ['licenses:read'] }
    const token = tokenIn((await client.post('/dashboard/tokens', fields)).text)
    const status = async () => (await api.ask('GET', '/v1/tokens/verify', { token })).status
    const revocation = `/dashboard/tokens/${fields.tokenId}/revoke`
    expect((await client.get(revocation)).text).toContain('stops working at once')
    api.ledger.clock.advance(16 * 60_000)
    expect((await client.get(revocation)).status).toBe(200)
    expect((await client.post(revocation)).text).toContain('Confirm your identity')
    expect(await status()).toBe(200)
    const again = await signedIn()
    await again.get(revocation)
    for (let sent = 0; sent < 2; sent++) expect((await again.post(revocation)).status).toBe(303)
    expect(await status()).toBe(401)
    expect((await again.get(revocation)).status).toBe(409)
  })

  test('is created once, however often its form is sent', async () => {
    const client = await signedIn()
    const fields = { ...(await form(client)), scopes: 'usage:read' }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => client.post('/dashboard/tokens', fields)),
    )
    expect(answers.map(({ status }) => status).sort()).toStrictEqual([200, 303, 303, 303, 303])
    expect((await client.get('/dashboard/tokens')).text).toContain('shown only once')
  })

  test.each([
    [{ scopes: 'usage:read', name: '  ' }, 422],
    [{ name: 'CI' }, 422],
    [{ scopes: 'everything' }, 400],
    [{ scopes: 'usage:read', lifetime: '3650' }, 400],
    [{ scopes: 'usage:read', tokenId: 'tok_made-up' }, 400],
    [{ scopes: 'usage:read', name: 'a\0b' }, 400],
    [{ scopes: 'usage:read', name: 'a'.repeat(201) }, 400],
  ])('with %j is not created', async (wrong, status) => {
    const client = await signedIn()
    const fields = { ...(await form(client)), ...wrong }
    expect((await client.post('/dashboard/tokens', fields)).status).toBe(status)
    expect((await client.get('/dashboard/tokens')).text).not.toContain(fields.tokenId)
  })
})

describe('members', () => {
  test('are added with a link that is shown once', async () => {
    const client = await signedIn()
    await client.get('/dashboard/members/new')
    const added = await client.post('/dashboard/members', { email: ' grace@example.com ', role: 'approver' })
    expect(added.status).toBe(200)
    const link =
      /value="http:\/\/localhost:8080(\/dashboard\/welcome\/[\w-]{43})"/.exec(added.text)?.[1] ?? ''
    expect((await clientOf(api.app, '198.51.100.1').get(link)).text).toContain('grace@example.com')
    const { text } = await client.get('/dashboard/members')
    expect(text).toContain('one-time link valid until')
    const again = await client.post('/dashboard/members', { email: 'GRACE@example.com', role: 'owner' })
    expect(again.status).toBe(422)
    expect((await client.post('/dashboard/members', { email: 'no address', role: 'owner' })).status).toBe(422)
    expect((await client.post('/dashboard/members', { email: 'a@example.com', role: 'king' })).status).toBe(
      400,
    )
  })

  test('change roles, are signed out, get a new link and are removed, each by another owner', async () => {
    const other = await makeMember(api.ledger, tenant.tenantId, 'support')
    const client = await signedIn()
    const theirs = await signedIn(other)
    const path = `/dashboard/members/${other.memberId}`
    expect((await client.get(path)).text).toContain(other.email)
    await client.post(`${path}/role`, { role: 'approver' })
    expect((await theirs.get('/dashboard/account')).text).toContain('approver')
    expect((await client.post(`${path}/link`)).text).toContain('/dashboard/welcome/')
    await client.post(`${path}/sessions/end`)
    expect((await theirs.get('/dashboard/account')).status).toBe(303)
    await client.post(`${path}/remove`)
    expect((await client.get(path)).status).toBe(404)
    const own = `/dashboard/members/${owner.memberId}`
    expect((await client.get(own)).text).toContain('Your membership')
    for (const what of ['role', 'remove', 'sessions/end'])
      expect((await client.post(`${own}/${what}`, { role: 'support' })).status).toBe(409)
    expect((await client.get('/dashboard/account')).status).toBe(200)
  })

  test('always keep an owner, also when owners demote each other at once', async () => {
    const { ports } = api.ledger
    const { tenantId } = tenant
    const others = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        addMember(ports, { tenantId, role: 'owner', email: `${name}@example.com` }, origin),
      ),
    )
    const outcomes = await Promise.allSettled(
      [owner.memberId, ...others].map((memberId) => changeRole(ports, tenantId, memberId, 'support', origin)),
    )
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    )
    expect(refused).toStrictEqual([new Refusal('last_owner')])
    const owners = (await listMembers(ports.db, tenantId)).filter(({ role }) => role === 'owner')
    expect(owners).toHaveLength(1)
  })

  test('are added once, also by two simultaneous requests', async () => {
    const { ports } = api.ledger
    const asked = { tenantId: tenant.tenantId, role: 'support', email: 'twice@example.com' } as const
    const outcomes = await Promise.allSettled(
      Array.from({ length: 4 }, () => addMember(ports, asked, origin)),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('settings', () => {
  test('create a checkout key that is shown once, and replace it only on purpose', async () => {
    const client = await signedIn()
    const replaces = (text: string) => ({ replaces: /name="replaces" value="([^"]+)"/.exec(text)?.[1] ?? '' })
    const first = replaces((await client.get('/dashboard/settings/checkout-key')).text)
    const made = await client.post('/dashboard/settings/checkout-key', first)
    expect(made.text).toMatch(/value="kl_chk_\w+"/)
    const reloaded = await client.post('/dashboard/settings/checkout-key', first)
    expect(reloaded).toMatchObject({ status: 303, location: '/dashboard/settings' })
    api.ledger.clock.advance(1000)
    const second = replaces((await client.get('/dashboard/settings/checkout-key')).text)
    expect(second).not.toStrictEqual(first)
    expect((await client.post('/dashboard/settings/checkout-key', second)).text).toMatch(/value="kl_chk_\w+"/)
    expect((await client.get('/dashboard/settings')).text).toMatch(/kl_chk_…\w+/)
  })

  test('rotate the signing key once, however often the form is sent', async () => {
    const { ports, db } = api.ledger
    const { tenantId } = tenant
    const { kid } = await signingKeyOf(ports, tenantId, origin)
    const client = await signedIn()
    const form = await client.get('/dashboard/settings/signing-keys')
    expect(form.text).toContain(kid)
    const replaces = /name="replaces" value="([^"]+)"/.exec(form.text)?.[1] ?? ''
    expect(replaces).toBe(kid)
    for (let sent = 0; sent < 2; sent++) {
      const answer = await client.post('/dashboard/settings/signing-keys', { replaces })
      expect(answer).toMatchObject({ status: 303, location: '/dashboard/settings' })
    }
    const keys = await listSigningKeys(db, tenantId, ports.now().toISOString())
    expect(keys.map(({ status }) => status)).toStrictEqual(['signing', 'next'])
    expect((await client.get('/dashboard/settings')).text).toContain(keys[1]?.kid)
  })

  test('publish the next signing key, and let it sign with the next rotation', async () => {
    const { ports, db } = api.ledger
    const { tenantId } = await makeTenant(api.ledger)
    const { kid } = await signingKeyOf(ports, tenantId, origin)
    const client = await signedIn(await makeMember(api.ledger, tenantId, 'owner'))
    const page = '/dashboard/settings/signing-keys'
    const states = async () =>
      (await listSigningKeys(db, tenantId, ports.now().toISOString())).map(({ status, signsFrom }) => [
        status,
        signsFrom === null ? 'its rotation' : 'a time',
      ])
    await client.post(page, { replaces: kid, what: 'prepare' })
    expect(await states()).toStrictEqual([
      ['signing', 'a time'],
      ['next', 'its rotation'],
    ])
    const form = await client.get(page)
    expect(form.text).not.toContain('value="prepare"')
    const replaces = /name="replaces" value="([^"]+)"/.exec(form.text)?.[1] ?? ''
    await client.post(page, { replaces, what: 'rotate' })
    expect(await states()).toStrictEqual([
      ['signing', 'a time'],
      ['next', 'a time'],
    ])
  })
})

describe('lists', () => {
  test('are paged to their end, filtered, and link to their entries', async () => {
    await makeProduct(api.ask, tenant.token, 'editor')
    await makeProduct(api.ask, tenant.token, 'player')
    const ids: string[] = []
    for (let licenses = 0; licenses < 53; licenses++)
      ids.push((await mint(api.ask, tenant.token, 'editor')).id)
    const client = await signedIn()
    const linked = (text: string) =>
      [...text.matchAll(/href="\/dashboard\/licenses\/(lic_\w+)"/g)].map(([, id]) => id)
    const first = await client.get('/dashboard/licenses?product=editor')
    const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const second = await client.get(next)
    expect([...linked(first.text), ...linked(second.text)]).toStrictEqual(ids.reverse())
    expect(second.text).not.toContain('rel="next"')
    expect((await client.get('/dashboard/licenses?product=player')).text).toContain(
      'No licenses match these filters',
    )
    expect(linked((await client.get('/dashboard/licenses?status=revoked')).text)).toStrictEqual([])
    expect((await client.get(`/dashboard/licenses/${ids[0]}`)).text).toContain('<strong>Issued</strong>')
    expect((await client.get('/dashboard/licenses?cursor=made-up')).status).toBe(400)
    expect((await client.get(next.replace('product=editor', 'product=player'))).status).toBe(400)
  })
})

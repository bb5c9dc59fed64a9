/**
 * Guarantee: a member begins to see the portal as a customer with a link of the dashboard that is good once, and ends with their
 * session, with the person, and after 15 minutes. A customer's own session in the same browser is neither used nor replaced.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sweep } from '../../src/access/sessions.ts'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { changeRole, removeMember } from '../../src/commands/members/members.ts'
import { suspendTenant } from '../../src/commands/tenants.ts'
import type { Client } from '../dashboard/client.ts'
import { wordsOf } from '../dashboard/forms.ts'
import { makeMember, makeRole } from '../dashboard/members.ts'
import { makeTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { openPortalOf } from './customer.ts'
import { begin, buyer, furnish, openPortal, portal, signedIn, stored, viewing } from './viewing.ts'

beforeAll(openPortal)
afterAll(() => portal.close())
beforeEach(() => portal.api.ledger.clock.advance(3_600_000))

const isOver = async (client: Client) => (await client.get(portal.home)).text.includes('This view has ended')

describe('the link', () => {
  test('is good once, for a minute, in the portal of its tenant, and from the dashboard alone', async () => {
    const { client } = await signedIn()
    const { page } = await buyer()
    const other = await makeTenant(portal.api.ledger)
    await openPortalOf(portal.api.app, other.token)
    const useless = async (url: string, headers = {}) => {
      const stranger = portal.visitor()
      const { status, text } = await stranger.get(url, headers)
      expect({ status, useless: text.includes('This link cannot be used') }).toStrictEqual({
        status: 410,
        useless: true,
      })
      expect(stranger.cookies.size).toBe(0)
    }
    const link = await begin(client, page)
    await useless(link.replace(portal.tenant.tenantId, other.tenantId))
    await useless(link, { 'sec-fetch-site': 'cross-site' })
    expect((await client.get(link, { 'sec-fetch-site': 'same-origin' })).status).toBe(303)
    await useless(link)
    await useless(`${portal.home}/viewing`)
    const late = await begin(client, page)
    portal.api.ledger.clock.advance(60_000)
    await useless(late)
  })

  test('no table holds it or the cookie', async () => {
    const { client, link } = await viewing()
    const everything = JSON.stringify(await stored())
    for (const secret of [
      new URL(link, 'http://here').searchParams.get('token') ?? '',
      client.cookies.get('keyledger-portal-viewing') ?? '',
    ]) {
      expect(secret).toHaveLength(43)
      expect(everything).not.toContain(secret)
    }
  })
})

describe('it ends', () => {
  type Seen = Awaited<ReturnType<typeof viewing>>
  const ways: Record<string, (seen: Seen) => unknown> = {
    'after 15 minutes': () => portal.api.ledger.clock.advance(900_000),
    'when the member signs out': async ({ client }) => {
      await client.get('/dashboard/account')
      await client.post('/dashboard/sign-out')
    },
    'when the member is removed': ({ member: { memberId, tenantId } }) =>
      removeMember(portal.api.ledger.ports, tenantId, memberId, origin),
    "when the member's role no longer allows it": async ({ member: { memberId, tenantId } }) => {
      const { ports } = portal.api.ledger
      const { roleId } = await makeRole(portal.api.ledger, tenantId, ['customers:read'])
      await changeRole(ports, tenantId, memberId, roleId, origin)
    },
    'when the member has to sign in at a provider': () =>
      portal.api.ledger.db.query(
        `update tenants set state = state || '{"providersOnly": true}' where tenant_id = $1`,
        [portal.tenant.tenantId],
      ),
    'when it is swept': async () => {
      portal.api.ledger.clock.advance(172_800_000)
      await sweep(portal.api.ledger.db, portal.api.ledger.clock.now())
    },
    'when the person is erased': async ({ customer }) => {
      const { db, ports } = portal.api.ledger
      const { rows } = await db.query<{ id: string }>(
        'select subject_id as id from licenses where license_id = $1',
        [customer.licenseId],
      )
      await eraseSubject(ports, portal.tenant.tenantId, rows[0]?.id ?? '', origin)
      const left = await db.query('select from vault.portal_viewings where customer_id = $1', [
        customer.customerId,
      ])
      expect(left.rowCount).toBe(0)
    },
  }

  test.each(Object.entries(ways))('%s', async (_, end) => {
    const seen = await viewing()
    const { client } = seen
    await client.get(portal.home)
    await end(seen)
    const posted = await clientWith(client).post(`${portal.home}/sign-out`)
    expect(posted.status).toBe(403)
    const over = await client.get(portal.home)
    expect(over.status).toBe(410)
    expect(over.text).toContain('This view has ended')
    expect(over.text).not.toContain(seen.customer.email)
    // It is said once: the browser has forgotten it.
    expect((await client.get(portal.home)).location).toBe(`${portal.home}/sign-in`)
    await portal.api.ledger.db.query(
      `update tenants set state = state - 'providersOnly' where tenant_id = $1`,
      [portal.tenant.tenantId],
    )
  })

  /** Another client with the same cookies. */
  function clientWith({ cookies }: Client): Client {
    const copy = portal.visitor()
    for (const [name, value] of cookies) copy.cookies.set(name, value)
    return copy
  }

  test('with its button, which leads back to the customer', async () => {
    const { client, customer } = await viewing()
    await client.get(portal.home)
    const stale = clientWith(client)
    expect(await client.postBare(`${portal.home}/viewing/end`)).toMatchObject({ status: 403 })
    expect(await client.post(`${portal.home}/viewing/end`)).toMatchObject({
      status: 303,
      location: customer.page,
    })
    expect((await client.get(portal.home)).location).toBe(`${portal.home}/sign-in`)
    expect(await isOver(stale)).toBe(true)
  })

  test('when the member opens another one, in whichever browser tab', async () => {
    const { client } = await viewing()
    const first = clientWith(client)
    const other = await buyer()
    await client.get(await begin(client, other.page))
    expect(wordsOf(await client.get(portal.home))).toContain(`as ${other.email} does`)
    expect(await isOver(first)).toBe(true)
  })

  test('where the portal is closed, which looks as without it', async () => {
    const tenant = await makeTenant(portal.api.ledger)
    await openPortalOf(portal.api.app, tenant.token)
    await furnish(tenant)
    const { client } = await signedIn('owner', tenant.tenantId)
    const { page } = await buyer(tenant)
    await client.get(await begin(client, page))
    await suspendTenant(portal.api.ledger.ports, tenant.tenantId, null, origin)
    const { status, text } = await client.get(`/portal/${tenant.tenantId}`)
    expect({ status, text }).toStrictEqual({ status: 404, text: (await client.get('/portal/nobody')).text })
  })
})

test('a customer’s own session of the same browser is neither used nor replaced', async () => {
  const ada = await buyer()
  const client = await portal.signedIn(ada.email)
  const member = await makeMember(portal.api.ledger, portal.tenant.tenantId, 'support')
  await client.signIn(member)
  const grace = await buyer()
  await client.get(await begin(client, grace.page))
  const seen = await client.get(portal.home)
  expect(seen.text).toContain(grace.licenseId)
  expect(seen.text).not.toContain(ada.licenseId)
  expect((await client.post(`${portal.home}/licenses/${ada.licenseId}/send-key`)).status).toBe(403)
  await client.get(portal.home)
  await client.post(`${portal.home}/viewing/end`)
  const own = await client.get(portal.home)
  expect(own.text).toContain(ada.licenseId)
  expect(own.text).not.toContain('class="viewing"')
})

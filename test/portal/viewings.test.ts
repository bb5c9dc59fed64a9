/**
 * Guarantee: a member who sees the portal as a customer does reads every page and changes nothing, whatever their browser sends.
 * It is in the audit log before it begins, it is no visit of the customer, and it ends with the member's session.
 */
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sweep } from '../../src/access/sessions.ts'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { beginViewing } from '../../src/commands/customers/portal-viewing.ts'
import { removeMember } from '../../src/commands/members/members.ts'
import { suspendTenant } from '../../src/commands/tenants.ts'
import { newId } from '../../src/credentials/id.ts'
import { Role } from '../../src/domain/members/roles.ts'
import { type Client, clientOf } from '../dashboard/client.ts'
import { wordsOf } from '../dashboard/forms.ts'
import { makeMember } from '../dashboard/members.ts'
import { nameOf, type Route, routesOf } from '../dashboard/routes.ts'
import { makeTenant, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { openPortalOf, openTestPortal, type TestPortal } from './customer.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
  await furnish(portal.tenant)
})
afterAll(() => portal.close())
beforeEach(() => portal.api.ledger.clock.advance(3_600_000))

/** A product with which the portal offers all that it can. */
async function furnish({ token }: TestTenant): Promise<void> {
  const floatingSeats = {
    seatSeconds: 86_400,
    overdraft: null,
    scope: 'device',
    relays: { maxDays: 30 },
    maxBorrowDays: 30,
    maxBorrowed: 2,
  }
  const keyTypes = [{ name: 'Pro', deviceLimit: 5, seatPolicy: 'floating', floatingSeats }]
  const offered = { customerFiles: true, customerKeyReplacement: true, keyRecovery: true }
  await makeProduct(portal.api.ask, token, 'editor', { keyTypes, ...offered })
  const { status } = await portal.api.ask('PUT', '/v1/products/editor/mail', {
    token,
    body: { enabled: true },
  })
  expect(status).toBe(200)
}

let people = 0
/** Somebody with a license that has a device. */
async function buyer({ token, tenantId }: TestTenant = portal.tenant) {
  const { ask } = portal.api
  const email = `buyer-${++people}@example.com`
  const { id, licenseKey } = await mint(ask, token, 'editor', { email })
  await ask('POST', '/v1/licenses/activate', {
    token,
    body: { tenant_id: tenantId, product_id: 'editor', license_key: licenseKey, device_id: 'laptop' },
  })
  const { body } = await ask('GET', `/v1/licenses/${id}`, { token })
  const { customerId } = (body as { license: { customerId: string } }).license
  return { email, licenseId: id, licenseKey, customerId, page: `/dashboard/customers/${customerId}` }
}

let addresses = 0
async function signedIn(role: Role = 'support', tenantId = portal.tenant.tenantId) {
  const client = clientOf(portal.api.app, `192.0.2.${++addresses}`)
  const member = await makeMember(portal.api.ledger, tenantId, role)
  expect((await client.signIn(member)).status).toBe(303)
  return { client, member }
}

/** Presses the button on the page of a customer. @returns the address of the link */
async function begin(client: Client, page: string): Promise<string> {
  expect((await client.get(page)).text).toContain(`action="${page}/portal"`)
  const { status, location = '' } = await client.post(`${page}/portal`)
  expect(status).toBe(303)
  return location
}

async function viewing(role: Role = 'support') {
  const { client, member } = await signedIn(role)
  const customer = await buyer()
  const link = await begin(client, customer.page)
  expect(await client.get(link)).toMatchObject({ status: 303, location: portal.home })
  return { client, member, customer, link }
}

const auditOf = async (query: string, { token } = portal.tenant) => {
  const { body } = await portal.api.ask('GET', `/v1/audit?${query}`, { token })
  return (body as { items: { actor: string; action: string; target: object; from: object }[] }).items
}

/** The rows of every table, but for those that record views. */
async function stored(): Promise<Record<string, string | null>> {
  const { db, ports } = portal.api.ledger
  await ports.usage.flush()
  const { rows } = await db.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables
     where schemaname in ('public', 'vault', 'usage') and tablename not in ('audit', 'checkpoints')`,
  )
  const found = await Promise.all(
    rows.map(async ({ name }) => {
      const { rows: all } = await db.query<{ text: string | null }>(
        `select string_agg(t::text, ' ' order by t::text) as text from ${name} t`,
      )
      return [name, all[0]?.text ?? null] as const
    }),
  )
  return Object.fromEntries(found)
}

const isOver = async (client: Client) => (await client.get(portal.home)).text.includes('This view has ended')

test('the button leads to the portal of the customer, with their masked key and a banner', async () => {
  const { client, customer } = await viewing('auditor')
  const home = await client.get(portal.home)
  expect(wordsOf(home)).toContain(
    `You see the portal as ${customer.email} does. Nothing can be changed. Ends at `,
  )
  expect(home.text).toContain(`${portal.home}/licenses/${customer.licenseId}`)
  const license = await client.get(`${portal.home}/licenses/${customer.licenseId}`)
  expect(license.text).not.toContain(customer.licenseKey)
  expect(wordsOf(license)).toContain('1 of 5')
  expect(license.text).not.toContain('sign-out')
  // The member is still signed in to the dashboard.
  expect((await client.get('/dashboard/account')).status).toBe(200)
})

test('the time at which it ends is 15 minutes later', async () => {
  const { clock } = portal.api.ledger
  const { client } = await viewing()
  const ends = new Date(clock.now().getTime() + 900_000).toISOString().slice(11, 16)
  expect(wordsOf(await client.get(portal.home))).toContain(`Ends at ${ends} UTC.`)
})

test.each(Role.options)('every role that reads customers may see it: %s', async (role) => {
  const { client } = await viewing(role)
  expect((await client.get(portal.home)).text).toContain('class="viewing"')
})

describe('in a viewing', () => {
  let seen: Awaited<ReturnType<typeof viewing>>
  let device: string
  let routes: Route[]
  beforeEach(async () => {
    seen = await viewing()
    const { rows } = await portal.api.ledger.db.query<{ id: string }>(
      'select instance_id as id from devices where license_id = $1',
      [seen.customer.licenseId],
    )
    device = rows[0]?.id ?? ''
    routes = routesOf(portal.api.app).filter(({ path }) => path.startsWith('/portal/:tenantId'))
  })
  const urlOf = ({ path }: Route): string =>
    path
      .replace(':tenantId', portal.tenant.tenantId)
      .replace(':id', seen.customer.licenseId)
      .replace(':device', device)

  test('no page of any route has a form besides the one that ends it', async () => {
    const before = await stored()
    const statuses: Record<string, number> = {}
    const withheld: string[] = []
    for (const route of routes.filter(({ method }) => method === 'GET')) {
      const { status, text, setCookies } = await seen.client.get(urlOf(route))
      statuses[route.path.replace('/portal/:tenantId', '')] = status
      expect({ route, setCookies }).toStrictEqual({ route, setCookies: [] })
      if (!text.startsWith('<!doctype html>')) continue
      const forms = [...text.matchAll(/<form[^>]*action="([^"]*)"/g)].map(([, action]) => action)
      expect({ route, forms }).toStrictEqual({ route, forms: [`${portal.home}/viewing/end`] })
      expect(text.match(/<(?:button|input|textarea|select)\b/g)).toStrictEqual(['<input', '<button'])
      if (text.includes('The customer has a form here')) withheld.push(route.path)
    }
    expect(statuses).toStrictEqual({
      '': 200,
      '/brand.css': 200,
      '/file': 404,
      '/licenses/:id': 200,
      '/licenses/:id/devices/:device/free': 200,
      '/licenses/:id/devices/:device/name': 200,
      '/licenses/:id/file': 200,
      '/licenses/:id/relay': 200,
      '/licenses/:id/replace-key': 200,
      '/link': 410,
      '/logo': 404,
      '/sign-in': 303,
      '/viewing': 410,
    })
    expect(withheld).toHaveLength(6)
    expect(await stored()).toStrictEqual(before)
  })

  test('every request that could change something is refused before it is read', async () => {
    const { client } = seen
    const { ledger } = portal.api.ledger.ports
    await client.get(portal.home)
    const before = await stored()
    const [head, mails] = [await ledger.head(), portal.mails.length]
    const ends = `${portal.home}/viewing/end`
    const urls = new Set([...routes.map(urlOf), portal.home, `${portal.home}/no/such/page`])
    const tried = [...urls].flatMap((url) =>
      (['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)
        .filter((method) => method !== 'POST' || url !== ends)
        .map((method) => ({ method, url })),
    )
    expect(tried.length).toBeGreaterThan(60)
    const form = {
      email: seen.customer.email,
      name: 'Mine',
      request: 'x',
      token: 'x',
      _csrf: client.formToken(),
    }
    for (const { method, url } of tried) {
      const sent: InjectOptions = {
        method,
        url,
        payload: new URLSearchParams(form).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }
      const { status, text } = await client.send(sent)
      expect({ method, url, status }).toStrictEqual({ method, url, status: 403 })
      expect(text).toContain('only the customer can change something')
    }
    const posts = routes.filter(({ method }) => method === 'POST').map(nameOf)
    expect(posts).toContain('POST /portal/:tenantId/licenses/:id/send-key')
    expect(await stored()).toStrictEqual(before)
    expect(await ledger.head()).toBe(head)
    expect(portal.mails).toHaveLength(mails)
  })

  test('views of its licenses are in the audit log, as those of the dashboard are', async () => {
    await seen.client.get(`${portal.home}/licenses/${seen.customer.licenseId}`)
    const [viewed] = await auditOf(`action=viewed&target=${seen.customer.licenseId}`)
    expect(viewed).toMatchObject({
      actor: `member:${seen.member.memberId}`,
      target: { kind: 'license', id: seen.customer.licenseId },
    })
  })

  test('the license of another person is answered as an absent one', async () => {
    const other = await buyer()
    const shape = async (id: string) => {
      const { status, text } = await seen.client.get(`${portal.home}/licenses/${id}`)
      return { status, text: text.replaceAll(id, 'ID') }
    }
    const absent = await shape(newId('lic'))
    expect(absent.status).toBe(404)
    expect(await shape(other.licenseId)).toStrictEqual(absent)
  })
})

describe('it is recorded', () => {
  test('in the audit log, with the member and from where, and on the page of the customer, but not as a visit', async () => {
    const { client, customer, member } = await viewing()
    await client.get(portal.home)
    const target = { kind: 'customer', id: customer.customerId }
    expect(await auditOf(`action=portal_viewed&target=${customer.customerId}`)).toMatchObject([
      { actor: `member:${member.memberId}`, action: 'portal_viewed', target, from: { via: 'dashboard' } },
    ])
    const words = wordsOf(await client.get(customer.page))
    expect(words).toContain('No visits in the last 90 days.')
    expect(words).toMatch(new RegExp(`Opened By .* ${member.email}`))
    const owner = await signedIn('owner')
    const list = await owner.client.get(`/dashboard/audit?target=${customer.customerId}&action=portal_viewed`)
    expect(wordsOf(list)).toMatch(
      new RegExp(`${member.email} dashboard, 192\\.0\\.2\\.\\d+ viewed the portal as a customer`),
    )
  })

  test('before it begins: when that fails nothing begins, and when the process ends afterwards nothing but the entry is there', async () => {
    const { ports, db } = portal.api.ledger
    const { customerId } = await buyer()
    const { tenantId } = portal.tenant
    const asked = { tenantId, customerId, subjectId: 'sub', memberId: 'mem', sessionHash: 'hash' }
    const rows = async () =>
      (await db.query('select from vault.portal_viewings where customer_id = $1', [customerId])).rowCount
    const refused = () => Promise.reject(new Error('not appended'))
    await expect(beginViewing({ ...ports, execute: refused }, asked, origin)).rejects.toThrow('not appended')
    expect(await rows()).toBe(0)
    expect(await auditOf(`target=${customerId}`)).toStrictEqual([])
    const ended = { query: () => Promise.reject(new Error('the process ended')) } as unknown as typeof db
    await expect(beginViewing({ ...ports, db: ended }, asked, origin)).rejects.toThrow('the process ended')
    expect(await rows()).toBe(0)
    expect(await auditOf(`target=${customerId}`)).toMatchObject([{ action: 'portal_viewed' }])
  })
})

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

describe('it is not offered', () => {
  const refusal = async (client: Client, page: string) => {
    const shown = await client.get(page)
    expect(shown.text).not.toContain(`${page}/portal`)
    const before = await auditOf('action=portal_viewed')
    expect(await client.post(`${page}/portal`)).toMatchObject({ status: 303, location: page })
    expect(await auditOf('action=portal_viewed')).toStrictEqual(before)
    // The notice, and the words in the place of the button.
    return { shown: wordsOf(shown), notice: wordsOf(await client.get(page)) }
  }

  test('for a customer without a license, who could not sign in', async () => {
    const { client } = await signedIn()
    const id = await makeCustomer(portal.api.ask, portal.tenant.token, { email: 'nothing@example.com' })
    const why = 'No license belongs to this customer, so they cannot sign in to the portal.'
    const { shown, notice } = await refusal(client, `/dashboard/customers/${id}`)
    expect(shown).toContain(why)
    expect(notice.split(why)).toHaveLength(3)
  })

  test('for a person who was erased', async () => {
    const { client } = await signedIn()
    const { page, licenseId } = await buyer()
    const { rows } = await portal.api.ledger.db.query<{ id: string }>(
      'select subject_id as id from licenses where license_id = $1',
      [licenseId],
    )
    await eraseSubject(portal.api.ledger.ports, portal.tenant.tenantId, rows[0]?.id ?? '', origin)
    expect((await refusal(client, page)).shown).toContain('The person behind this customer was erased')
  })

  test('where the portal is closed', async () => {
    const tenant = await makeTenant(portal.api.ledger)
    await furnish(tenant)
    const { client } = await signedIn('support', tenant.tenantId)
    const { page } = await buyer(tenant)
    expect((await refusal(client, page)).shown).toContain('The customer portal is closed.')
  })

  test('for a customer of another tenant, who is answered as an absent one, and nothing is recorded', async () => {
    const other = await makeTenant(portal.api.ledger)
    await openPortalOf(portal.api.app, other.token)
    await furnish(other)
    const foreign = await buyer(other)
    const { client } = await signedIn()
    await client.get('/dashboard/customers')
    const post = async (id: string) => {
      const { status, text } = await client.post(`/dashboard/customers/${id}/portal`)
      return { status, text: text.replaceAll(/value="[^"]+"/g, '').replaceAll(id, 'ID') }
    }
    const absent = await post(newId('cus'))
    expect(absent.status).toBe(404)
    expect(await post(foreign.customerId)).toStrictEqual(absent)
    expect(await auditOf('action=portal_viewed', other)).toStrictEqual([])
  })
})

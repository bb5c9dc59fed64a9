/**
 * Guarantee: a member who sees the portal as a customer does reads every page and changes nothing, whatever their browser sends.
 * It is in the audit log before it begins, and it is no visit of the customer.
 */
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { beginViewing } from '../../src/commands/customers/portal-viewing.ts'
import { newId } from '../../src/credentials/id.ts'
import { Role } from '../../src/domain/members/roles.ts'
import type { Client } from '../dashboard/client.ts'
import { wordsOf } from '../dashboard/forms.ts'
import { nameOf, type Route, routesOf } from '../dashboard/routes.ts'
import { makeTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { makeCustomer } from '../http/samples.ts'
import { openPortalOf } from './customer.ts'
import { auditOf, buyer, furnish, openPortal, portal, signedIn, stored, viewing } from './viewing.ts'

beforeAll(openPortal)
afterAll(() => portal.close())
beforeEach(() => portal.api.ledger.clock.advance(3_600_000))

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
  let colleague: string
  let routes: Route[]
  beforeEach(async () => {
    seen = await viewing()
    const { rows } = await portal.api.ledger.db.query<{ id: string }>(
      'select instance_id as id from devices where license_id = $1',
      [seen.customer.licenseId],
    )
    device = rows[0]?.id ?? ''
    const own = `/v1/customers/${seen.customer.customerId}`
    const { token } = portal.tenant
    await portal.api.ask('POST', `${own}/organization`, { token })
    const people = [{ email: 'colleague@example.com' }]
    const { body } = await portal.api.ask('POST', `${own}/people`, { token, body: { people, invite: false } })
    colleague = (body as { people: { id: string }[] }).people[0]?.id ?? ''
    routes = routesOf(portal.api.app).filter(({ path }) => path.startsWith('/portal/:tenantId'))
  })
  const urlOf = ({ path }: Route): string =>
    path
      .replace(':tenantId', portal.tenant.tenantId)
      .replace('/organizations/:id', `/organizations/${seen.customer.customerId}`)
      .replace(':id', seen.customer.licenseId)
      .replace(':device', device)
      .replace(':person', colleague)

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
      '/activate-app': 200,
      '/brand.css': 200,
      '/file': 404,
      '/licenses/:id': 200,
      '/licenses/:id/devices/:device/free': 200,
      '/licenses/:id/devices/:device/name': 200,
      '/licenses/:id/file': 200,
      '/licenses/:id/people/:person': 404,
      '/licenses/:id/relay': 200,
      '/licenses/:id/replace-key': 200,
      '/link': 410,
      '/logo': 404,
      '/organizations/:id': 200,
      '/organizations/:id/acts': 200,
      '/organizations/:id/leave': 200,
      '/organizations/:id/list': 200,
      '/organizations/:id/people.csv': 200,
      '/organizations/:id/people/:person': 200,
      '/organizations/:id/people/:person/remove': 200,
      '/organizations/:id/purchases': 200,
      '/organizations/:id/purchases/:sale/invoice': 404,
      '/organizations/:id/usage': 200,
      '/organizations/:id/usage.csv': 200,
      '/purchases': 200,
      '/purchases/:sale/invoice': 404,
      '/sign-in': 303,
      '/sign-in/:provider': 403,
      '/sign-in/:provider/callback': 403,
      '/viewing': 410,
    })
    expect(withheld).toHaveLength(12)
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

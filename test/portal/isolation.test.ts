/**
 * Guarantee: a signed-in person sees and changes nothing of anybody else's, whatever ids they try: what belongs to
 * another person, or to another tenant, is answered byte for byte as what does not exist.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { newId } from '../../src/credentials/id.ts'
import type { Client, Seen } from '../dashboard/client.ts'
import { nameOf, routesOf } from '../dashboard/routes.ts'
import { makeTenant } from '../harness/api.ts'
import { importRows, makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { parkedSale } from '../sales/shop.ts'
import { openPortalOf, openTestPortal, type TestPortal } from './customer.ts'

const count = 1000

let portal: TestPortal
let client: Client
let own: { license: string; device: string }
/** Licenses of other people of this tenant and of another, each with a device. */
let foreign: { license: string; device: string }[]
/** The organization of the person who signs in, and those of other people of this tenant and of another. */
let ownOrganization: Organization
let foreignOrganizations: Organization[]
/** Purchases of other people of this tenant and of another. */
let foreignSales: string[]

type Organization = { customer: string; person: string }

async function makeOrganization(token: string, email: string): Promise<Organization> {
  const { ask } = portal.api
  const customer = await makeCustomer(ask, token, { email })
  await ask('POST', `/v1/customers/${customer}/organization`, { token })
  const body = { people: [{ email: `colleague-of-${email}` }], invite: false }
  const added = await ask('POST', `/v1/customers/${customer}/people`, { token, body })
  return { customer, person: People.parse(added.body).people[0].id }
}
const People = z.object({ people: z.tuple([z.object({ id: z.string() })]) })

beforeAll(async () => {
  portal = await openTestPortal()
  const other = await makeTenant(portal.api.ledger)
  await openPortalOf(portal.api.app, other.token)
  for (const { token } of [portal.tenant, other]) {
    await makeProduct(portal.api.ask, token, 'editor', { customerKeyReplacement: true, keyRecovery: true })
    const rows = Array.from({ length: count / 2 }, (_, index) => ({
      licenseKey: `FOREIGN-KEY-${String(index).padStart(6, '0')}`,
      // In the other tenant the same person holds some of them.
      email: token === other.token && index % 2 === 0 ? 'ada@example.com' : `other-${index}@example.com`,
      devices: [{ deviceId: `device-${index}`, name: 'Secret device' }],
    }))
    await importRows(portal.api.ask, token, 'editor', rows)
  }
  const ofTenants = [portal.tenant, other].map(({ tenantId }) => parkedSale(portal.api.ledger, tenantId))
  foreignSales = await Promise.all(ofTenants)
  const { rows } = await portal.api.ledger.db.query<{ license: string; device: string }>(
    'select license_id as license, instance_id as device from devices order by 1',
  )
  foreign = rows
  const mine = await mint(portal.api.ask, portal.tenant.token, 'editor', { email: 'ada@example.com' })
  await portal.api.ask('POST', '/v1/licenses/activate', {
    token: portal.tenant.token,
    body: {
      tenant_id: portal.tenant.tenantId,
      product_id: 'editor',
      license_key: mine.licenseKey,
      device_id: 'mine',
    },
  })
  ownOrganization = await makeOrganization(portal.tenant.token, 'ada@example.com')
  foreignOrganizations = [
    await makeOrganization(portal.tenant.token, 'other-1@example.com'),
    // In the other tenant the same person has it.
    await makeOrganization(other.token, 'ada@example.com'),
  ]
  client = await portal.signedIn('ada@example.com')
  const { text } = await client.get(`${portal.home}/licenses/${mine.id}`)
  own = { license: mine.id, device: /devices\/(ins_\w+)\//.exec(text)?.[1] ?? '' }
}, 300_000)
afterAll(() => portal.close())

/** An answer without what the requester sent: the ids in the address, which the links of other languages repeat. */
const shapeOf = ({ status, text, location, setCookies }: Seen, ids: readonly string[]) => ({
  status,
  text: ids.reduce((rest, id) => rest.replaceAll(id, 'ID'), text),
  location,
  setCookies,
})

type Place = (license: string, device: string) => Promise<Seen>
const places: Record<string, Place> = {
  'the page': (license) => client.get(`${portal.home}/licenses/${license}`),
  'removing a device': (license, device) =>
    client.post(`${portal.home}/licenses/${license}/devices/${device}/free`),
  'the question before it': (license, device) =>
    client.get(`${portal.home}/licenses/${license}/devices/${device}/free`),
  'naming a device': (license, device) =>
    client.post(`${portal.home}/licenses/${license}/devices/${device}/name`, { name: 'Mine' }),
  'sending the key': (license) => client.post(`${portal.home}/licenses/${license}/send-key`),
  'replacing the key': (license) => client.post(`${portal.home}/licenses/${license}/replace-key`),
}

test('there are as many licenses of others as meant', () => {
  expect(foreign).toHaveLength(count)
  expect(own.device).not.toBe('')
})

test.each(Object.entries(places))(
  '%s: licenses of others are answered as absent ones',
  async (_, place) => {
    const absent = { license: newId('lic'), device: newId('ins') }
    const wanted = shapeOf(await place(absent.license, absent.device), Object.values(absent))
    expect(wanted.status).toBe(404)
    // The page tries every id; the actions behind the same look-up try every fifth.
    const tried = foreign.filter((_one, index) => place === places['the page'] || index % 5 === 0)
    for (const { license, device } of tried)
      expect(shapeOf(await place(license, device), [license, device])).toStrictEqual(wanted)
  },
  300_000,
)

type Ids = Organization & { license: string; device: string; sale: string }

/** The answers of all routes with an id, by route. */
async function answersOf(ids: Ids, only: (path: string) => boolean = () => true) {
  const answers: Record<string, ReturnType<typeof shapeOf>> = {}
  for (const route of routesOf(portal.api.app)) {
    const { method, path } = route
    const hasId = path.startsWith('/portal/:tenantId') && /:id|:sale/.test(path)
    if (!hasId || !only(path) || (method !== 'GET' && method !== 'POST')) continue
    const url = path
      .replace(':tenantId', portal.tenant.tenantId)
      .replace('/organizations/:id', `/organizations/${ids.customer}`)
      .replace('/purchases/:sale', `/purchases/${ids.sale}`)
      .replace(':id', ids.license)
      .replace(':device', ids.device)
      .replace(':person', ids.person)
    expect(url).not.toContain('/:')
    const seen = method === 'GET' ? await client.get(url) : await client.post(url)
    answers[nameOf(route)] = shapeOf(seen, Object.values(ids))
  }
  return answers
}

const newIds = (): Ids => ({
  license: newId('lic'),
  device: newId('ins'),
  customer: newId('cus'),
  sale: newId('sal'),
  person: newId('per'),
})

test('every page and form answers for what others have as for what is absent', async () => {
  const absent = await answersOf(newIds())
  expect(Object.keys(absent).length).toBeGreaterThan(25)
  for (const [route, { status }] of Object.entries(absent))
    expect([route, status]).toStrictEqual([route, 404])
  for (const [index, organization] of foreignOrganizations.entries()) {
    const [thing, sale] = [foreign[index], foreignSales[index]]
    if (!thing || !sale) throw new Error('there are licenses and sales of others')
    expect(await answersOf({ ...organization, ...thing, sale })).toStrictEqual(absent)
  }
}, 60_000)

test('the people of other organizations are absent from the own one', async () => {
  const page = '/organizations/:id/people/:person'
  const ofPeople = (path: string) => path.includes(page)
  const own = { ...newIds(), customer: ownOrganization.customer }
  const absent = await answersOf(own, ofPeople)
  for (const { person } of foreignOrganizations)
    expect(await answersOf({ ...own, person }, ofPeople)).toStrictEqual(absent)
  const [known] = Object.entries(
    await answersOf({ ...own, person: ownOrganization.person }, (path) => path.endsWith(page)),
  )
  expect(known?.[1].status).toBe(200)
})

test('1,000 devices of others are answered as absent ones beneath an own license', async () => {
  const place = (device: string) =>
    client.post(`${portal.home}/licenses/${own.license}/devices/${device}/free`)
  const absent = newId('ins')
  const wanted = shapeOf(await place(absent), [absent])
  expect(wanted.status).toBe(404)
  for (const { device } of foreign) expect(shapeOf(await place(device), [device])).toStrictEqual(wanted)
}, 300_000)

test('the list holds the own license alone, after whichever id it continues', async () => {
  const { text } = await client.get(portal.home)
  expect([...text.matchAll(/licenses\/(lic_\w+)"/g)].map(([, id]) => id)).toStrictEqual([own.license])
  const absent = newId('lic')
  const wanted = shapeOf(await client.get(`${portal.home}?after=${absent}`), [absent])
  for (const { license } of foreign.slice(0, 100))
    expect(shapeOf(await client.get(`${portal.home}?after=${license}`), [license])).toStrictEqual(wanted)
})

test('the session is worth nothing in the portal of another tenant', async () => {
  const other = await makeTenant(portal.api.ledger)
  await openPortalOf(portal.api.app, other.token)
  const home = `/portal/${other.tenantId}`
  expect((await client.get(home)).location).toBe(`${home}/sign-in`)
  expect((await client.get(`${home}/licenses/${own.license}`)).location).toBe(`${home}/sign-in`)
})

test('1,000 addresses of others are answered as unknown ones', async () => {
  const answers = new Set<string>()
  const first = portal.visitor()
  await first.get(`${portal.home}/sign-in`)
  // One browser on many networks, so that the limits of a network do not hide the answers.
  const ask = async (email: string) => {
    const visitor = portal.visitor()
    for (const [name, value] of first.cookies) visitor.cookies.set(name, value)
    const form = { email, _csrf: first.formToken() }
    const { status, text, setCookies } = await visitor.postBare(`${portal.home}/sign-in`, form)
    answers.add(JSON.stringify({ status, text, setCookies }))
  }
  await ask('nobody@example.com')
  for (let n = 0; n < count; n++) await ask(`other-${n}@example.com`)
  expect(answers.size).toBe(1)
}, 300_000)

test('nothing of others has changed', async () => {
  const { rows } = await portal.api.ledger.db.query(
    `select from devices where status <> 'active' or given_name is not null
     union all select from licenses where key_mail_asked_at is not null`,
  )
  expect(rows).toStrictEqual([])
})

/**
 * Guarantee: organizations of other systems come over once, with their people and their licenses; nobody sees licenses of an
 * organization that they are not in, nobody who was removed or erased comes back, nobody gets a mail, and what is left out is said.
 */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLog } from '../flows/operator.ts'
import { askApproveRepeat } from '../harness/gate.ts'
import { type Imports, openImports, type Vendor } from './imports.ts'
import { Killed, mortal } from './mortal.ts'
import { customersOf, withoutIds } from './organizations.ts'

let imports: Imports
beforeAll(async () => {
  imports = await openImports()
})
afterAll(() => imports.close())

const recorded = (name: string) => fileURLToPath(new URL(`recorded/${name}`, import.meta.url))

/** Two organizations with a person in both, and a license of that person alone. */
const csv = () =>
  imports.exported(
    [
      'licenseKey,email,organization,administrators,members',
      'OLD-1111,,ACME,ada@example.com,bob@example.com dana@example.com',
      'OLD-2222,bob@example.com,ACME,,emmy@example.com',
      'OLD-3333,,Globex,ada@example.com,',
      'OLD-4444,ada@example.com,,,',
    ].join('\n'),
  )

const acme = {
  email: 'ada@example.com',
  name: 'ACME',
  licenses: 2,
  people: [
    'ada@example.com administrator',
    'bob@example.com member',
    'dana@example.com member',
    'emmy@example.com member',
  ],
}
const globex = {
  email: 'ada@example.com',
  name: 'Globex',
  licenses: 1,
  people: ['ada@example.com administrator'],
}
const ada = { email: 'ada@example.com', name: null, licenses: 1 }

/** The events about customers of a vendor, by their types. */
async function eventsOf({ tenantId }: Vendor): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const entry of await readLog(imports.api.ledger.ports.ledger)) {
    if (!entry.readable || entry.category !== 'customer') continue
    if (!('tenantId' in entry.event.data) || entry.event.data.tenantId !== tenantId) continue
    counts[entry.event.type] = (counts[entry.event.type] ?? 0) + 1
  }
  return counts
}

test('a dry run tells what a run makes, and makes nothing', async () => {
  const vendor = await imports.vendor()
  const dry = await imports.run(vendor, 'csv', csv())
  expect(await customersOf(imports, vendor)).toStrictEqual([])
  const wet = await imports.run(vendor, 'csv', csv(), { apply: true })
  expect(wet.tally).toStrictEqual(dry.tally)
  expect(wet.report).toStrictEqual(dry.report)
  expect(wet.tally).toMatchObject({
    imported: 4,
    notes: [],
    organizations: { imported: 2, alreadyThere: 0, leftOut: 0, people: 5, reasons: [], notes: [] },
  })
})

test('licenses of an organization belong to it, and those of its people do not', async () => {
  const vendor = await imports.vendor()
  await imports.run(vendor, 'csv', csv(), { apply: true })
  expect(withoutIds(await customersOf(imports, vendor))).toStrictEqual([acme, globex, ada])
  const licenses = [{ licenseKey: 'NEW-5555', email: 'Ada@example.com' }]
  const body = { productId: 'editor', licenses }
  await imports.api.ask('POST', '/v1/licenses/import', { token: vendor.token, body })
  expect(withoutIds(await customersOf(imports, vendor))).toStrictEqual([
    acme,
    globex,
    { ...ada, licenses: 2 },
  ])
})

test('nobody is invited', async () => {
  const vendor = await imports.vendor()
  await imports.run(vendor, 'csv', csv(), { apply: true })
  expect(await eventsOf(vendor)).toStrictEqual({ CustomerCreated: 3, PersonAdded: 5 })
})

test('people who were removed, and organizations that were dissolved, stay so when the import is repeated', async () => {
  const vendor = await imports.vendor()
  const { token } = vendor
  await imports.run(vendor, 'csv', csv(), { apply: true })
  const [first, second] = await customersOf(imports, vendor)
  const { body } = await imports.api.ask('GET', `/v1/customers/${first?.id}/people`, { token })
  const { items } = body as { items: { id: string; email: string }[] }
  const bob = items.find(({ email }) => email === 'bob@example.com')
  const removed = await imports.api.ask('DELETE', `/v1/customers/${first?.id}/people/${bob?.id}`, { token })
  expect(removed.status).toBeLessThan(300)
  const gone = await imports.api.ask('DELETE', `/v1/customers/${second?.id}/organization`, { token })
  expect(gone.status).toBeLessThan(300)
  const events = await eventsOf(vendor)
  const { tally } = await imports.run(vendor, 'csv', csv(), { apply: true })
  expect(tally).toMatchObject({ imported: 0, organizations: { imported: 0, alreadyThere: 2, people: 0 } })
  expect(await eventsOf(vendor)).toStrictEqual(events)
})

test('an organization that was erased does not come back, and its new licenses belong to their holders', async () => {
  const vendor = await imports.vendor()
  await imports.run(vendor, 'csv', csv(), { apply: true })
  const [first] = await customersOf(imports, vendor)
  await askApproveRepeat(imports.api, vendor, 'DELETE', `/v1/customers/${first?.id}`)
  const events = await eventsOf(vendor)
  const path = imports.exported(
    'licenseKey,email,organization,administrators\nOLD-6666,zoe@example.com,ACME,ada@example.com\n',
  )
  const { tally } = await imports.run(vendor, 'csv', path, { apply: true })
  expect(tally).toMatchObject({
    imported: 1,
    notes: [{ text: 'Its organization is left out; it belongs to its holder, if it has one.' }],
    organizations: { leftOut: 1, reasons: [{ text: 'It was imported before, and erased here since.' }] },
  })
  expect(await eventsOf(vendor)).toStrictEqual({
    ...events,
    CustomerCreated: (events.CustomerCreated ?? 0) + 1,
  })
  const zoe = (await customersOf(imports, vendor)).find(({ email }) => email === 'zoe@example.com')
  expect(zoe).toMatchObject({ licenses: 1 })
})

test('the same organization of another workspace is another one', async () => {
  const one = await imports.vendor()
  const other = await imports.vendor()
  await imports.run(one, 'csv', csv(), { apply: true })
  const { tally } = await imports.run(other, 'csv', csv(), { apply: true })
  expect(tally).toMatchObject({ imported: 4, organizations: { imported: 2, people: 5 } })
  const ids = (await customersOf(imports, one)).map(({ id }) => id)
  expect((await customersOf(imports, other)).filter(({ id }) => ids.includes(id))).toStrictEqual([])
})

test('an organization that the operator names is the customer that is there, and keeps its people', async () => {
  const vendor = await imports.vendor()
  const { token } = vendor
  const made = await imports.api.ask('POST', '/v1/customers', {
    token,
    body: { email: 'office@acme.example' },
  })
  const { id } = (made.body as { customer: { id: string } }).customer
  await imports.api.ask('POST', `/v1/customers/${id}/organization`, { token, body: {} })
  const options = { apply: true, organizations: { ACME: id } }
  const { tally } = await imports.run(vendor, 'csv', csv(), options)
  expect(tally.organizations).toMatchObject({ imported: 1, alreadyThere: 1, people: 1 })
  expect(withoutIds(await customersOf(imports, vendor))).toStrictEqual([
    globex,
    ada,
    { email: 'office@acme.example', name: null, licenses: 2, people: ['office@acme.example administrator'] },
  ])
})

test.each(['before', 'after'] as const)(
  'an import that is killed %s each write loses and doubles nothing',
  async (when) => {
    const vendor = await imports.vendor()
    const path = csv()
    let kills = 0
    for (;;) {
      const ports = mortal(imports.api.ledger.ports, kills + 1, when)
      const ended = await imports
        .run(vendor, 'csv', path, { apply: true, ports })
        .catch((error: unknown) => error)
      if (!(ended instanceof Killed)) {
        expect(ended).toMatchObject({ tally: { leftOut: 0, organizations: { leftOut: 0 } } })
        break
      }
      kills++
    }
    expect(kills).toBeGreaterThan(5)
    expect(withoutIds(await customersOf(imports, vendor))).toStrictEqual([acme, globex, ada])
    expect(await eventsOf(vendor)).toStrictEqual({ CustomerCreated: 3, PersonAdded: 5 })
  },
)

describe('an organization', () => {
  test('without an administrator is left out, and its licenses belong to their holders', async () => {
    const vendor = await imports.vendor()
    const path = imports.exported(
      'licenseKey,email,organization,members\nOLD-1111,ada@example.com,ACME,bob@example.com nobody\n',
    )
    const { tally, report } = await imports.run(vendor, 'csv', path, { apply: true })
    expect(tally.organizations).toMatchObject({ imported: 0, leftOut: 1 })
    expect(report.map(({ externalId, outcome, reason }) => [externalId, outcome, reason])).toStrictEqual([
      ['ACME', 'left_out', 'It has no administrator with an email address.'],
      [null, 'taken_in_part', 'Its organization is left out; it belongs to its holder, if it has one.'],
    ])
    expect(withoutIds(await customersOf(imports, vendor))).toStrictEqual([ada])
  })

  test('of a product that is not imported is left out', async () => {
    const vendor = await imports.vendor()
    const path = imports.exported(
      'licenseKey,product,organization,administrators\nOLD-1111,one,ACME,ada@example.com\nOLD-2222,two,Globex,ada@example.com\n',
    )
    const { tally } = await imports.run(vendor, 'csv', path, { apply: true, products: { one: 'editor' } })
    expect(tally.organizations).toMatchObject({
      imported: 1,
      leftOut: 1,
      reasons: [{ text: 'None of its licenses is imported, so it is not either.', organizations: 1 }],
    })
  })

  test('has as many people as fit', async () => {
    const vendor = await imports.vendor()
    const members = Array.from({ length: 1200 }, (_, index) => `${'x'.repeat(50)}${index}@example.com`)
    const path = imports.exported(
      `licenseKey,organization,administrators,members\nOLD-1111,ACME,ada@example.com,${members.join(' ')}\n`,
    )
    const { tally } = await imports.run(vendor, 'csv', path, { apply: true })
    expect(tally.organizations).toMatchObject({
      imported: 1,
      people: 999,
      notes: [{ text: '202 of its 1201 people are left out: 999 fit.' }],
    })
    expect(await eventsOf(vendor)).toStrictEqual({ CustomerCreated: 2, PersonAdded: 999 })
  })
})

test('groups of Keygen, and licenses with users, become organizations of exactly these people', async () => {
  const vendor = await imports.vendor()
  const dry = await imports.run(vendor, 'keygen', recorded('keygen-groups'))
  const { tally, report } = await imports.run(vendor, 'keygen', recorded('keygen-groups'), { apply: true })
  expect(dry.tally).toStrictEqual(tally)
  expect(withoutIds(await customersOf(imports, vendor))).toStrictEqual([
    {
      ...{ email: 'ada@example.com', name: 'ACME Co.', licenses: 2 },
      people: ['ada@example.com administrator', 'bob@example.com member'],
    },
    { ...ada, name: 'Ada Lovelace' },
    {
      ...{ email: 'dana@example.com', name: 'Studio', licenses: 1 },
      people: ['dana@example.com administrator', 'emmy@example.com member'],
    },
    { email: 'dana@example.com', name: 'Dana Scott', licenses: 0 },
  ])
  expect(report.map(({ from, outcome, reason }) => [from, outcome, reason])).toStrictEqual([
    ['groups.json#3', 'left_out', 'None of its licenses is imported, so it is not either.'],
    ['groups.json#2', 'left_out', 'It has no administrator with an email address.'],
    ['groups.json#1', 'taken_in_part', 'Its limit of 10 users is left out: organizations have no limits.'],
    ['groups.json#1', 'taken_in_part', 'Its limit of 15 machines is left out: organizations have no limits.'],
    ['groups.json#1', 'taken_in_part', '1 of its people are left out: they are banned there.'],
    ['licenses.json#2', 'taken_in_part', '1 of its users are left out: they are not in its group.'],
    [
      'licenses.json#5',
      'taken_in_part',
      'Its organization is left out; it belongs to its holder, if it has one.',
    ],
  ])
})

test('organizations of Cryptlex come with their users, and with what a customer keeps', async () => {
  const vendor = await imports.vendor()
  const dry = await imports.run(vendor, 'cryptlex', recorded('cryptlex-organizations'))
  const { tally, report } = await imports.run(vendor, 'cryptlex', recorded('cryptlex-organizations'), {
    apply: true,
  })
  expect(dry.tally).toStrictEqual(tally)
  expect(tally).toMatchObject({ imported: 6, organizations: { imported: 2, people: 3, leftOut: 2 } })
  expect(withoutIds(await customersOf(imports, vendor))).toStrictEqual([
    { ...globex, name: 'Globex' },
    ada,
    {
      ...{ email: 'billing@acme.example', name: 'ACME', licenses: 2 },
      people: ['ada@example.com administrator', 'bob@example.com member'],
    },
    { email: 'zoe@example.com', name: 'Zoe Hill', licenses: 1 },
  ])
  expect(report.map(({ from, outcome, reason }) => [from, outcome, reason])).toStrictEqual([
    ['organizations.json#4', 'left_out', 'None of its licenses is imported, so it is not either.'],
    ['organizations.json#3', 'left_out', 'It has no administrator with an email address.'],
    [
      'organizations.json#1',
      'taken_in_part',
      'Its allowedUsers of 25 is left out: organizations have no limits.',
    ],
    [
      'organizations.json#1',
      'taken_in_part',
      '1 of its people may not use the portal there; here all people of an organization may.',
    ],
    ['organizations.json#2', 'taken_in_part', 'Its fields are left out: description.'],
    [
      'organizations.json#2',
      'taken_in_part',
      'It has no administrator there, so its own address is one here.',
    ],
    [
      'licenses.json#4',
      'taken_in_part',
      'Its organization is left out; it belongs to its holder, if it has one.',
    ],
  ])
})

test('a customer who has the address of an organization stays another one, and the report says which', async () => {
  const vendor = await imports.vendor()
  const body = { email: 'billing@acme.example' }
  const made = await imports.api.ask('POST', '/v1/customers', { token: vendor.token, body })
  const { id } = (made.body as { customer: { id: string } }).customer
  const path = recorded('cryptlex-organizations')
  const dry = await imports.run(vendor, 'cryptlex', path)
  const { report } = await imports.run(vendor, 'cryptlex', path, { apply: true })
  expect(report).toStrictEqual(dry.report)
  expect(report).toContainEqual(
    expect.objectContaining({ reason: `The customer ${id} has its address, and stays another customer.` }),
  )
  const found = (await customersOf(imports, vendor)).filter(({ email }) => email === body.email)
  expect(found.map(({ id: own, licenses }) => [own === id, licenses])).toStrictEqual([
    [false, 2],
    [true, 0],
  ])
})

test('buyers of Lemon Squeezy are customers with their present name and address', async () => {
  const vendor = await imports.vendor()
  await imports.run(vendor, 'lemonsqueezy', recorded('lemonsqueezy'), { apply: true })
  expect(withoutIds(await customersOf(imports, vendor))).toStrictEqual([
    { email: 'ada@king.example', name: 'Ada King', licenses: 4 },
  ])
})

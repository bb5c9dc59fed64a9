/**
 * Guarantee: customers are created, read and listed only by their tenant; a license is linked to one of them
 * at a time, and their overrides are replaced as a whole. Email and name are never stored in plaintext.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createKeyedMutex } from '../../../src/async/keyed-mutex.ts'
import { linkLicense, requireCustomer } from '../../../src/commands/customers/customers.ts'
import { eraseSubject } from '../../../src/commands/customers/erasure.ts'
import { newId } from '../../../src/credentials/id.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { customerStream, licenseStream } from '../../../src/domain/streams.ts'
import { eraseCustomer } from '../../../src/gate/operations/erase-customer.ts'
import { createExecute } from '../../../src/ledger/execute.ts'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, eventsIn, origin } from '../../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(beginning))

const asks = async (method: Method, url: string, sent?: unknown, token = tenant.token) => {
  const { status, body } = await api.ask(method, url, { token, body: sent })
  return { status, body }
}
const Shown = z.object({ customer: z.looseObject({ id: z.string() }) })
const create = (fields: Record<string, unknown> = {}, token = tenant.token) =>
  makeCustomer(api.ask, token, fields)
const link = (id: string, licenseId: string, token = tenant.token) =>
  asks('POST', `/v1/customers/${id}/link-license`, { licenseId }, token)
const override = (id: string, overrides: unknown[]) =>
  asks('PATCH', `/v1/customers/${id}/entitlements`, { overrides })
const error = (status: number, message: string) => ({ status, body: { error: message } })

const ada = {
  id: expect.stringMatching(/^cus_[0-9a-hjkmnp-tv-z]{26}$/) as string,
  email: 'ada@example.com',
  name: null,
  metadata: {},
  licenseIds: [],
  entitlementOverrides: [],
  createdAt: beginning,
  erasedAt: null,
}

describe('a customer', () => {
  test('is created from an email address alone, with defaults for the other fields', async () => {
    expect(await asks('POST', '/v1/customers', { email: 'ada@example.com' })).toStrictEqual({
      status: 201,
      body: { customer: ada },
    })
  })

  test('is created with all fields and read back unchanged', async () => {
    const asked = { email: 'Grace@Example.com', name: 'Grace Hopper', metadata: { crm: '4711' } }
    const { status, body } = await asks('POST', '/v1/customers', asked)
    expect({ status, body }).toStrictEqual({ status: 201, body: { customer: { ...ada, ...asked } } })
    expect(await asks('GET', `/v1/customers/${Shown.parse(body).customer.id}`)).toStrictEqual({
      status: 200,
      body,
    })
  })

  test('can have the email address of another customer', async () => {
    expect(await create()).not.toBe(await create())
  })

  test('has no personal data in the log or the read models', async () => {
    const id = await create({ email: 'canary@example.com', name: 'Canary Person' })
    const events = await eventsIn(api.ledger.ports.ledger, customerStream(id))
    const { rows } = await api.ledger.db.query('select * from customers where customer_id = $1', [id])
    const kept = JSON.stringify([events, rows], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(kept).toContain('sealed.1.')
    expect(kept.toLowerCase()).not.toContain('canary')
  })

  test('remains without email address and name after an erasure', async () => {
    const id = await create({ email: 'erased@example.com', name: 'Gone' })
    const { rows } = await api.ledger.db.query<{ subject: string }>(
      `select state ->> 'subjectId' as subject from customers where customer_id = $1`,
      [id],
    )
    await api.ledger.db.query('delete from vault.subject_keys where subject_id = $1', [rows[0]?.subject])
    const { body } = await asks('GET', `/v1/customers/${id}`)
    expect(body).toStrictEqual({ customer: { ...ada, id, email: null } })
  })

  test.each<[unknown, RegExp]>([
    [{}, /^email (?:must|is) /],
    [{ email: 'nobody' }, /^email (?:must|is) /],
    [{ email: 'ada@example.com', name: '' }, /^name (?:must|is) /],
    [{ email: 'ada@example.com', name: 'a\0b' }, /^name must be well-formed/],
    [{ email: 'ada@example.com', metadata: { a: 1 } }, /^metadata\.a must be a string/],
    [{ email: 'ada@example.com', licenseIds: [] }, /^unknown field /],
  ])('is not created from %j (400)', async (sent, message) => {
    const { status, body } = await asks('POST', '/v1/customers', sent)
    expect(status).toBe(400)
    expect(z.object({ error: z.string() }).parse(body).error).toMatch(message)
  })

  test.each(['cus_00000000000000000000000000', 'cus_absent', 'lic_00000000000000000000000000', '%00', 'ü'])(
    'is not found by the id %s',
    async (id) => {
      const none = error(404, 'customer not found')
      expect(await asks('GET', `/v1/customers/${id}`)).toStrictEqual(none)
      expect(await link(id, 'lic_00000000000000000000000000')).toStrictEqual(none)
      expect(await override(id, [])).toStrictEqual(none)
      expect(await asks('PATCH', `/v1/customers/${id}`, { name: 'Ada' })).toStrictEqual(none)
      const unlinked = asks('POST', `/v1/customers/${id}/unlink-license`, { licenseId: 'lic_absent' })
      expect(await unlinked).toStrictEqual(none)
      for (const list of ['licenses', 'sales'])
        expect(await asks('GET', `/v1/customers/${id}/${list}`)).toStrictEqual(none)
    },
  )
})

describe('changing a customer', () => {
  const change = (id: string, sent: unknown) => asks('PATCH', `/v1/customers/${id}`, sent)

  test('keeps omitted fields, removes a null name, and records a repeated change once', async () => {
    const id = await create({ name: 'Ada', metadata: { crm: '1' } })
    const before = { ...ada, id, name: 'Ada', metadata: { crm: '1' } }
    expect(await change(id, {})).toStrictEqual({ status: 200, body: { customer: before } })
    const after = { ...before, email: 'countess@example.com', name: null, metadata: {} }
    const asked = { email: 'countess@example.com', name: null, metadata: {} }
    for (let time = 0; time < 2; time++)
      expect(await change(id, asked)).toStrictEqual({ status: 200, body: { customer: after } })
    expect(await asks('GET', `/v1/customers/${id}`)).toStrictEqual({ status: 200, body: { customer: after } })
    expect(await eventsIn(api.ledger.ports.ledger, customerStream(id))).toHaveLength(2)
  })

  test.each([{ email: 'nobody' }, { email: null }, { name: '' }, { licenseIds: [] }])(
    'returns 400 for %j',
    async (sent) => expect(await change(await create(), sent)).toMatchObject({ status: 400 }),
  )

  test('is refused when the person was erased', async () => {
    const id = await create({ email: 'soon-gone@example.com' })
    const { subjectId } = (await requireCustomer(api.ledger.ports, tenant.tenantId, id)).customer
    await eraseSubject(api.ledger.ports, tenant.tenantId, subjectId, origin)
    expect(await change(id, { email: 'back@example.com' })).toStrictEqual(
      error(409, 'the person behind this customer was erased; create another customer'),
    )
  })

  test('keeps previous email addresses within the scope of an erasure', async () => {
    const { ports } = api.ledger
    const id = await create({ email: 'first@example.com', name: 'Before' })
    await change(id, { email: 'second@example.com' })
    const { customer } = await requireCustomer(ports, tenant.tenantId, id)
    const input = { parameters: { id }, query: {}, body: null }
    const { details } = await eraseCustomer.describe(ports, tenant.tenantId, input)
    expect(details).toStrictEqual([['Earlier addresses, erased too', '1']])
    await eraseCustomer.run(ports, tenant.tenantId, input, { id: newId('cnf'), origin })
    for (const email of ['first@example.com', 'second@example.com'])
      expect(await ports.subjects.findSubject(tenant.tenantId, email)).toBeUndefined()
    expect(customer.formerSubjects).toHaveLength(1)
  })
})

describe('the list of customers', () => {
  test('pages newest first, each customer once', async () => {
    const own = await makeTenant(api.ledger)
    const made: string[] = []
    for (let n = 0; n < 7; n++) {
      if (n % 3 === 0) api.ledger.clock.advance(1000)
      made.push(await create({ email: `c${n}@example.com` }, own.token))
    }
    const Page = z.strictObject({
      items: z.array(z.looseObject({ id: z.string(), email: z.string() })),
      nextCursor: z.string().nullable(),
    })
    const seen: { id: string; email: string }[] = []
    let query = '?limit=3'
    for (;;) {
      const page = Page.parse((await asks('GET', `/v1/customers${query}`, undefined, own.token)).body)
      seen.push(...page.items)
      if (page.nextCursor === null) break
      query = `?limit=3&cursor=${page.nextCursor}`
    }
    expect(seen.map(({ id }) => id)).toStrictEqual([...made].reverse())
    expect(seen.map(({ email }) => email)).toStrictEqual(
      made.map((_, index) => `c${index}@example.com`).reverse(),
    )
    const foreign = await asks('GET', `/v1/customers${query}`)
    expect(foreign).toStrictEqual(
      error(400, 'this cursor does not belong to this list; start again without it'),
    )
  })
})

describe('linking a license', () => {
  test('shows the link on both; a second call changes nothing', async () => {
    const id = await create()
    const first = await mint(api.ask, tenant.token, 'editor')
    api.ledger.clock.advance(1000)
    const second = await mint(api.ask, tenant.token, 'editor')
    expect(await link(id, first.id)).toMatchObject({
      status: 200,
      body: { customer: { id, licenseIds: [first.id] } },
    })
    const both = { ...ada, id, licenseIds: [second.id, first.id] }
    expect(await link(id, second.id)).toStrictEqual({ status: 200, body: { customer: both } })
    expect(await link(id, first.id)).toStrictEqual({ status: 200, body: { customer: both } })
    expect(await eventsIn(api.ledger.ports.ledger, licenseStream(first.id))).toHaveLength(2)
    const { body } = await asks('GET', `/v1/licenses/${first.id}`)
    expect(body).toMatchObject({ license: { customerId: id } })
  })

  test('is refused when it belongs to another customer', async () => {
    const [owner, other] = [await create(), await create()]
    const { id: licenseId } = await mint(api.ask, tenant.token, 'editor', { customerId: owner })
    expect(await link(other, licenseId)).toStrictEqual(error(409, 'the license belongs to another customer'))
    expect(await asks('GET', `/v1/customers/${owner}`)).toMatchObject({
      body: { customer: { licenseIds: [licenseId] } },
    })
    expect(await asks('GET', `/v1/customers/${other}`)).toMatchObject({
      body: { customer: { licenseIds: [] } },
    })
  })

  test.each(['lic_00000000000000000000000000', 'lic_absent', 'cus_00000000000000000000000000', ' '])(
    'returns 404 when the license does not exist (%s)',
    async (licenseId) =>
      expect(await link(await create(), licenseId)).toStrictEqual(error(404, 'license not found')),
  )

  test.each([{}, { licenseId: '' }, { licenseId: 'a\0' }, { licenseId: 1 }, { licenseId: 'a', more: 1 }])(
    'returns 400 for %j',
    async (sent) =>
      expect(await asks('POST', `/v1/customers/${await create()}/link-license`, sent)).toMatchObject({
        status: 400,
      }),
  )

  test('succeeds for one of several concurrent customers, also across processes', async () => {
    const { ports, readModels } = api.ledger
    for (let round = 0; round < 10; round++) {
      const { id: licenseId } = await mint(api.ask, tenant.token, 'editor')
      const customers = await Promise.all([create(), create(), create(), create()])
      // Separate mutexes, as in separate processes, so that only the expected revision decides between them.
      const racers = customers.map((customerId) => {
        const execute = createExecute(ports.ledger, readModels, createKeyedMutex())
        return linkLicense({ ...ports, execute }, tenant.tenantId, customerId, licenseId, origin).then(
          () => 'linked',
          (refused: unknown) =>
            refused instanceof Refusal ? refused.code : Promise.reject(refused as Error),
        )
      })
      const outcomes = await Promise.all(racers)
      expect(outcomes.toSorted()).toStrictEqual([
        'license_of_another_customer',
        'license_of_another_customer',
        'license_of_another_customer',
        'linked',
      ])
      const winner = customers[outcomes.indexOf('linked')]
      const { body } = await asks('GET', `/v1/licenses/${licenseId}`)
      expect(body).toMatchObject({ license: { customerId: winner } })
    }
  })
})

describe('unlinking a license', () => {
  const unlink = (id: string, licenseId: string) =>
    asks('POST', `/v1/customers/${id}/unlink-license`, { licenseId })

  test('removes the overrides from the next validate; a second call changes nothing', async () => {
    const id = await create()
    await override(id, [{ entitlement: 'beta', effect: 'grant' }])
    const { id: licenseId, licenseKey } = await mint(api.ask, tenant.token, 'editor', { customerId: id })
    const sent = { product_id: 'editor', license_key: licenseKey }
    const validate = () => asks('POST', '/v1/licenses/validate', sent)
    expect(await validate()).toMatchObject({ body: { entitlements: ['beta'] } })
    for (let time = 0; time < 2; time++)
      expect(await unlink(id, licenseId)).toMatchObject({
        status: 200,
        body: { customer: { licenseIds: [] } },
      })
    expect(await validate()).toMatchObject({ body: { valid: true, entitlements: [] } })
    expect(await eventsIn(api.ledger.ports.ledger, licenseStream(licenseId))).toHaveLength(2)
    const other = await create()
    expect(await link(other, licenseId)).toMatchObject({ status: 200 })
    expect(await unlink(id, licenseId)).toStrictEqual(error(409, 'the license belongs to another customer'))
  })
})

test('the licenses of a customer are listed in pages, without those of other customers', async () => {
  const id = await create()
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    api.ledger.clock.advance(1000)
    ids.unshift((await mint(api.ask, tenant.token, 'editor', { customerId: id })).id)
  }
  await mint(api.ask, tenant.token, 'editor', { customerId: await create() })
  const Page = z.object({
    items: z.array(z.looseObject({ id: z.string() })),
    nextCursor: z.string().nullable(),
  })
  const read = async (query: string) =>
    Page.parse((await asks('GET', `/v1/customers/${id}/licenses${query}`)).body)
  const first = await read('?limit=2')
  const rest = await read(`?limit=2&cursor=${first.nextCursor}`)
  expect([...first.items, ...rest.items].map((license) => license.id)).toStrictEqual(ids)
  expect(rest.nextCursor).toBeNull()
  expect(await asks('GET', `/v1/customers/${id}/sales`)).toStrictEqual({
    status: 200,
    body: { items: [], nextCursor: null },
  })
})

describe('entitlement overrides', () => {
  test('are replaced as a whole, with times in whole seconds and UTC', async () => {
    const id = await create()
    const first = [{ entitlement: 'export', effect: 'grant', reason: 'a trial' }]
    expect(await override(id, first)).toStrictEqual({
      status: 200,
      body: { customer: { ...ada, id, entitlementOverrides: first } },
    })
    const second = [
      {
        entitlement: 'sync',
        effect: 'revoke',
        productId: 'editor',
        expiresAt: '2026-05-01T02:00:00.9+02:00',
      },
      { entitlement: 'a.b:c-d_e', effect: 'grant' },
    ]
    const kept = [{ ...second[0], expiresAt: '2026-05-01T00:00:00.000Z' }, second[1]]
    expect(await override(id, second)).toMatchObject({ body: { customer: { entitlementOverrides: kept } } })
    expect(await asks('GET', `/v1/customers/${id}`)).toStrictEqual({
      status: 200,
      body: { customer: { ...ada, id, entitlementOverrides: kept } },
    })
    expect(await override(id, [])).toStrictEqual({ status: 200, body: { customer: { ...ada, id } } })
  })

  test('are not recorded again when they are unchanged', async () => {
    const id = await create()
    const list = [{ entitlement: 'export', effect: 'grant' }]
    await override(id, list)
    await override(id, list)
    expect(await eventsIn(api.ledger.ports.ledger, customerStream(id))).toHaveLength(2)
  })

  test('are limited to 100', async () => {
    const id = await create()
    const many = Array.from({ length: 101 }, (_, n) => ({ entitlement: `e${n}`, effect: 'grant' }))
    expect(await override(id, many)).toMatchObject({ status: 400 })
    expect(await override(id, many.slice(1))).toMatchObject({ status: 200 })
  })

  test('for an unknown product return 404 and change nothing', async () => {
    const id = await create()
    const list = [
      { entitlement: 'export', effect: 'grant' },
      { entitlement: 'export', effect: 'grant', productId: 'absent' },
    ]
    expect(await override(id, list)).toStrictEqual(error(404, 'product not found'))
    expect(await asks('GET', `/v1/customers/${id}`)).toStrictEqual({
      status: 200,
      body: { customer: { ...ada, id } },
    })
  })

  test.each([
    [{}],
    [{ overrides: {} }],
    [{ overrides: [{ entitlement: 'Export', effect: 'grant' }] }],
    [{ overrides: [{ entitlement: 'export', effect: 'allow' }] }],
    [{ overrides: [{ entitlement: 'export', effect: 'grant', expiresAt: '2026-02-30T00:00:00Z' }] }],
    [{ overrides: [{ entitlement: 'export', effect: 'grant', reason: '' }] }],
    [{ overrides: [{ entitlement: 'export', effect: 'grant', until: 'x' }] }],
    [{ overrides: [], mode: 'append' }],
  ])('return 400 for %j', async (sent) =>
    expect(await asks('PATCH', `/v1/customers/${await create()}/entitlements`, sent)).toMatchObject({
      status: 400,
    }),
  )
})

test('a license can be minted only for a customer of the tenant', async () => {
  const id = await create()
  const other = await makeTenant(api.ledger)
  const stranger = await create({}, other.token)
  const sent = (customerId: string) => asks('POST', '/v1/licenses', { productId: 'editor', customerId })
  expect(await sent(id)).toMatchObject({ status: 201, body: { license: { customerId: id } } })
  for (const absent of [stranger, 'cus_00000000000000000000000000', 'cus_absent']) {
    expect(await sent(absent)).toStrictEqual(error(404, 'customer not found'))
  }
})

/**
 * Guarantee: after an erasure, the person's data is unreadable in every event, table, sealed value, stored
 * response, mail, file and published job. Licenses and histories stay complete, a rebuild changes nothing, a killed
 * erasure is resumed, and the same person can come back as a new one.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { rebuild } from '../../projections/runner/rebuild.ts'
import { verify } from '../../projections/runner/verify.ts'
import { listErasures } from '../../projections/subjects.ts'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { addMember } from '../../src/commands/members/members.ts'
import { createMailChannel } from '../../src/mail/channel.ts'
import { createMailing } from '../../src/mail/mailing.ts'
import { resumeErasures } from '../../src/reactions/erasures.ts'
import { open, unwrapKey } from '../../src/vault/seal.ts'
import { createLocalFeed } from '../../src/webhooks/local-feed.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { startDispatch, type TestDispatch } from '../harness/dispatch.ts'
import { askApproveRepeat, pendingId } from '../harness/gate.ts'
import { eventsIn, noProgress, origin } from '../harness/ledger.ts'
import { makeCustomer, mint } from '../http/samples.ts'
import { Killed, mortal } from '../sales/mortal.ts'
import { month, purchase } from '../sales/notifications.ts'
import { openShop, type Shop } from '../sales/shop.ts'

const mailDirectory = mkdtempSync(join(tmpdir(), 'keyledger-erasure-'))
const jobs: string[] = []

let api: TestApi
let shop: Shop
let dispatch: TestDispatch
beforeAll(async () => {
  const from = { name: null, email: 'licenses@keyledger.example' }
  api = await openTestApi({ mailing: createMailing({ smtpUrl: undefined, from }, mailDirectory) })
  shop = await openShop(api)
  const feed = createLocalFeed({ pauseMs: 50 })
  dispatch = await startDispatch(api.ledger, {
    channels: { mail: createMailChannel(api.ledger.ports, 'https://keys.acme.example') },
    feed: {
      ...feed,
      publish(published) {
        jobs.push(JSON.stringify(published))
        return feed.publish(published)
      },
    },
  })
})
afterAll(async () => {
  await dispatch.stop()
  await api.close()
  rmSync(mailDirectory, { recursive: true, force: true })
})

const Id = z.looseObject({ id: z.string() })

/** Creates everything that a person can leave with a tenant. */
async function plant(email: string, name: string) {
  const { token } = shop
  const key = { 'idempotency-key': email }
  const { ask, ledger } = api
  const customer = await makeCustomer(ask, token, { email, name, metadata: { phone: email } })
  const reason = `${name} asked for it`
  const overrides = [{ entitlement: 'beta', effect: 'grant', reason }]
  const explained = await ask('PATCH', `/v1/customers/${customer}/entitlements`, {
    token,
    body: { overrides },
  })
  expect(explained.body).toMatchObject({ customer: { entitlementOverrides: overrides } })
  const keyed = await ask('POST', '/v1/licenses', {
    token,
    headers: key,
    body: { productId: 'editor', email, name, customerId: customer },
  })
  const { license } = z.object({ license: Id }).parse(keyed.body)
  const plain = await mint(ask, token, 'editor', { email, name })
  const body = { product_id: 'editor', license_key: plain.licenseKey, device_id: 'laptop' }
  await ask('POST', '/v1/licenses/activate', { token, body })
  // Refused on a device that is named after the person.
  await ask('POST', '/v1/licenses/validate', { token, body: { ...body, device_id: `laptop of ${name}` } })
  await ledger.ports.refusals.flush()
  const of = purchase(email.replaceAll(/\W/g, ''), { customer: { email, name } })
  await shop.tell(of.sold())
  const renewal = of.renewed('in_1', month.second)
  await shop.tell(renewal)
  // Requested, but not decided yet.
  pendingId(await ask('POST', `/v1/licenses/${license.id}/revoke`, { token }))
  const sale = (await shop.sales()).find(({ saleId }) => saleId === of.sold().saleId)
  if (!sale) throw new Error('the sale was not received')
  await expect.poll(() => readdirSync(join(mailDirectory, 'mailbox', shop.tenantId))).not.toHaveLength(0)
  const subjectId = (await ledger.ports.subjects.findSubject(shop.tenantId, email)) ?? ''
  return { customer, licenseIds: [license.id, plain.id, sale.licenseId], sale, of, subjectId }
}

/** All readable text: rows, events, jobs, files, and everything that the master key opens. */
async function everything(): Promise<string[]> {
  const { db, ports } = api.ledger
  const tables = await db.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  )
  const texts: string[] = [...jobs]
  for (const { name } of tables.rows) {
    const { rows } = await db.query<{ row: string }>(`select to_json(t)::text as row from ${name} t`)
    texts.push(...rows.map(({ row }) => row))
  }
  const { entries } = await ports.ledger.readPage(undefined, 10_000)
  texts.push(...entries.map((entry) => JSON.stringify({ ...entry, position: undefined })))
  const secrets = await db.query<{ name: string }>('select name from vault.secrets where tenant_id = $1', [
    shop.tenantId,
  ])
  for (const { name } of secrets.rows) texts.push((await ports.secrets.open(shop.tenantId, name)) ?? '')
  texts.push(...(await keptAnswers()))
  for (const file of readdirSync(mailDirectory, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) texts.push(readFileSync(join(file.parentPath, file.name), 'utf8'))
  }
  return texts
}

/** The responses stored for Idempotency-Keys, opened with the master key. */
async function keptAnswers(): Promise<string[]> {
  const { db, masterKey } = api.ledger
  const { rows } = await db.query<{ key_hash: Buffer; tenant_id: string; wrapped: Buffer; reply: Buffer }>(
    'select key_hash, tenant_id, wrapped, reply from vault.idempotency where reply is not null',
  )
  return rows.map(({ key_hash: keyHash, tenant_id: tenantId, wrapped, reply }) => {
    const partOf = (part: string) => [tenantId, keyHash.toString('hex'), `idempotency ${part}`]
    const key = unwrapKey(masterKey.wrapping, partOf('key'), wrapped)
    return open(key, partOf('reply'), reply).toString()
  })
}

/** The forms in which text may be written without being sealed. */
const forms = (text: string): string[] => [
  text,
  Buffer.from(text).toString('hex'),
  Buffer.from(text).toString('base64url').slice(0, -2),
  encodeURIComponent(text),
]

async function tracesOf(...texts: string[]): Promise<string[]> {
  const found = await everything()
  expect(found.length).toBeGreaterThan(50)
  return found.filter((text) => texts.flatMap(forms).some((form) => text.includes(form)))
}

const asks = (method: 'GET' | 'POST', url: string) => api.ask(method, url, { token: shop.token })

describe('a person with data everywhere', () => {
  const email = 'ada.canary@canary-mail.example'
  const name = 'Ada Canaryholder'

  test('leaves no readable data after the erasure of their customer; their licenses still work', async () => {
    const { customer, licenseIds, sale, subjectId } = await plant(email, name)
    expect((await tracesOf(email, name)).length).toBeGreaterThan(2)
    expect((await keptAnswers()).filter((text) => text.includes(email))).toHaveLength(1)
    const { body } = await askApproveRepeat(api, shop, 'DELETE', `/v1/customers/${customer}`)
    const erasedAt = api.ledger.clock.now().toISOString()
    expect(body).toMatchObject({ customer: { id: customer, email: null, name: null, erasedAt } })
    // The override itself stays, since licenses depend on it.
    const entitlementOverrides = [{ entitlement: 'beta', effect: 'grant' }]
    expect((await asks('GET', `/v1/customers/${customer}`)).body).toMatchObject({
      customer: { entitlementOverrides },
    })
    // Other text that a tenant writes stays in the log: see docs/concepts/erasure.md.
    const left = (await tracesOf(email, name)).map((text): unknown => JSON.parse(text))
    expect(left).toMatchObject([{ event: { type: 'CustomerCreated', data: { metadata: { phone: email } } } }])
    for (const id of licenseIds) {
      const read = await asks('GET', `/v1/licenses/${id}`)
      expect(read.body).toMatchObject({ license: { id, email: null, status: 'active' } })
      const events = await eventsIn(api.ledger.ports.ledger, `license-${id}`)
      expect(events.at(-1)).toMatchObject({ event: { type: 'HolderErased' } })
    }
    expect((await asks('GET', `/v1/sales/${sale.id}`)).status).toBe(200)
    expect(await eventsIn(api.ledger.ports.ledger, `subject-${shop.tenantId}.${subjectId}`)).toMatchObject([
      { event: { type: 'ErasureBegun' } },
      {
        event: {
          type: 'SubjectErased',
          data: { licenses: 3, customers: 1, sales: 1, notifications: 2, mails: 1 },
        },
      },
    ])
  })

  test('is not restored by a rebuild', async () => {
    await rebuild(api.ledger.db, api.ledger.ports.ledger, noProgress)
    const found = await verify(api.ledger.db, api.ledger.ports.ledger, () => undefined)
    expect(found.differences).toStrictEqual([])
    expect(await tracesOf(email, name)).toHaveLength(1)
  })

  test('is not named in the response to a repeated idempotent request, nor in its stored response', async () => {
    const { items } = z
      .object({ items: z.array(z.looseObject({ id: z.string(), customerId: z.string().nullable() })) })
      .parse((await asks('GET', '/v1/licenses?limit=100')).body)
    // The first of them.
    const linked = items.findLast(({ customerId }) => customerId !== null)
    const again = await api.ask('POST', '/v1/licenses', {
      token: shop.token,
      headers: { 'idempotency-key': email },
      body: { productId: 'editor', email, name, customerId: linked?.customerId },
    })
    expect(again).toMatchObject({ status: 201, body: { license: { id: linked?.id, email: null } } })
    expect(await tracesOf(email, name)).toHaveLength(1)
  })

  test('is not affected when a stored response is deleted: the repeated request mints no second license', async () => {
    const before = await asks('GET', '/v1/licenses?limit=100')
    const again = await api.ask('POST', '/v1/licenses', {
      token: shop.token,
      headers: { 'idempotency-key': 'bob.canary@canary-mail.example' },
      body: { productId: 'editor' },
    })
    const { license } = z.object({ license: Id }).parse(again.body)
    const { ports } = api.ledger
    expect(await ports.idempotency.forgetAnswersWith(shop.tenantId, [license.id])).toBe(1)
    const repeated = await api.ask('POST', '/v1/licenses', {
      token: shop.token,
      headers: { 'idempotency-key': 'bob.canary@canary-mail.example' },
      body: { productId: 'editor' },
    })
    expect(repeated.body).toStrictEqual(again.body)
    const Page = z.object({ items: z.array(z.unknown()) })
    const count = (body: unknown) => Page.parse(body).items.length
    expect(count((await asks('GET', '/v1/licenses?limit=100')).body)).toBe(count(before.body) + 1)
  })

  test('can return as a new person', async () => {
    const { ask } = api
    const customer = await makeCustomer(ask, shop.token, { email, name })
    const { body } = await asks('GET', `/v1/customers/${customer}`)
    expect(body).toMatchObject({ customer: { email, name, licenseIds: [], erasedAt: null } })
    const subjectId = (await api.ledger.ports.subjects.findSubject(shop.tenantId, email)) ?? ''
    const erased = await eraseSubject(api.ledger.ports, shop.tenantId, subjectId, origin)
    expect(erased).toStrictEqual({ licenses: 0, customers: 1, sales: 0, notifications: 0, mails: 0 })
  })
})

test('later notifications of a provider take effect, and their text is not stored', async () => {
  const email = 'eve.canary@canary-mail.example'
  const { of, sale, subjectId } = await plant(email, 'Eve Canaryholder')
  await eraseSubject(api.ledger.ports, shop.tenantId, subjectId, origin)
  await shop.tell({ ...of.renewed('in_2', month.third), notificationId: `evt_${email}` })
  expect((await shop.licenseOf(sale)).expiresAt).toBe(month.third)
  const { rows } = await api.ledger.db.query<{ name: string }>('select name from vault.secrets')
  const kept = await Promise.all(rows.map(({ name }) => api.ledger.ports.secrets.open(shop.tenantId, name)))
  expect(kept.filter((text) => text?.includes(email))).toStrictEqual([])
})

test('a member of the workspace cannot be erased as a customer', async () => {
  const email = 'member.canary@canary-mail.example'
  const customer = await makeCustomer(api.ask, shop.token, { email })
  await addMember(api.ledger.ports, { tenantId: shop.tenantId, role: 'support', email }, origin)
  const answer = await api.ask('DELETE', `/v1/customers/${customer}`, { token: shop.token })
  expect(answer.status).toBe(409)
  expect(answer.text).toContain('member of the workspace')
})

test('an erasure killed at any write is resumed and completed', async () => {
  const { ports, clock, db } = api.ledger
  let deaths = 0
  for (let dieAt = 1, died = true; died; dieAt++) {
    const email = `mortal${dieAt}.canary@canary-mail.example`
    const name = `Mortal ${dieAt} Canaryholder`
    const customer = await makeCustomer(api.ask, shop.token, { email, name })
    await shop.tell(purchase(`mortal${dieAt}`, { customer: { email, name } }).sold())
    const subjectId = (await ports.subjects.findSubject(shop.tenantId, email)) ?? ''
    died = await eraseSubject(mortal(api.ledger, dieAt), shop.tenantId, subjectId, origin).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    if (died) deaths++
    clock.advance(11_000)
    await api.ledger.readModels.catchUp()
    const onFailure = ({ error }: { error: unknown }) => {
      throw error
    }
    await resumeErasures(ports, { onFailure }).poll()
    expect(
      await listErasures(
        db,
        { from: '9999-01-01T00:00:00.000Z', until: '9999-01-01T00:00:00.000Z' },
        { except: [], most: 1 },
      ),
    ).toStrictEqual([])
    const isBegun = (await ports.subjects.findSubject(shop.tenantId, email)) === undefined
    if (isBegun) {
      const { body } = await asks('GET', `/v1/customers/${customer}`)
      expect(body).toMatchObject({ customer: { email: null } })
      const events = await eventsIn(ports.ledger, `subject-${shop.tenantId}.${subjectId}`)
      expect(events).toHaveLength(2)
    } else {
      // Killed before the first event: nothing was begun.
      expect(dieAt).toBe(1)
    }
  }
  expect(deaths).toBeGreaterThan(8)
})

test('a person of an organization who was told of their seat leaves no mail', async () => {
  const send = async (method: 'POST' | 'PUT', url: string, body?: object) =>
    (await api.ask(method, url, { token: shop.token, ...(body && { body }) })).body
  await send('PUT', '/v1/portal', { enabled: true })
  const namedSeats = { devicesPerPerson: 1, reassignEveryDays: 0 }
  const keyType = { name: 'Team', deviceLimit: 2, seatPolicy: 'named', namedSeats }
  await send('POST', '/v1/products/editor/key-types', keyType)
  const customerId = await makeCustomer(api.ask, shop.token, { email: 'boss@canary-mail.example' })
  await send('POST', `/v1/customers/${customerId}/organization`)
  const email = 'dan.canary@canary-mail.example'
  const people = [{ email, name: 'Dan Canary Seat' }]
  const added = await send('POST', `/v1/customers/${customerId}/people`, { people, invite: false })
  const [dan] = z.object({ people: z.array(Id) }).parse(added).people
  const { id } = await mint(api.ask, shop.token, 'editor', { keyTypeId: 'team', customerId })
  await send('POST', `/v1/licenses/${id}/people`, { personId: dan?.id })
  const readable = () => tracesOf(email, 'Dan Canary Seat')
  await expect
    .poll(async () => (await readable()).filter((text) => text.includes('You have a seat of')))
    .toHaveLength(1)
  const own = await makeCustomer(api.ask, shop.token, { email })
  await askApproveRepeat(api, shop, 'DELETE', `/v1/customers/${own}`)
  expect(await readable()).toStrictEqual([])
})

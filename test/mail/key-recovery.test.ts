// cspell:ignore Lizenzschlüssel
/**
 * Guarantee: a product with `keyRecovery` keeps the keys of its licenses sealed under their holders' keys: each can
 * be mailed to its holder again, until the person is erased, the license has another key, or the product keeps none
 * any more.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { findLicense } from '../../projections/licenses/queries.ts'
import { listOpenSales } from '../../projections/sales/queries.ts'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { mintLicense, revokeLicense } from '../../src/commands/licenses/licenses.ts'
import { sendKey as sendKeptKey } from '../../src/commands/licenses/send-key.ts'
import { changeProduct } from '../../src/commands/products.ts'
import { newId } from '../../src/credentials/id.ts'
import { keyHashOf } from '../../src/credentials/license-key.ts'
import { runOf } from '../../src/idempotency/request.ts'
import { createMailChannel } from '../../src/mail/channel.ts'
import type { Mailbox } from '../../src/mail/mailbox.ts'
import type { AllPorts } from '../../src/ports.ts'
import { destroyLeftKeys, settleKeptKeys } from '../../src/reactions/kept-keys.ts'
import { resumeSales } from '../../src/reactions/sales.ts'
import { makeTenant, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { openMailingApi } from '../harness/mailing.ts'
import { importRows, makeProduct, mint } from '../http/samples.ts'
import { Killed, mortal } from '../sales/mortal.ts'
import { purchase } from '../sales/notifications.ts'
import { openShop } from '../sales/shop.ts'

const mailing = openMailingApi()
const { sent } = mailing
let api: TestApi
let tenant: TestTenant
beforeAll(() => {
  api = mailing.api
})
beforeEach(async () => {
  sent.length = 0
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyRecovery: true })
})

const ada = { email: 'ada@example.com', name: 'Ada Lovelace' }
const bob = { email: 'bob@example.com' }

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  api.ask('POST', path, { token: tenant.token, body, headers })
const patch = (path: string, body: object) => api.ask('PATCH', path, { token: tenant.token, body })
const sendKey = (id: string, body: object = {}, headers?: Record<string, string>) =>
  post(`/v1/licenses/${id}/send-key`, body, headers)
const later = () => api.ledger.clock.advance(300_000)

const refusedWith = (words: string) => ({
  status: 409,
  body: { error: expect.stringContaining(words) as string },
})

const onFailure = ({ error }: { error: unknown }) => {
  throw error
}

/** Where keys are kept for the tenant. */
async function kept(): Promise<string[]> {
  const { rows } = await api.ledger.db.query<{ license_id: string }>(
    'select license_id from vault.kept_keys where tenant_id = $1 order by license_id',
    [tenant.tenantId],
  )
  return rows.map((row) => row.license_id)
}

/** The sweep, as of ten minutes later. */
async function sweep(): Promise<void> {
  await api.ledger.db.query(`update vault.kept_keys set created_at = created_at - interval '11 minutes'`)
  await settleKeptKeys(api.ledger.ports, onFailure).poll()
  await destroyLeftKeys(api.ledger.ports, onFailure).poll()
}

const mailed = (email: string) => sent.filter(({ to }) => to.email === email).map(({ text }) => text)

test('send-key mails the key again, returns no key, and records the reason in the history', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', ada)
  const { status, text } = await sendKey(id, { reason: 'the mail was lost' })
  expect(status).toBe(200)
  expect(text).not.toContain(licenseKey)
  await expect.poll(() => sent.length).toBe(1)
  expect(sent[0]?.to).toStrictEqual({ email: ada.email, name: ada.name })
  expect(sent[0]?.text).toContain(licenseKey)
  const history = await api.ask('GET', `/v1/licenses/${id}/history`, { token: tenant.token })
  expect(history.text).toContain('Reason: the mail was lost')
  expect(history.text).not.toContain(licenseKey)
  later()
  expect((await sendKey(id)).status).toBe(200)
  await expect.poll(() => sent.length).toBe(2)
})

test('send-key returns 429 within five minutes, and a repeated idempotent request sends one mail', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', ada)
  const first = await sendKey(id, {}, { 'idempotency-key': 'once' })
  expect(first.status).toBe(200)
  expect((await sendKey(id, {}, { 'idempotency-key': 'once' })).body).toStrictEqual(first.body)
  api.ledger.clock.advance(60_000)
  const refused = await sendKey(id, {}, { 'idempotency-key': 'twice' })
  expect(refused.status).toBe(429)
  expect(refused.headers['retry-after']).toBe('240')
  api.ledger.clock.advance(240_000)
  expect((await sendKey(id, {}, { 'idempotency-key': 'twice' })).status).toBe(200)
  await expect.poll(() => sent.length).toBe(2)
})

test('a key that its holder asks for on a German page is sent in German', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', ada)
  const place = { tenantId: tenant.tenantId, licenseId: id, reason: null, language: 'de' } as const
  await sendKeptKey(api.ledger.ports, place, origin)
  await expect
    .poll(() => sent.map(({ subject }) => subject))
    .toStrictEqual([expect.stringContaining('Ihr Lizenzschlüssel')])
})

test('a redelivery does not send a mail that was accepted', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', ada)
  await sendKey(id)
  await expect.poll(() => sent.length).toBe(1)
  const all = { after: undefined, limit: 1 }
  const find = () => listDeliveries(api.ledger.db, tenant.tenantId, { licenseId: id }, all)
  await expect.poll(async () => (await find()).items[0]?.status).toBe('delivered')
  const [delivery] = (await find()).items
  if (!delivery) throw new Error('there is no delivery')
  const channel = createMailChannel(api.ledger.ports, 'https://keys.acme.example')
  expect(await channel.deliver(delivery, async () => undefined)).toStrictEqual({ outcome: 'unwanted' })
})

describe('send-key returns an error that says what to do', () => {
  test('for a product that keeps no keys', async () => {
    await makeProduct(api.ask, tenant.token, 'player')
    const { id } = await mint(api.ask, tenant.token, 'player', ada)
    expect(await sendKey(id)).toMatchObject(refusedWith('the product keeps no keys; send a new key'))
    expect(await kept()).toStrictEqual([])
  })

  test('for a license without an email address at its mint', async () => {
    const { id } = await mint(api.ask, tenant.token, 'editor')
    expect(await sendKey(id)).toMatchObject(refusedWith('no email address'))
    await patch(`/v1/licenses/${id}`, ada)
    expect(await sendKey(id)).toMatchObject(refusedWith('not kept'))
  })

  test('while the mails of the product are off', async () => {
    const { id } = await mint(api.ask, tenant.token, 'editor', ada)
    await api.ask('PUT', '/v1/products/editor/mail', { token: tenant.token, body: { enabled: false } })
    expect(await sendKey(id)).toMatchObject(refusedWith('mails of the product are off'))
  })

  test('when there is a mailbox and no mail server', async () => {
    const { id } = await mint(api.ask, tenant.token, 'editor', ada)
    const { ports } = api.ledger
    const mailbox: Mailbox = {
      ...ports.mailing.mailer,
      list: async () => [],
      find: async () => undefined,
      remove: async () => false,
    }
    const place = { tenantId: tenant.tenantId, licenseId: id, reason: null }
    const shown = { ...ports, mailing: { ...ports.mailing, mailbox } }
    await expect(sendKeptKey(shown, place, origin)).rejects.toMatchObject({ code: 'no_mail_server' })
  })

  test('for a revoked license and one of another tenant', async () => {
    const { id } = await mint(api.ask, tenant.token, 'editor', ada)
    await revokeLicense(api.ledger.ports, tenant.tenantId, id, null, origin)
    expect(await sendKey(id)).toMatchObject(refusedWith('revoked'))
    tenant = await makeTenant(api.ledger)
    expect((await sendKey(id)).status).toBe(404)
  })
})

test('a remint replaces the key that can be sent', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', ada)
  const { body } = await post(`/v1/licenses/${id}/remint`, {})
  const { licenseKey: second } = body as { licenseKey: string }
  await sendKey(id)
  await expect.poll(() => sent.length).toBe(1)
  expect(sent[0]?.text).toContain(second)
  expect(sent[0]?.text).not.toContain(licenseKey)
  expect(await kept()).toStrictEqual([id, id])
  await sweep()
  expect(await kept()).toStrictEqual([id])
  later()
  expect((await sendKey(id)).status).toBe(200)
})

test('the key can be sent to the new holder, and no longer to the previous one', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', ada)
  await patch(`/v1/licenses/${id}`, bob)
  await sendKey(id)
  await expect.poll(() => mailed(bob.email)).toStrictEqual([expect.stringContaining(licenseKey)])
  await sweep()
  expect(await kept()).toStrictEqual([id])
  await patch(`/v1/licenses/${id}`, { email: null })
  await sweep()
  expect(await kept()).toStrictEqual([])
})

test('an imported key can be sent', async () => {
  const licenseKey = 'OTHER-imported-90f2-7b1c-44de'
  await importRows(api.ask, tenant.token, 'editor', [{ licenseKey, ...ada }])
  const [id] = await kept()
  expect((await sendKey(id ?? '')).status).toBe(200)
  await expect.poll(() => mailed(ada.email)).toStrictEqual([expect.stringContaining(licenseKey)])
})

test('turning keyRecovery off destroys the kept keys at once, also when it is turned on again', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', ada)
  const other = await makeTenant(api.ledger)
  await makeProduct(api.ask, other.token, 'editor', { keyRecovery: true })
  const { id: elsewhere } = await mint(api.ask, other.token, 'editor', ada)
  expect((await patch('/v1/products/editor?dryRun=true', { keyRecovery: false })).status).toBe(200)
  expect(await kept()).toStrictEqual([id])
  await patch('/v1/products/editor', { keyRecovery: false })
  expect(await kept()).toStrictEqual([])
  expect(await sendKey(id)).toMatchObject(refusedWith('the product keeps no keys'))
  await patch('/v1/products/editor', { keyRecovery: true })
  expect(await sendKey(id)).toMatchObject(refusedWith('not kept'))
  tenant = other
  expect(await kept()).toStrictEqual([elsewhere])
})

test('after a process has died with keyRecovery turned off, no former key can be sent, and the sweep destroys them', async () => {
  const { ports } = api.ledger
  const { id } = await mint(api.ask, tenant.token, 'editor', ada)
  const clearPeriods = () => Promise.reject(new Killed())
  const mortalServices = { ...ports, keptKeys: { ...ports.keptKeys, clearPeriods } }
  const off = { settings: { keyRecovery: false } }
  await expect(changeProduct(mortalServices, tenant.tenantId, 'editor', off, origin)).rejects.toThrow(Killed)
  await patch('/v1/products/editor', { keyRecovery: true })
  expect(await kept()).toStrictEqual([id])
  expect(await sendKey(id)).toMatchObject(refusedWith('not kept'))
  const { id: next } = await mint(api.ask, tenant.token, 'editor', bob)
  await sweep()
  expect(await kept()).toStrictEqual([next])
  expect((await sendKey(next)).status).toBe(200)
})

test('a key that was kept before keys had a period can be sent until keyRecovery is turned off', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', ada)
  const forget = () =>
    api.ledger.db.query('update vault.kept_keys set period = null where tenant_id = $1', [tenant.tenantId])
  await forget()
  expect((await sendKey(id)).status).toBe(200)
  await sweep()
  const { rows } = await api.ledger.db.query('select period from vault.kept_keys where license_id = $1', [id])
  expect(rows).toStrictEqual([{ period: 0 }])
  later()
  expect((await sendKey(id)).status).toBe(200)
  await forget()
  await patch('/v1/products/editor', { keyRecovery: false })
  expect(await kept()).toStrictEqual([])
})

test('erasing the person destroys the key and makes copies of it unreadable', async () => {
  const { ports, db } = api.ledger
  const { id } = await mint(api.ask, tenant.token, 'editor', ada)
  const { rows } = await db.query('select * from vault.kept_keys where license_id = $1', [id])
  const [row] = rows as { subject_id: string; key_hash: string; product_id: string; sealed: string }[]
  if (!row) throw new Error('the key is kept')
  await eraseSubject(ports, tenant.tenantId, row.subject_id, origin)
  expect(await kept()).toStrictEqual([])
  expect(await sendKey(id)).toMatchObject(refusedWith('no email address'))
  // As from a backup, and also when the same person comes again.
  await ports.subjects.sealPerson(tenant.tenantId, ada.email, ada.name)
  const again = await ports.subjects.findSubject(tenant.tenantId, ada.email)
  for (const subjectId of [row.subject_id, again ?? '']) {
    const place = { tenantId: tenant.tenantId, licenseId: id, keyHash: row.key_hash, subjectId }
    expect(await ports.subjects.openLicenseKey(tenant.tenantId, subjectId, row.sealed)).toBeNull()
    await ports.keptKeys.keep({ ...place, productId: 'editor', period: 0 }, 'no key of the license')
    expect(await ports.keptKeys.open({ ...place, period: 0 })).toBeUndefined()
  }
  await sweep()
  expect(await kept()).toStrictEqual([])
})

test('send-key sends the right key after a mint that was killed at any write and repeated', async () => {
  const { ports, db } = api.ledger
  const product = await ports.findProduct(tenant.tenantId, 'editor')
  if (!product) throw new Error('there is no product')
  let deaths = 0
  for (let dieAt = 1, died = true; died; dieAt++) {
    const email = `mortal${dieAt}@example.com`
    const reserved = {
      seed: Buffer.alloc(32, dieAt).toString('base64'),
      at: api.ledger.clock.now().toISOString(),
      requestId: newId('req'),
    }
    const mintIn = (own: AllPorts, resumed: boolean) => {
      const { at, firstRequestId, randomBytes, newId: idOf } = runOf(reserved, resumed)
      return mintLicense(
        { ...own, now: () => new Date(at), randomBytes, newId: idOf },
        product,
        { email },
        { ...origin, correlationId: firstRequestId, run: { resumed } },
      )
    }
    died = await mintIn(mortal(api.ledger, dieAt), false).then(
      () => false,
      (error: unknown) => {
        if (error instanceof Killed) return true
        throw error
      },
    )
    if (died) deaths++
    // An answer that was lost is asked for again; before that, the sweep finds what the dead request left.
    await api.ledger.readModels.catchUp()
    if (dieAt % 2 === 0) await sweep()
    const { license, licenseKey } = await mintIn(ports, true)
    expect((await sendKey(license.licenseId)).status).toBe(200)
    await expect.poll(() => mailed(email)).toStrictEqual([expect.stringContaining(licenseKey)])
    await sweep()
    expect((await kept()).filter((id) => id === license.licenseId)).toHaveLength(1)
    const stored = await findLicense(db, tenant.tenantId, license.licenseId)
    expect(keyHashOf(licenseKey)).toBe(stored?.license.keyHash)
  }
  // Before and after: the customer, the kept key, the license.
  expect(deaths).toBe(6)
  const { rows } = await db.query<{ licenses: string }>(
    `select count(l.*)::text as licenses from customers c left join licenses l using (tenant_id, customer_id)
     where c.tenant_id = $1 group by c.customer_id`,
    [tenant.tenantId],
  )
  // Each address has one customer, whose the license is.
  expect(rows.map(({ licenses }) => licenses)).toStrictEqual(Array.from({ length: 7 }, () => '1'))
})

test('send-key sends the right key after a sale that was killed at any write', async () => {
  const shop = await openShop(api)
  tenant = shop
  await patch('/v1/products/editor', { keyRecovery: true })
  const { ports, db, clock, readModels } = api.ledger
  let deaths = 0
  for (let dieAt = 1, died = true; died; dieAt++) {
    const customer = { email: `sold${dieAt}@example.com`, name: 'Ada Lovelace' }
    const sold = purchase(`sold${dieAt}`, { customer }).sold()
    died = await shop.tell(sold, mortal(api.ledger, dieAt)).then(
      () => false,
      (error: unknown) => {
        if (error instanceof Killed) return true
        throw error
      },
    )
    if (died) deaths++
    clock.advance(11_000)
    await readModels.catchUp()
    await resumeSales(ports, { onFailure }).poll()
    await shop.tell(sold)
    expect(
      await listOpenSales(db, { from: 'infinity', until: 'infinity' }, { except: [], most: 1 }),
    ).toStrictEqual([])
    const { rows } = await db.query<{ id: string; hash: string }>(
      'select license_id as id, key_hash as hash from licenses where tenant_id = $1 and sale_id = $2',
      [shop.tenantId, `cs_sold${dieAt}`],
    )
    const [license] = rows
    if (!license) throw new Error('the sale has no license')
    await expect.poll(() => mailed(customer.email).length).toBe(1)
    expect((await sendKey(license.id)).status).toBe(200)
    await expect.poll(() => mailed(customer.email).length).toBe(2)
    const keyed = mailed(customer.email).map((text) => keyHashOf(/^ {4}(\S+)$/m.exec(text)?.[1] ?? ''))
    expect(keyed).toStrictEqual([license.hash, license.hash])
  }
  expect(deaths).toBeGreaterThan(8)
})

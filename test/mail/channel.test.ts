// cspell:ignore Lizenzschlüssel Bestellung
/**
 * Guarantee: the customer of a sale gets their key by mail as the product's settings say. A mail that the server
 * rejects is retried, and the recorded result contains nothing of the key or the person.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import type { KnownDelivery } from '../../src/domain/deliveries/delivery.ts'
import { saleKeyName } from '../../src/domain/licenses/keys.ts'
import { parseCheckpoint } from '../../src/transparency/checkpoint.ts'
import { entryOf } from '../../src/transparency/entry.ts'
import { parseNote } from '../../src/transparency/note/note.ts'
import { parseProof } from '../../src/transparency/proof-file.ts'
import { leafHash } from '../../src/transparency/tree/edge.ts'
import { provesInclusion } from '../../src/transparency/tree/proof.ts'
import { readRecord } from '../../src/verifier/record.ts'
import { makeTenant, type TestApi, type TestTenant } from '../harness/api.ts'
import { sellLicense } from '../harness/dispatch.ts'
import { openMailingApi, refused, taken } from '../harness/mailing.ts'
import { startNotary } from '../harness/notary.ts'
import { makeProduct, mint } from '../http/samples.ts'
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
  mailing.answer = () => taken
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { name: 'Acme Editor', keyTypes: [{ name: 'Pro' }] })
})

async function deliveries(): Promise<KnownDelivery[]> {
  const all = { after: undefined, limit: 100 }
  return (await listDeliveries(api.ledger.db, tenant.tenantId, { channel: 'mail' }, all)).items
}

const settled = (status: KnownDelivery['status']) =>
  expect.poll(async () => (await deliveries()).map((delivery) => delivery.status)).toStrictEqual([status])

const tried = (times: number) => expect.poll(async () => (await deliveries())[0]?.attempts.length).toBe(times)

const setMail = (body: unknown) => api.ask('PUT', '/v1/products/editor/mail', { token: tenant.token, body })

test('the mail has the text of the product and comes from the address of the installation', async () => {
  await setMail({
    from: { name: 'Acme', email: 'keys@acme.example' },
    subject: '{{product_name}} for {{customer_name}}',
    text: '{{license_key}}',
  })
  const { licenseKey } = await sellLicense(api.ledger, tenant.tenantId)
  await settled('delivered')
  const [delivery] = await deliveries()
  expect(sent).toStrictEqual([
    {
      tenantId: tenant.tenantId,
      deliveryId: delivery?.deliveryId,
      at: api.ledger.clock.now().toISOString(),
      from: { name: 'Acme via A tenant', email: 'licenses@keyledger.example' },
      replyTo: 'keys@acme.example',
      to: { name: 'Ada Lovelace', email: 'ada@example.com' },
      subject: 'Acme Editor for Ada Lovelace',
      text: licenseKey,
      html: null,
    },
  ])
})

test('a rejected mail is sent again after a minute, and the events contain no personal data', async () => {
  mailing.answer = ({ text }) => ({
    taken: false,
    problem: 'refused',
    status: 451,
    answer: `451 later, <ada@example.com> Ada Lovelace ${/[A-Z]+(?:-\w+){6}/.exec(text)?.[0]}`,
  })
  await sellLicense(api.ledger, tenant.tenantId)
  await tried(1)
  const [delivery] = await deliveries()
  expect(delivery?.attempts[0]).toMatchObject({
    error: 'mail_refused',
    status: 451,
    excerpt: '451 later, <…> … …',
    nextAttemptAt: new Date(api.ledger.clock.now().getTime() + 60_000).toISOString(),
  })
  mailing.answer = () => taken
  api.ledger.clock.advance(60_000)
  await settled('delivered')
  expect(sent.map(({ deliveryId }) => deliveryId)).toStrictEqual([delivery?.deliveryId, delivery?.deliveryId])
  expect(sent[0]?.text).toBe(sent[1]?.text)
})

test('no mail is sent when the mails of the product are off or the key no longer exists', async () => {
  await setMail({ enabled: false })
  await sellLicense(api.ledger, tenant.tenantId)
  await settled('abandoned')
  tenant = await makeTenant(api.ledger)
  mailing.answer = () => refused
  const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
  await tried(1)
  await api.ledger.ports.secrets.destroy(tenant.tenantId, saleKeyName(licenseId))
  api.ledger.clock.advance(60_000)
  await settled('abandoned')
  expect(sent).toHaveLength(1)
})

test('the mail carries the receipt of the license where the product attaches it, once its log is signed', async () => {
  await setMail({ receipt: true })
  const notary = startNotary(api.ledger)
  await notary.upToDate()
  const { licenseId } = await sellLicense(api.ledger, tenant.tenantId)
  await settled('delivered')
  await notary.stop()
  const [attachment] = sent[0]?.attachments ?? []
  expect(sent[0]?.text).toContain('The attached file proves')
  expect(attachment?.name).toBe(`receipt-${licenseId}.json`)
  const { record, proof } = JSON.parse(attachment?.content ?? '') as { record: string; proof: string }
  const { index, checkpoint } = parseProof(proof)
  const tree = parseCheckpoint(parseNote(checkpoint).text)
  expect(JSON.parse(record)).toMatchObject({ stream: `license-${licenseId}`, revision: 0 })
  expect(provesInclusion(leafHash(entryOf(readRecord(record))), index, tree, parseProof(proof).proof)).toBe(
    true,
  )
})

test('the mail has no attachment unless the product asks for it', async () => {
  const notary = startNotary(api.ledger)
  await notary.upToDate()
  await sellLicense(api.ledger, tenant.tenantId)
  await settled('delivered')
  await notary.stop()
  expect(sent[0]?.attachments).toBeUndefined()
})

test('the mail says where the portal is, and that the key can be sent again, where that is so', async () => {
  await sellLicense(api.ledger, tenant.tenantId)
  await settled('delivered')
  await api.ask('PUT', '/v1/portal', { token: tenant.token, body: { enabled: true } })
  await api.ask('PATCH', '/v1/products/editor', { token: tenant.token, body: { keyRecovery: true } })
  await mint(api.ask, tenant.token, 'editor', { email: 'bob@example.com', sendKey: true })
  await expect.poll(() => sent.length).toBe(2)
  expect(sent[0]?.text).toContain('we send this key only once')
  expect(sent[1]?.text).not.toContain('only once')
  expect(sent[1]?.text).toContain(`https://keys.acme.example/portal/${tenant.tenantId}\n`)
})

test('the mail of a sale is in the language in which the customer bought', async () => {
  const shop = await openShop(api)
  tenant = shop
  const customer = { email: 'ada@example.com', language: 'de' } as const
  await shop.tell(purchase('german', { customer }).sold())
  await settled('delivered')
  expect(sent[0]?.subject).toMatch(/^Ihr Lizenzschlüssel für .+ \(Bestellung cs_german\)$/)
})

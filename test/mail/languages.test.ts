// cspell:ignore Votre jamais Fini Analystes Guten
/** Mails to customers are in a language that the vendor added: what it lacks is in English, and so are all once it is removed. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { OutgoingMail } from '../../src/mail/mailer.ts'
import { noticeExpiries } from '../../src/reactions/expiring.ts'
import { mailInvitations } from '../../src/reactions/invitations.ts'
import type { TestApi, TestTenant } from '../harness/api.ts'
import { beginning } from '../harness/ledger.ts'
import { openMailingApi } from '../harness/mailing.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { openPortalOf } from '../portal/customer.ts'
import { purchase } from '../sales/notifications.ts'
import { openShop, type Shop } from '../sales/shop.ts'

const mailing = openMailingApi()
const { sent } = mailing
let api: TestApi
let tenant: TestTenant & Shop
beforeAll(() => {
  api = mailing.api
})

const french = {
  name: 'Français',
  texts: {
    'mail.subjectOfOrder': 'Votre clé pour {{product_name}} ({{order_number}})',
    'mail.hello': 'Bonjour',
    'mail.never': 'jamais',
    'news.expiringSubject': 'Votre licence de {product} expire le {date}',
    inviteSubject: 'Invitation de {organization}',
  },
}
const ask = (method: 'DELETE' | 'POST' | 'PUT', path: string, body?: object) =>
  api.ask(method, `/v1${path}`, { token: tenant.token, ...(body && { body }) })
beforeEach(async () => {
  sent.length = 0
  api.ledger.clock.set(beginning)
  tenant = await openShop(api)
  expect((await ask('PUT', '/portal/languages/fr', french)).status).toBe(200)
})

let orders = 0
/** A purchase by a customer who reads a language. @returns the mail with the key */
async function bought(language: string): Promise<OutgoingMail | undefined> {
  const before = sent.length
  const customer = { email: 'ada@example.com', name: 'Ada', language }
  await tenant.tell(purchase(`order-${++orders}`, { customer }).sold())
  await expect.poll(() => sent.length).toBe(before + 1)
  return sent.at(-1)
}

test('the key is mailed in the language of the customer, with what it lacks in English', async () => {
  const mail = await bought('fr-CA')
  expect(mail?.subject).toMatch(/^Votre clé pour .+ \(.+\)$/)
  expect(mail?.text).toMatch(/^Bonjour Ada,\n\nThank you for buying /)
  expect(mail?.html).toContain('<html lang="fr">')
})

test('once the language is removed, the key is mailed in that of the product, else in English', async () => {
  await ask('DELETE', '/portal/languages/fr')
  expect((await bought('fr'))?.text).toMatch(/^Hello Ada,/)
  await ask('PUT', '/products/editor/mail', { language: 'de' })
  expect((await bought('fr'))?.text).toMatch(/^Guten Tag Ada,/)
})

test('a template in the language is used for its customers, and not once the language is removed', async () => {
  const template = { kind: 'key', language: 'fr', subject: 'La clé', text: '{{greeting}} : {{license_key}}' }
  await ask('PUT', '/mail-templates', template)
  expect(await bought('fr')).toMatchObject({
    subject: 'La clé',
    text: expect.stringMatching(/^Bonjour Ada : /) as string,
  })
  await ask('DELETE', '/portal/languages/fr')
  expect((await bought('fr'))?.subject).toMatch(/^Your license key/)
})

test('a preview shows the mail in the language', async () => {
  const { body } = await ask('POST', '/mail-templates/preview', { kind: 'expiring', language: 'fr' })
  expect(body).toMatchObject({
    mail: {
      subject: 'Votre licence de Example Editor expire le 15 mars 2026',
      text: expect.stringMatching(/^Bonjour Ada Example,/) as string,
    },
  })
})

test('news about a license, and invitations, are in the language', async () => {
  const pro = { name: 'Pro', duration: { count: 30, unit: 'day' } }
  await makeProduct(api.ask, tenant.token, 'notes', { keyTypes: [pro], expiringNotice: { days: [3] } })
  await ask('PUT', '/products/notes/mail', { language: 'fr' })
  await mint(api.ask, tenant.token, 'notes', { keyTypeId: 'pro', email: 'ada@example.com' })
  api.ledger.clock.set('2026-03-28T12:00:00.000Z')
  const onFailure = ({ error }: { error: unknown }) => {
    throw error
  }
  await noticeExpiries(api.ledger.ports, { onFailure }).poll()
  await expect
    .poll(() => sent.map(({ subject }) => subject))
    .toStrictEqual(['Votre licence de Acme Editor expire le 31 mars 2026'])
  await openPortalOf(api.app, tenant.token)
  const team = await makeCustomer(api.ask, tenant.token, { email: 'team@example.com', name: 'Analystes' })
  await ask('POST', `/customers/${team}/organization`)
  await ask('POST', `/customers/${team}/people`, { people: [{ email: 'bea@example.com' }], language: 'fr' })
  await mailInvitations(api.ledger.ports, { baseUrl: 'https://keys.acme.example', onFailure }).poll()
  expect(sent.at(-1)).toMatchObject({ subject: 'Invitation de Analystes', to: { email: 'bea@example.com' } })
})

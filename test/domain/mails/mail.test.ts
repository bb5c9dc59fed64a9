/**
 * A mail holds only what its template says; a customer's name cannot add a header, an HTML tag or a
 * placeholder.
 */
import { describe, expect, test } from 'vitest'
import type { MailSettings } from '../../../src/domain/mails/events.ts'
import { decideMail, evolveMail, type MailCommand, usualMail } from '../../../src/domain/mails/mail.ts'
import { type MailFacts, unknownPlaceholders, writeMail } from '../../../src/domain/mails/template.ts'
import { givenOn } from '../given.ts'

const at = '2026-03-01T12:00:00.000Z'
const given = givenOn({ initial: usualMail, decide: decideMail, evolve: evolveMail })
const usual = usualMail.settings
const change = (settings: Partial<MailSettings>): MailCommand => ({
  type: 'ChangeMailSettings',
  tenantId: 'acme',
  productId: 'editor',
  settings: { ...usual, ...settings },
  at,
})
const changed = (settings: Partial<MailSettings>) => {
  const { type: _, ...data } = change(settings)
  return { type: 'MailSettingsChanged', data } as const
}

describe('settings', () => {
  test('are recorded when they change', () =>
    given()
      .when(change({ enabled: false }))
      .expectEvents([changed({ enabled: false })]))

  test('are not recorded again when they have not changed', () =>
    given(changed({ subject: 'Your key' }))
      .when(change({ subject: 'Your key' }))
      .expectEvents([]))

  test('are the defaults at first', () => given().when(change({})).expectEvents([]))
})

const facts: MailFacts = {
  customer: { email: 'ada@example.com', name: 'Ada' },
  vendorName: 'Acme Tools',
  productName: 'Acme Editor',
  keyTypeName: 'Pro',
  licenseKey: 'ACME-AAAAA-BBBBB-CCCCC-DDDDD-EEEEE-F',
  quantity: 2,
  deviceLimit: 6,
  expiresAt: '2027-03-01T12:00:00.000Z',
  saleId: 'cs_1',
}
const service = { name: 'Example', email: 'licenses@keyledger.example' }
const written = (settings: Partial<MailSettings>, about: Partial<MailFacts> = {}) =>
  writeMail({ ...usual, ...settings }, { ...facts, ...about }, service)

describe('a mail', () => {
  test('has the default text, the address of the service and the name of the vendor', () => {
    const mail = written({})
    expect(mail).toMatchObject({
      from: { name: 'Acme Tools', email: service.email },
      replyTo: null,
      to: { name: 'Ada', email: 'ada@example.com' },
      subject: 'Your license key for Acme Editor',
    })
    for (const part of [mail.text, mail.html]) {
      expect(part).toContain(facts.licenseKey)
      expect(part).toContain('Hello Ada,')
      expect(part).toContain('1 March 2027')
      expect(part).not.toContain('{{')
    }
  })

  test('has the text and the name of the product and the address of the service; replies go to the product', () => {
    const from = { name: 'Acme', email: 'keys@acme.example' }
    const text = '{{ customer_name }} {{customer_email}} {{license_key}} {{quantity}} {{devices}} {{sale_id}}'
    const mail = written({ from, subject: '{{key_type_name}}!', text })
    expect(mail).toStrictEqual({
      from: { name: 'Acme via Acme Tools', email: service.email },
      replyTo: from.email,
      to: { name: 'Ada', email: 'ada@example.com' },
      subject: 'Pro!',
      text: `Ada ada@example.com ${facts.licenseKey} 2 6 cs_1`,
      html: null,
    })
  })

  test('always comes from the address of the service, and names the vendor', () => {
    const senders: [from: MailSettings['from'], vendorName: string, name: string][] = [
      [null, 'Acme Tools', 'Acme Tools'],
      [{ name: null, email: 'keys@other.example' }, 'Acme Tools', 'Acme Tools'],
      [{ name: 'Acme Tools', email: 'keys@other.example' }, 'Acme Tools', 'Acme Tools'],
      [{ name: 'Other', email: 'keys@other.example' }, 'Acme Tools', 'Other via Acme Tools'],
      [{ name: '\u202eOther\u200b', email: 'a@other.example' }, 'Acme\r\nBcc: x', 'Other via Acme Bcc: x'],
    ]
    for (const [from, vendorName, name] of senders)
      expect(written({ from }, { vendorName }).from).toStrictEqual({ name, email: service.email })
  })

  test('is answered to the address that the product names for it, before that of its sender', () => {
    const from = { name: 'Acme', email: 'keys@acme.example' }
    expect(written({ from, replyTo: 'help@acme.example' }).replyTo).toBe('help@acme.example')
    expect(written({ from }).replyTo).toBe('keys@acme.example')
  })

  test('says what is unlimited, and greets a customer without a name', () => {
    const about = { customer: { email: 'a@example.com', name: null }, deviceLimit: null, expiresAt: null }
    const { text } = written({ text: '{{greeting}}, {{devices}}, {{expires_on}}' }, about)
    expect(text).toBe('Hello, unlimited, never')
  })

  test('has no tag that a customer has written', () => {
    const name = '<img src=x onerror="a()">\'&'
    const { html, text } = written(
      { text: '{{customer_name}}', html: '<a title="{{customer_name}}">' },
      { customer: { email: 'a@example.com', name } },
    )
    expect(html).toBe('<a title="&lt;img src=x onerror=&quot;a()&quot;&gt;&#39;&amp;">')
    expect(text).toBe(name)
  })

  test('has no header that a customer has written', () => {
    const name = 'Ada\r\nBcc: everybody@example.com'
    const mail = written({ subject: 'For {{customer_name}}' }, { customer: { email: 'a@example.com', name } })
    expect(mail.subject).toBe('For Ada Bcc: everybody@example.com')
    expect(mail.to.name).toBe('Ada Bcc: everybody@example.com')
  })

  test('is filled in once', () => {
    const customer = { email: 'a@example.com', name: '{{license_key}} $& $1' }
    expect(written({ text: '{{customer_name}}' }, { customer }).text).toBe('{{license_key}} $& $1')
  })
})

test('unknown placeholders are named', () =>
  expect(unknownPlaceholders('{{license_key}} {{licence}} {{ toString }}')).toStrictEqual(['licence']))

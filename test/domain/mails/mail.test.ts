// cspell:ignore Lizenzschlüssel Bestellung Guten nvielen Kauf Gültig März
/**
 * A mail holds only what its template says; a customer's name cannot add a header, an HTML tag or a
 * placeholder.
 */
import { describe, expect, test } from 'vitest'
import type { MailSettings } from '../../../src/domain/mails/events.ts'
import { keyMailText } from '../../../src/domain/mails/key-mail.ts'
import { decideMail, evolveMail, type MailCommand, usualMail } from '../../../src/domain/mails/mail.ts'
import { writePortalMail } from '../../../src/domain/mails/portal-mail.ts'
import { type MailFacts, writeMail } from '../../../src/domain/mails/template.ts'
import { sayIn } from '../../../src/domain/portal/texts.ts'
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
  startsWith: null,
  saleId: 'cs_1',
  language: null,
  sentAgain: false,
  portalUrl: null,
  receipt: false,
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
      subject: 'Your license key for Acme Editor (order cs_1)',
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

  test('says how long a license is valid that starts with its first activation', () => {
    const about = { expiresAt: null, startsWith: { count: 30, unit: 'day' } } as const
    const own = { text: '{{expires_on}}' }
    expect(written(own, about).text).toBe('30 days after the first activation')
    const german = written({ ...own, language: 'de' }, about).text
    expect(german).toBe(`30 Tage ${keyMailText('de', 'afterStart', {})}`) // cspell:disable-line
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

describe('the built-in mail', () => {
  const portalUrl = 'https://keys.acme.example/portal/acme'

  test('says that the key is sent only once where it cannot be sent again, and only there', () => {
    expect(written({}).text).toContain('we send this key only once')
    expect(written({}, { portalUrl }).text).toContain('we send this key only once')
    for (const about of [{ sentAgain: true }, { sentAgain: true, portalUrl }]) {
      const { text, html } = written({}, about)
      expect(text).not.toContain('only once')
      expect(html).not.toContain('only once')
    }
    expect(written({}, { sentAgain: true }).text).toContain('write to us, and we send the key again')
    expect(written({}, { sentAgain: true, portalUrl }).text).toContain('to have the key sent again')
  })

  test('leads to the portal while it is open', () => {
    const { text, html } = written({}, { portalUrl })
    expect(text).toContain(`    ${portalUrl}\n`)
    expect(html).toContain(`href="${portalUrl}"`)
    expect(written({}).text).not.toContain('sign in')
  })

  test('explains the receipt where it is attached', () => {
    expect(written({}, { receipt: true }).text).toContain('The attached file proves')
    expect(written({}).text).not.toContain('attached')
  })

  test('is in the language of the customer, and else in that of the product', () => {
    const german = written({}, { language: 'de' })
    expect(german.subject).toBe('Ihr Lizenzschlüssel für Acme Editor (Bestellung cs_1)')
    expect(german.text).toContain('Guten Tag Ada,\n\nvielen Dank für den Kauf von Acme Editor (Pro).')
    expect(german.text).toContain('Gültig bis: 1. März 2027')
    expect(german.html).toContain('<html lang="de">')
    expect(written({ language: 'de' }).text).toBe(german.text)
    expect(written({ language: 'de' }, { language: 'en' }).text).toContain('Thank you for buying')
    const own = written({ language: 'de', text: '{{greeting}}, {{license_key}}' }, { language: 'en' })
    expect(own.text).toBe(`Guten Tag Ada, ${facts.licenseKey}`)
  })

  test('names the order in its subject, a long number by its end, and none for a license that was not sold', () => {
    const saleId = 'cs_live_a1B2c3D4e5F6g7H8i9J0k1L2M3'
    const { subject, text } = written({}, { saleId })
    expect(subject).toBe('Your license key for Acme Editor (order …J0k1L2M3)')
    expect(text).toContain(`Order: ${saleId}\n`)
    const minted = writeMail(usual, { ...facts, saleId: null }, service, 'asked')
    expect(minted.subject).toBe('Your license key for Acme Editor')
    expect(minted.text).not.toContain('Order')
  })
})

describe('the mail with a link to the portal', () => {
  const url = 'https://keys.acme.example/portal/acme/link?token=a&b'
  const about = { to: 'ada@example.com', vendor: 'Acme <Tools>', supportEmail: null, url, minutes: 15 }

  test('has a button in its HTML, and nothing that the vendor wrote as a tag', () => {
    const mail = writePortalMail(about, { language: 'de', say: sayIn('de', {}) }, service)
    expect(mail.text).toContain(`\n\n    ${url}\n\n`)
    expect(mail.html).toContain('href="https://keys.acme.example/portal/acme/link?token=a&amp;b"')
    expect(mail.html).toContain('<html lang="de">')
    expect(mail.html).not.toContain('<Tools>')
  })

  test('shows a link within a sentence of the vendor as it is written', () => {
    const say = sayIn('en', { en: { mailText: 'Open {link} now.\nYours' } })
    const mail = writePortalMail(about, { language: 'en', say }, service)
    expect(mail.text).toBe(`Open ${url} now.\nYours\n`)
    expect(mail.html).toContain('token=a&amp;b now.<br>Yours')
  })
})

/**
 * Guarantee: a template that was saved can be filled in, with nothing left between braces and no tag from a customer; and each
 * customer gets the most particular one.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type MailKind,
  type MailTemplate,
  mailKindNames,
  mailKinds,
  templateProblems,
} from '../../../src/domain/mails/kinds.ts'
import { usualMail } from '../../../src/domain/mails/mail.ts'
import { writePortalMail } from '../../../src/domain/mails/portal-mail.ts'
import { htmlAsPage, type MailLook, plainLook } from '../../../src/domain/mails/rendering.ts'
import { sampleProduct, writeTestMail } from '../../../src/domain/mails/test-mail.ts'
import type { PlacedTemplate } from '../../../src/domain/mails/wording-events.ts'
import {
  builtInWordings,
  decideWordings,
  evolveWordings,
  templateFor,
  templateId,
} from '../../../src/domain/mails/wordings.ts'
import { sayIn } from '../../../src/domain/portal/texts.ts'
import { givenOn } from '../given.ts'

const at = '2026-03-01T12:00:00.000Z'
const given = givenOn({ initial: builtInWordings, decide: decideWordings, evolve: evolveWordings })
const sender = { email: 'licenses@keyledger.example' }
const logo = { type: 'image/png', data: 'iVBORw0KGgo=' } as const
const placed = (place: Partial<PlacedTemplate> = {}): PlacedTemplate => ({
  kind: 'expiring',
  productId: null,
  language: null,
  subject: 'It ends',
  text: '{{expires_on}}',
  html: null,
  ...place,
})
const set = (place: Partial<PlacedTemplate> = {}) =>
  ({ type: 'MailTemplateSet', data: { tenantId: 'acme', ...placed(place), at } }) as const
const toSet = (place: Partial<PlacedTemplate> = {}) =>
  ({ type: 'SetMailTemplate', tenantId: 'acme', ...placed(place), at }) as const

describe('templates', () => {
  test('are recorded when they change', () =>
    given(set())
      .when(toSet({ subject: 'Soon' }))
      .expectEvents([set({ subject: 'Soon' })]))

  test('are not recorded again when they have not changed', () => given(set()).when(toSet()).expectEvents([]))

  test('are removed once', () => {
    const place = { tenantId: 'acme', kind: 'expiring', productId: null, language: null, at } as const
    const removed = { type: 'MailTemplateRemoved', data: place } as const
    given(set())
      .when({ type: 'RemoveMailTemplate', ...place })
      .expectEvents([removed])
    given(set(), removed)
      .when({ type: 'RemoveMailTemplate', ...place })
      .expectEvents([])
  })

  test('are at most 200, of which each can still be changed', () => {
    const all = Array.from({ length: 200 }, (_, index) => set({ productId: `p${index}` }))
    given(...all)
      .when(toSet({ productId: 'another' }))
      .expectRefusal('too_many_mail_templates')
    given(...all)
      .when(toSet({ productId: 'p7', subject: 'Soon' }))
      .expectEvents([set({ productId: 'p7', subject: 'Soon' })])
  })

  test('of the product come before those of all products, and of the language before those of every one', () => {
    const order = [
      placed({ productId: 'editor', language: 'de' }),
      placed({ productId: 'editor' }),
      placed({ language: 'de' }),
      placed(),
    ]
    const others = [placed({ kind: 'expired' }), placed({ productId: 'viewer', language: 'de' })]
    for (const [index, expected] of order.entries()) {
      const known = [...order.slice(index), ...others]
      const templates = Object.fromEntries(known.map((template) => [templateId(template), template]))
      expect(templateFor({ templates }, 'expiring', 'editor', 'de')).toStrictEqual(expected)
    }
    expect(templateFor({ templates: {} }, 'expiring', 'editor', 'de')).toBeUndefined()
  })
})

describe('a template cannot be saved', () => {
  const problems = (template: Partial<MailTemplate>, kind: MailKind = 'expiring') =>
    templateProblems(kind, { subject: 'It ends', text: '{{expires_on}}', html: null, ...template })

  test.each([
    [
      { text: '{{expires_on}} {{licence}}' },
      /^\{\{licence\}\} does not exist in this mail; use .*\{\{expires_on\}\}/,
    ],
    [{ text: '{{expires_on}} {{license_key}}' }, /^\{\{license_key\}\} does not exist/],
    [{ text: '{{expires_on}} {{greeting' }, /^contains \{\{ without a name/],
    [{ text: '{{expires_on}} {{#section}}' }, /^contains \{\{ without a name/],
    [{ text: 'It ends.' }, /^must contain \{\{expires_on\}\}/],
    [{ html: '<p>It ends.</p>' }, /^must contain \{\{expires_on\}\}/],
    [{ subject: 'It\nends' }, /^must be one line/],
    [{ text: '{{expires_on}}\u0007' }, /^contains a control character/],
  ])('%j', (template, message) => {
    const [problem, ...others] = problems(template)
    expect(problem?.field).toBe(Object.keys(template)[0])
    expect(problem?.message).toMatch(message)
    expect(others).toStrictEqual([])
  })

  test('but with style sheets and braces of its own', () =>
    expect(problems({ html: '<style>@media x{.a{color:red}}</style>{{ expires_on }}' })).toStrictEqual([]))
})

const textOf = (kind: MailKind, template: Partial<MailTemplate>, look: MailLook = plainLook, name = 'Acme') =>
  writeTestMail(
    {
      kind,
      email: 'ada@example.com',
      vendorName: name,
      portalUrl: null,
      product: sampleProduct,
      language: null,
      now: at,
    },
    usualMail.settings,
    sender,
    { template: { ...placed({ kind }), ...template }, look },
  )

test('nothing is left between braces, and no value becomes a tag', () => {
  const piece = (kind: MailKind) =>
    fc.oneof(
      fc.constantFrom(...Object.keys(mailKinds[kind].placeholders)).map((name) => `{{${name}}}`),
      fc.constantFrom('\n\n', '{{', '}}', '{', ' ', '<b>', '{{ greeting }}', '{{nothing}}'),
      fc.string({ maxLength: 8 }),
    )
  const kindAndText = fc
    .constantFrom(...mailKindNames)
    .chain((kind) => fc.tuple(fc.constant(kind), fc.array(piece(kind), { maxLength: 12 })))
  fc.assert(
    fc.property(kindAndText, fc.boolean(), ([kind, pieces], isHtml) => {
      const required: readonly string[] = mailKinds[kind].required
      const text = `x${pieces.join('')}${required.map((name) => `{{${name}}}`).join('')}`
      const template = { subject: 'A', text, html: isHtml ? text : null }
      fc.pre(templateProblems(kind, template).length === 0)
      const mail = textOf(kind, template, plainLook, '<i>Acme</i>')
      expect(mail.text).not.toContain('{{')
      expect(mail.html).not.toContain('{{')
      expect(mail.html).not.toContain('<i>')
    }),
    { numRuns: 300 },
  )
})

describe('a template without HTML', () => {
  test('is shown in the frame of the built-in mails, without paragraphs whose value is empty', () => {
    const text = '{{greeting}},\n\n{{portal_url}}\n\n{{license_key}}\n\n1 < 2'
    const mail = textOf('key', { text })
    expect(mail.text).toBe('Hello Ada Example,\n\n    KEY-TEST-MAIL-NOT-A-REAL-KEY\n\n1 < 2\n')
    expect(mail.html).toContain('class="code"')
    expect(mail.html).toContain('1 &lt; 2')
  })

  test('has the logo and the footer of the vendor, which are never read as a template', () => {
    const look = {
      ...plainLook,
      replyTo: 'help@acme.example',
      footer: 'Acme {{customer_email}}\nLondon',
      logo,
    }
    const mail = textOf('expired', { text: 'Gone.' }, look)
    expect(mail.text).toBe('Gone.\n\nAcme {{customer_email}}\nLondon\n')
    expect(mail.html).toContain('<img src="cid:logo" alt="Acme"')
    expect(mail.html).toContain('Acme {{customer_email}}\nLondon</p>')
    expect(mail.replyTo).toBe('help@acme.example')
    expect(mail.logo).toBe(logo)
    expect(htmlAsPage(mail)).toContain('<img src="data:image/png;base64,iVBORw0KGgo="')
  })

  test('has the footer once, where the text has it', () => {
    const look = { ...plainLook, footer: 'London' }
    expect(textOf('expired', { text: '{{footer}}\n\nGone.' }, look).text).toBe('London\n\nGone.\n')
  })
})

test('HTML of its own is sent as it is, and the logo only with HTML that shows it', () => {
  const look = { ...plainLook, logo }
  const mail = textOf('expired', { text: 'Gone.', html: '<p>{{vendor_name}}</p>' }, look, 'A & B')
  expect(mail.html).toBe('<p>A &amp; B</p>')
  expect(mail.logo).toBeUndefined()
  expect(textOf('expired', { text: 'Gone.', html: '<img src="cid:logo">' }, look).logo).toBe(logo)
})

test("a product's own text is sent rather than a template of all products, and not rather than one of its own", () => {
  const settings = { ...usualMail.settings, text: 'Ours: {{license_key}}' }
  const input = {
    kind: 'key',
    email: 'ada@example.com',
    vendorName: 'Acme',
    portalUrl: null,
    product: sampleProduct,
    language: null,
    now: at,
  } as const
  const look = { ...plainLook, footer: 'London' }
  const write = (template: PlacedTemplate | undefined) =>
    writeTestMail(input, settings, sender, { template, look }).text
  const ours = 'Ours: KEY-TEST-MAIL-NOT-A-REAL-KEY\n\nLondon\n'
  expect(write(undefined)).toBe(ours)
  expect(write(placed({ kind: 'key', text: 'All {{license_key}}' }))).toBe(ours)
  expect(write(placed({ kind: 'key', productId: 'editor', text: 'Its {{license_key}}' }))).toBe(
    'Its KEY-TEST-MAIL-NOT-A-REAL-KEY\n\nLondon\n',
  )
})

test('the mail with a link to the portal has the same footer and logo', () => {
  const look = { ...plainLook, replyTo: 'help@acme.example', footer: 'London', logo }
  const facts = {
    to: 'a@example.com',
    vendor: 'Acme',
    supportEmail: null,
    url: 'https://a.example/l',
    minutes: 15,
  }
  const mail = writePortalMail(
    facts,
    { language: 'en', say: sayIn('en', {}), look },
    { name: null, ...sender },
  )
  expect(mail.text).toMatch(/\n\nLondon\n$/)
  expect(mail.html).toContain('cid:logo')
  expect(mail).toMatchObject({ replyTo: 'help@acme.example', logo })
})

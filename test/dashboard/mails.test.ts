/**
 * Guarantee: a member who manages products writes the texts of mails with the mail beside them, which is the one that customers get. What
 * cannot be filled in is refused with what to do; nothing of a mail runs in the page.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let client: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  client = clientOf(api.app)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, 'admin'))
})
afterAll(() => api.close())

const list = '/dashboard/settings/mails'
const own = `${list}/expiring.editor.de`
const texts = { subject: '{{product_name}} endet', text: '{{greeting}},\n\nEnde: {{expires_on}}.', html: '' }
const templates = async () =>
  (await api.ask('GET', '/v1/mail-templates', { token: tenant.token })).body as {
    templates: { id: string; subject: string }[]
  }

test('a text is written for one product in one language, and is listed', async () => {
  const empty = await client.get(own)
  expect(wordsOf(empty)).toContain('Not written yet')
  expect(await client.post(own, texts)).toMatchObject({
    status: 303,
    location: own,
  })
  expect((await templates()).templates.map(({ id }) => id)).toStrictEqual(['expiring.editor.de'])
  const listed = wordsOf(await client.get(list))
  expect(listed).toContain('Acme Editor, Deutsch')
  expect(wordsOf(await client.get(own))).not.toContain('Not written yet')
})

test('the page of another product or language is opened by its choice', async () => {
  await client.get(own)
  const chosen = { kind: 'expired', product: 'editor', language: '' }
  expect(await client.post(`${list}/open`, chosen)).toMatchObject({
    status: 303,
    location: `${list}/expired.editor.*`,
  })
})

test('the preview is the mail that customers get, saved or only typed', async () => {
  const saved = await client.get(`${own}/preview-text`)
  expect(saved.text).toContain('Acme Editor endet')
  expect(saved.text).not.toContain('{{')
  const typed = await client.post(`${own}/preview`, { ...texts, text: 'Nur {{expires_on}} <b>' })
  expect(typed.text).toContain('&lt;b&gt;')
  expect((await templates()).templates[0]?.subject).toBe(texts.subject)
  const built = await client.get(`${list}/renewal_failed.*.*/preview-text`)
  expect([built.status, built.text.includes('{{')]).toStrictEqual([200, false])
})

test('what cannot be filled in is refused in the form and in the preview, with what to do', async () => {
  const wrong = { ...texts, text: 'Ends on {{expires}}' }
  const answered = await client.post(own, wrong)
  expect([answered.status, wordsOf(answered).includes('{{expires}} does not exist')]).toStrictEqual([
    422,
    true,
  ])
  expect(answered.text).toContain('Ends on {{expires}}')
  const shown = await client.post(`${own}/preview`, wrong)
  expect([shown.status, shown.text.includes('does not exist')]).toStrictEqual([422, true])
  expect((await client.post(own, { ...texts, subject: '' })).status).toBe(422)
})

test('only the page of a text may show frames, and only what it shows may be framed', async () => {
  const policyOf = async (path: string) => {
    const { headers } = await client.get(path)
    return { policy: String(headers['content-security-policy']), frames: headers['x-frame-options'] }
  }
  const page = await policyOf(own)
  expect(page.policy).toContain("frame-src 'self'")
  expect(page.policy).toContain("frame-ancestors 'none'")
  expect((await policyOf(list)).policy).not.toContain('frame-src')
  const preview = await policyOf(`${own}/preview`)
  expect(preview).toMatchObject({ frames: 'SAMEORIGIN' })
  expect(preview.policy).toContain("default-src 'none'")
  expect(preview.policy).toContain('sandbox')
})

test('a text is removed, and mails of no name and products of others are not found', async () => {
  expect(await client.post(`${own}/remove`)).toMatchObject({ status: 303, location: list })
  expect((await templates()).templates).toStrictEqual([])
  for (const path of [
    `${list}/nothing`,
    `${list}/expiring.absent.*`,
    `${list}/expiring.editor`,
    `${list}/expiring.editor.xx`,
  ])
    expect((await client.get(path)).status).toBe(404)
})

test('what all mails have in common is saved', async () => {
  expect((await client.post(`${list}/style`, { replyTo: 'nobody', footer: '' })).status).toBe(422)
  const saved = { replyTo: 'help@example.com', footer: 'Acme Ltd\n1 High Street' }
  expect(await client.post(`${list}/style`, saved)).toMatchObject({ status: 303, location: list })
  const preview = await client.get(`${own}/preview-text`)
  expect(preview.text).toContain('1 High Street')
})

test('a support member neither reads nor writes them', async () => {
  const support = clientOf(api.app, '10.0.0.9')
  await support.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
  expect((await support.get(list)).status).toBe(403)
  expect((await support.post(own, texts)).status).toBe(403)
})

test('the service that tells of bounces is connected with its key, and its address is shown once', async () => {
  const sender = `${list}/sender`
  const operation = /name="operation" value="([^"]+)"/.exec((await client.get(sender)).text)?.[1] ?? ''
  const wrong = await client.post(sender, { operation, sender: 'resend', key: 're_123' })
  expect(wrong.status).toBe(422)
  expect(wordsOf(wrong)).toContain('begins with whsec_')
  expect(wrong.text).not.toContain('re_123')
  const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const connected = await client.post(sender, { operation, sender: 'resend', key })
  const address = /\/webhooks\/mail\/[^"<\s]+/.exec(connected.text)?.[0] ?? ''
  expect(address).toContain(`/webhooks/mail/${tenant.tenantId}?token=`)
  // The same form, sent again, shows the same address.
  expect((await client.post(sender, { operation, sender: 'resend', key })).text).toContain(address)
  const shown = await client.get(sender)
  expect(wordsOf(shown)).toContain('Resend is connected')
  for (const { text } of [shown, await client.get(list)]) {
    expect(text).not.toContain('token=')
    expect(text).not.toContain(key)
  }
  expect(await client.post(`${sender}/disconnect`, {})).toMatchObject({ status: 303, location: sender })
  expect(wordsOf(await client.get(list))).toContain('No service that tells of bounces is connected.')
})

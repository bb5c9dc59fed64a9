// cspell:ignore Guten
/**
 * Guarantee: a vendor's template is what its customers get, a preview shows it, and no other tenant's product or template is
 * reachable.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let other: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  other = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {})
})
afterAll(() => api.close())

const call = (method: 'DELETE' | 'GET' | 'POST' | 'PUT', path: string, body?: object, token = tenant.token) =>
  api.ask(method, path, { token, ...(body && { body }) })
/** What is answered, as far as these tests look at it. */
const mailOf = ({ body }: { body: unknown }) =>
  z.object({ mail: z.looseObject({ replyTo: z.string().nullable(), text: z.string() }) }).parse(body).mail
const errorOf = ({ body }: { body: unknown }) => z.object({ error: z.string() }).parse(body).error
const wording = { kind: 'expiring', subject: 'Ends {{expires_on}}', text: '{{greeting}}\n\n{{expires_on}}' }

test('a template is saved, shown, and removed, after which the mail is the built-in one', async () => {
  const saved = await call('PUT', '/v1/mail-templates', { ...wording, productId: 'editor', language: 'de' })
  expect(saved).toMatchObject({ status: 200, body: { template: { id: 'expiring.editor.de', html: null } } })
  const of = { kind: 'expiring', productId: 'editor' }
  const german = await call('POST', '/v1/mail-templates/preview', { ...of, language: 'de' })
  expect(mailOf(german).text).toMatch(/^Guten Tag Ada Example\n\n\d+\. \p{L}+ \d{4}\n$/u)
  const english = await call('POST', '/v1/mail-templates/preview', { ...of, language: 'en' })
  expect(mailOf(english).text).toContain('Hello Ada Example,')
  await call('PUT', '/v1/mail-style', { replyTo: 'help@acme.example', footer: 'London' })
  const removed = await call('DELETE', '/v1/mail-templates/expiring.editor.de')
  expect(removed).toMatchObject({ status: 200, body: { templates: [] } })
  const builtIn = await call('POST', '/v1/mail-templates/preview', { ...of, language: 'de' })
  const { replyTo, text } = mailOf(builtIn)
  expect([replyTo, text.endsWith('\n\nLondon\n')]).toStrictEqual(['help@acme.example', true])
})

test('what cannot be filled in is refused with what to do, in a preview as well', async () => {
  const draft = { subject: 'Ends', text: '{{greeting}}' }
  const message = /text must contain \{\{expires_on\}\}; add it/
  const saved = await call('PUT', '/v1/mail-templates', { ...wording, ...draft })
  expect([saved.status, errorOf(saved)]).toStrictEqual([400, expect.stringMatching(message)])
  const shown = await call('POST', '/v1/mail-templates/preview', { kind: 'expiring', template: draft })
  expect([shown.status, errorOf(shown)]).toStrictEqual([400, expect.stringMatching(message)])
})

test('a template of another tenant is 404, as one that never was', async () => {
  await call('PUT', '/v1/mail-templates', wording)
  const theirs = await call('DELETE', '/v1/mail-templates/expiring.*.*', undefined, other.token)
  const none = await call('DELETE', '/v1/mail-templates/expired.*.*')
  expect([theirs.status, theirs.body]).toStrictEqual([404, none.body])
  const foreign = await call('PUT', '/v1/mail-templates', { ...wording, productId: 'editor' }, other.token)
  expect(foreign.status).toBe(404)
})

// cspell:ignore fournisseur nçais Fini Rien
/** Languages of the portal over `/v1`: a vendor downloads the texts, adds a translation, replaces and removes it; others do not have it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { makeCustomer, makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

type Method = 'DELETE' | 'GET' | 'POST' | 'PUT'
const ask = (method: Method, path: string, body?: object) =>
  api.ask(method, `/v1${path}`, { token: tenant.token, ...(body && { body }) })
const languages = (method: Method, path = '', body?: object) => ask(method, `/portal/languages${path}`, body)
const french = { name: 'Français', texts: { signOut: 'Se déconnecter', 'mail.hello': 'Bonjour' } }

const Read = z.object({
  language: z.object({ name: z.string(), missing: z.number(), texts: z.record(z.string(), z.string()) }),
})
const read = async (tag: string) => Read.parse((await languages('GET', `/${tag}`)).body).language
const tags = async (token = tenant.token) => {
  const { body } = await api.ask('GET', '/v1/portal/languages', { token })
  const { languages: all } = z.object({ languages: z.array(z.looseObject({ tag: z.string() })) }).parse(body)
  return all.map(({ tag }) => tag)
}

test('the texts in English can be downloaded, and added as another language', async () => {
  await ask('PUT', '/portal', { enabled: true, texts: { en: { signOut: 'See you' } } })
  const { name, texts } = await read('en')
  expect([name, texts.signOut, texts['mail.hello'], texts['news.key']]).toStrictEqual([
    'English',
    'See you',
    'Hello',
    'License key',
  ])
  expect((await languages('PUT', '/en-US', { name: 'American English', texts })).status).toBe(200)
  expect(await read('en-US')).toMatchObject({ name: 'American English', missing: 0, texts })
  expect((await languages('DELETE', '/en-us')).status).toBe(200)
  expect(await tags()).toStrictEqual(['en', 'de'])
})

test('a language is added, replaced as a whole, and removed; its tag is written in one way', async () => {
  const count = Object.keys((await read('en')).texts).length
  const set = await languages('PUT', '/PT-br', { name: 'Português', texts: french.texts })
  const summary = { tag: 'pt-BR', name: 'Português', builtIn: false, missing: count - 2 }
  expect(set.body).toStrictEqual({ language: { ...summary, texts: french.texts } })
  expect((await languages('GET', '/pt-br')).body).toStrictEqual(set.body)
  const again = await languages('PUT', '/pt-BR', { name: 'Português (Brasil)', texts: {} })
  const replaced = { ...summary, name: 'Português (Brasil)', missing: count }
  expect(again.body).toStrictEqual({ language: { ...replaced, texts: {} } })
  const builtIn = [
    { tag: 'en', name: 'English', builtIn: true, missing: 0 },
    { tag: 'de', name: 'Deutsch', builtIn: true, missing: 0 },
  ]
  expect((await languages('GET')).body).toStrictEqual({ languages: [...builtIn, replaced] })
  expect((await languages('DELETE', '/pt-BR')).body).toStrictEqual({ languages: builtIn })
  for (const method of ['GET', 'DELETE'] as const)
    expect((await languages(method, '/pt-BR')).status).toBe(404)
})

test.each([
  ['a name that does not exist', { ...french, texts: { nothing: 'Rien' } }],
  ['a wrong placeholder', { ...french, texts: { licensesLead: 'De {fournisseur}' } }],
  ['a mail without its link', { ...french, texts: { mailText: 'Bonjour' } }],
  ['a control character', { ...french, texts: { signOut: 'a\u001b[2Jb' } }],
  ['a text that is too long', { ...french, texts: { signOut: 'x'.repeat(2001) } }],
  ['an empty text', { ...french, texts: { signOut: '' } }],
  ['no name', { texts: {} }],
  ['a name of two lines', { ...french, name: 'Fran\nçais' }],
  ['a field that does not exist', { ...french, builtIn: true }],
  ['a text that is no text', { ...french, texts: { signOut: 1 } }],
])('a file with %s is refused, and says what to do', async (_, body) => {
  const answer = await languages('PUT', '/fr', body)
  expect(answer.status).toBe(400)
  expect(await tags()).toStrictEqual(['en', 'de'])
})

test.each(['xx', 'french', 'fr-FR-x-private', 'zh-Hant', 'f', '%00'])('the tag %s is refused', async (tag) =>
  expect((await languages('PUT', `/${tag}`, french)).status).toBe(400),
)

test('a built-in language is neither replaced nor removed', async () => {
  expect((await languages('PUT', '/en', french)).status).toBe(409)
  expect((await languages('DELETE', '/de')).status).toBe(409)
})

test('settings, templates and invitations take the languages of the portal, and no others', async () => {
  await ask('PUT', '/portal', { enabled: true })
  const customer = await makeCustomer(api.ask, tenant.token, { email: 'team@example.com' })
  await ask('POST', `/customers/${customer}/organization`)
  const template = { kind: 'expired', language: 'fr', subject: 'Fini', text: 'Fini' }
  const people = { people: [{ email: 'ada@example.com' }], language: 'fr' }
  const all = async () => [
    (await ask('PUT', '/products/editor/mail', { language: 'fr' })).status,
    (await ask('PUT', '/mail-templates', template)).status,
    (await ask('POST', `/customers/${customer}/people`, people)).status,
  ]
  expect(await all()).toStrictEqual([422, 422, 422])
  await languages('PUT', '/fr', french)
  expect(await all()).toStrictEqual([200, 200, 200])
})

test('another tenant does not have it', async () => {
  await languages('PUT', '/fr', french)
  const other = await makeTenant(api.ledger)
  expect(await tags(other.token)).toStrictEqual(['en', 'de'])
  for (const method of ['GET', 'DELETE'] as const) {
    const at = (tag: string) => api.ask(method, `/v1/portal/languages/${tag}`, { token: other.token })
    const [foreign, absent] = [await at('fr'), await at('it')]
    expect([foreign.status, foreign.body]).toStrictEqual([404, absent.body])
  }
})

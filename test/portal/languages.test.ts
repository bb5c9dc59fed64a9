// cspell:ignore Connexion achats avril العربية تسجيل الدخول
/** Customers read pages and mails in a language that the vendor added: what it lacks is in English, and so is all once it is removed. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sayIn } from '../../src/domain/portal/texts.ts'
import { makeTenant } from '../harness/api.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { openPortalOf, openTestPortal, type TestPortal } from './customer.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
  await makeProduct(portal.api.ask, portal.tenant.token, 'editor', {
    keyTypes: [{ name: 'Pro', duration: { count: 30, unit: 'day' } }],
  })
})
afterAll(() => portal.close())

const french = {
  name: 'Français',
  texts: {
    signInTitle: 'Se connecter',
    signOut: 'Se déconnecter',
    mailSubject: 'Connexion a {vendor}',
    licensesLead: 'Vos achats chez {vendor}.',
  },
}
const arabic = { name: 'العربية', texts: { signInTitle: 'تسجيل الدخول' } }
const ask = (method: 'DELETE' | 'PUT', tag: string, body?: object) =>
  portal.api.ask(method, `/v1/portal/languages/${tag}`, {
    token: portal.tenant.token,
    ...(body && { body }),
  })
beforeEach(async () => {
  portal.api.ledger.clock.advance(3_600_000)
  for (const [tag, body] of [
    ['fr', french],
    ['ar', arabic],
  ] as const)
    expect((await ask('PUT', tag, body)).status).toBe(200)
})

test('a page is in the language, with days as its people write them, and what it lacks in English', async () => {
  const email = 'claire@example.com'
  await mint(portal.api.ask, portal.tenant.token, 'editor', { keyTypeId: 'pro', email })
  const client = await portal.signedIn(email)
  const { text } = await client.get(`${portal.home}?language=fr`)
  expect(text).toContain('<html lang="fr">')
  for (const words of ['Se déconnecter', 'Vos achats chez Acme.', sayIn('en', {})('statusActive')])
    expect(text).toContain(words)
  expect(text).toMatch(/ mars 2026| avril 2026/)
  expect((await client.get(portal.home)).text).toContain('Se déconnecter')
  await ask('DELETE', 'fr')
  const after = (await client.get(portal.home)).text
  expect(after).toContain('<html lang="en">')
  expect(after).not.toContain('Français')
})

test('every language can be chosen at the foot of a page', async () => {
  const { text } = await portal.visitor().get(`${portal.home}/sign-in?language=ar`)
  expect(text).toContain('<html lang="ar" dir="rtl">')
  expect(text).toContain('تسجيل الدخول')
  for (const [tag, name] of [
    ['en', 'English'],
    ['de', 'Deutsch'],
    ['fr', 'Français'],
  ])
    expect(text).toContain(`lang="${tag}" hreflang="${tag}">${name}</a>`)
})

test('a browser gets the language that it prefers', async () => {
  const { app } = portal.api
  const languageFor = async (accepted: string) => {
    const headers = { 'accept-language': accepted }
    const { body } = await app.inject({ method: 'GET', url: `${portal.home}/sign-in`, headers })
    return /<html lang="([^"]+)"/.exec(body)?.[1]
  }
  expect(await languageFor('nl, fr-CA;q=0.9, de;q=0.8')).toBe('fr')
  expect(await languageFor('it')).toBe('en')
})

test('the mail with the link is in the language of the page', async () => {
  const email = 'benoit@example.com'
  await mint(portal.api.ask, portal.tenant.token, 'editor', { email })
  const client = portal.visitor()
  await client.get(`${portal.home}/sign-in?language=fr`)
  await portal.linkFor(client, email)
  const raw = portal.mailsTo(email).at(-1)?.raw
  expect(raw).toContain('Subject: Connexion a Acme')
  expect(raw).toContain('<html lang=3D"fr">')
})

test('the portal of another vendor does not have it', async () => {
  const other = await makeTenant(portal.api.ledger)
  await openPortalOf(portal.api.app, other.token)
  const { text } = await portal.visitor().get(`/portal/${other.tenantId}/sign-in?language=fr`)
  expect(text).toContain('<html lang="en">')
  expect(text).not.toContain('Français')
})

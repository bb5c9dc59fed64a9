import { expect, test } from 'vitest'
import type { Client, Seen } from '../dashboard/client.ts'
import type { TestProvider } from './openid-provider.ts'

/** Pages that people sign in to at a provider, and what they do there. */
export type PagesAtProvider = {
  browser(): Client
  /** Where a sign-in begins. */
  begins(): string
  /** Goes to the provider. @returns what the provider sends the browser back with */
  answered(client: Client): Promise<URL>
  bring(client: Client, answer: URL): Promise<Seen>
  signIn(client: Client): Promise<Seen>
  isIn(client: Client): Promise<boolean>
  provider(): TestProvider
  advanceClock(ms: number): void
}

/** Expects that a sign-in is refused with this status, and the browser is not signed in. */
export const refusing =
  ({ isIn }: Pick<PagesAtProvider, 'isIn'>) =>
  async (status: number, seen: Promise<Seen>, client: Client): Promise<void> => {
    expect((await seen).status).toBe(status)
    expect(await isIn(client)).toBe(false)
  }

/** The attacks on an answer of a provider that do not depend on whom it is for; RFC 9700 and OpenID Connect Core, section 3.1.3.7. */
export function testAttacks(pages: PagesAtProvider): void {
  const { browser, begins, answered, bring, signIn } = pages
  const refusedWith = refusing(pages)

  test('an answer without the cookie of the browser that asked, and with that of another', async () => {
    const [victim, attacker] = [browser(), browser()]
    const ofAttacker = await answered(attacker)
    await refusedWith(400, bring(victim, ofAttacker), victim)
    await victim.get(begins())
    await refusedWith(400, bring(victim, ofAttacker), victim)
    // It was not used up: the browser that asked still gets in.
    expect((await bring(attacker, ofAttacker)).status).toBe(303)
  })

  test('an answer that was used before', async () => {
    const client = browser()
    const answer = await answered(client)
    const kept = new Map(client.cookies)
    expect((await bring(client, answer)).status).toBe(303)
    const again = browser()
    for (const [name, value] of kept) again.cookies.set(name, value)
    again.cookies.delete('keyledger-session')
    await refusedWith(400, bring(again, answer), again)
  })

  test('an answer after ten minutes', async () => {
    const client = browser()
    const answer = await answered(client)
    pages.advanceClock(10 * 60_000)
    await refusedWith(400, bring(client, answer), client)
  })

  test('a code that another browser was given', async () => {
    const [victim, attacker] = [browser(), browser()]
    const stolen = await answered(victim)
    const own = await answered(attacker)
    own.searchParams.set('code', stolen.searchParams.get('code') ?? '')
    await refusedWith(401, bring(attacker, own), attacker)
  })

  test('a code that was exchanged before', async () => {
    const client = browser()
    const first = await answered(client)
    expect((await bring(client, first)).status).toBe(303)
    const again = browser()
    const next = await answered(again)
    next.searchParams.set('code', first.searchParams.get('code') ?? '')
    await refusedWith(401, bring(again, next), again)
  })

  test('a code that was used up with the nonce of another browser', async () => {
    const [victim, attacker, third] = [browser(), browser(), browser()]
    const code = (await answered(victim)).searchParams.get('code') ?? ''
    for (const client of [attacker, third]) {
      const own = await answered(client)
      own.searchParams.set('code', code)
      await refusedWith(401, bring(client, own), client)
    }
  })

  test('an answer in the name of another issuer, and one that names none', async () => {
    for (const iss of ['https://another.example', null]) {
      const client = browser()
      const answer = await answered(client)
      if (iss === null) answer.searchParams.delete('iss')
      else answer.searchParams.set('iss', iss)
      await refusedWith(401, bring(client, answer), client)
    }
  })

  test.each<[string, TestProvider['tamper']]>([
    ['for another client', (claims) => ({ ...claims, aud: 'another' })],
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://another.example' })],
    ['with another nonce', (claims) => ({ ...claims, nonce: 'another' })],
    ['without a nonce', ({ nonce: _, ...claims }) => claims],
    ['that has expired', (claims) => ({ ...claims, exp: 1000, iat: 900 })],
    ['about another person than the rest', (claims) => ({ ...claims, sub: 'person-1' })],
    ['signed with another key', async (claims) => pages.provider().sign(claims, await anotherKey())],
    ['without a signature', async (claims) => unsigned(claims)],
  ])('an ID token %s', async (_, tamper) => {
    pages.provider().tamper = tamper
    const client = browser()
    await refusedWith(401, signIn(client), client)
  })

  test('what the provider itself refuses', async () => {
    const client = browser()
    const { pathname, searchParams } = await answered(client)
    const query = new URLSearchParams({
      error: 'access_denied',
      error_description: '<b>no</b>',
      state: searchParams.get('state') ?? '',
      iss: pages.provider().issuer,
    })
    const seen = await client.get(`${pathname}?${query}`)
    expect(seen.status).toBe(401)
    expect(seen.text).not.toContain('<b>no</b>')
  })
}

export async function anotherKey() {
  const { exportJWK, generateKeyPair } = await import('jose')
  return exportJWK((await generateKeyPair('RS256', { extractable: true })).privateKey)
}

export function unsigned(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part(claims)}.`
}

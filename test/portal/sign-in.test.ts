/**
 * Guarantee: only a person who reads the mailbox of a license's address, in the browser that asked, signs in to the
 * portal, once for each link. Nobody learns from an answer whether an address is known.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { sayIn } from '../../src/domain/portal/texts.ts'
import { makeTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { openPortalOf, openTestPortal, type TestPortal } from './customer.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
  await makeProduct(portal.api.ask, portal.tenant.token, 'editor')
})
afterAll(() => portal.close())
beforeEach(() => portal.api.ledger.clock.advance(3_600_000))

let people = 0
/** Somebody with a license. */
async function buyer(): Promise<string> {
  const email = `buyer-${++people}@example.com`
  await mint(portal.api.ask, portal.tenant.token, 'editor', { email })
  return email
}
const tokenOf = (link: string) => new URL(link, 'http://here').searchParams.get('token') ?? ''

describe('a portal that is not there', () => {
  test('looks the same when it is off, unknown, suspended or no id at all', async () => {
    const off = await makeTenant(portal.api.ledger)
    const suspended = await makeTenant(portal.api.ledger)
    await openPortalOf(portal.api.app, suspended.token)
    const { ports } = portal.api.ledger
    const { suspendTenant } = await import('../../src/commands/tenants.ts')
    await suspendTenant(ports, suspended.tenantId, null, origin)
    const client = portal.visitor()
    const answers = await Promise.all(
      [off.tenantId, suspended.tenantId, 'nobody', 'No-Body', '..%2f', '%00'].flatMap((id) =>
        ['', '/sign-in', '/link?token=x', '/licenses/lic_1', '/brand.css', '/logo'].map((path) =>
          client.get(`/portal/${id}${path}`),
        ),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([404]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const posted = await client.postBare(`/portal/${off.tenantId}/sign-in`, { email: 'ada@example.com' })
    expect([posted.status, posted.text]).toStrictEqual([404, answers[0]?.text])
  })
})

describe('asking for a link', () => {
  test('is answered the same for an unknown address, and mails nothing', async () => {
    const known = await buyer()
    const asked = async (email: string) => {
      const client = portal.visitor()
      await client.get(`${portal.home}/sign-in`)
      const { status, text, setCookies } = await client.post(`${portal.home}/sign-in`, { email })
      return { status, text, setCookies }
    }
    const unknown = await asked('nobody@example.com')
    expect(unknown).toStrictEqual(await asked(known))
    expect(unknown.text).toContain('Check your inbox')
    await expect.poll(() => portal.mailsTo(known)).toHaveLength(1)
    expect(portal.mailsTo('nobody@example.com')).toStrictEqual([])
  })

  test('writes as many rows for an unknown address', async () => {
    const count = async () => {
      const { rows } = await portal.api.ledger.db.query<{ n: bigint }>(
        'select count(*) as n from vault.customer_links',
      )
      return Number(rows[0]?.n)
    }
    const client = portal.visitor()
    await client.get(`${portal.home}/sign-in`)
    const before = await count()
    await client.post(`${portal.home}/sign-in`, { email: 'nobody-2@example.com' })
    expect(await count()).toBe(before + 1)
  })

  test('mails nothing to a person of the tenant without a license', async () => {
    await makeCustomer(portal.api.ask, portal.tenant.token, { email: 'prospect@example.com' })
    const before = portal.mails.length
    const client = portal.visitor()
    await client.get(`${portal.home}/sign-in`)
    await client.post(`${portal.home}/sign-in`, { email: 'prospect@example.com' })
    await portal.linkFor(portal.visitor(), await buyer())
    expect(portal.mails.slice(before).flatMap(({ to }) => to)).not.toContain('prospect@example.com')
  })

  test('shows what is wrong with an address, and keeps it', async () => {
    const client = portal.visitor()
    await client.get(`${portal.home}/sign-in`)
    const { status, text } = await client.post(`${portal.home}/sign-in`, { email: 'ada at example' })
    expect(status).toBe(422)
    expect(text).toContain('value="ada at example"')
    expect(text).toContain('aria-invalid="true"')
  })

  test('is limited for a mailbox from one network, known or not, and from all of them', async () => {
    for (const email of [await buyer(), 'stranger@example.com']) {
      const client = portal.visitor()
      await client.get(`${portal.home}/sign-in`)
      const answers: number[] = []
      for (let n = 0; n < 4; n++)
        answers.push((await client.post(`${portal.home}/sign-in`, { email })).status)
      expect(answers).toStrictEqual([200, 200, 200, 429])
      const others: number[] = []
      for (let n = 0; n < 10; n++) {
        const other = portal.visitor()
        await other.get(`${portal.home}/sign-in`)
        others.push((await other.post(`${portal.home}/sign-in`, { email })).status)
      }
      expect(others).toStrictEqual([200, 200, 200, 200, 200, 200, 200, 200, 200, 429])
    }
  })

  test('is limited for a network', async () => {
    const client = portal.visitor()
    await client.get(`${portal.home}/sign-in`)
    const answers: number[] = []
    for (let n = 0; n < 21; n++)
      answers.push((await client.post(`${portal.home}/sign-in`, { email: `n${n}@example.com` })).status)
    expect(answers).toStrictEqual([...Array.from({ length: 20 }, () => 200), 429])
  })

  test('needs the form of the same browser', async () => {
    const client = portal.visitor()
    expect((await client.postBare(`${portal.home}/sign-in`, { email: 'ada@example.com' })).status).toBe(403)
    await client.get(`${portal.home}/sign-in`)
    const token = client.formToken()
    const other = portal.visitor()
    await other.get(`${portal.home}/sign-in`)
    const taken = await other.postBare(`${portal.home}/sign-in`, { email: 'ada@example.com', _csrf: token })
    expect(taken.status).toBe(403)
    const foreign = await client.post(
      `${portal.home}/sign-in`,
      { email: 'a@example.com' },
      { 'sec-fetch-site': 'cross-site' },
    )
    expect(foreign.status).toBe(403)
  })
})

describe('a link', () => {
  test('signs in by its button, once', async () => {
    const client = portal.visitor()
    const link = await portal.linkFor(client, await buyer())
    for (const _ of [1, 2]) expect((await client.get(link)).text).toContain('It works once')
    const token = tokenOf(link)
    const signedIn = await client.post(`${portal.home}/link`, { token })
    expect([signedIn.status, signedIn.location]).toStrictEqual([303, portal.home])
    expect(signedIn.setCookies.join()).toMatch(
      /keyledger-portal-session=.*Path=\/portal\/.*HttpOnly; SameSite=Lax/,
    )
    expect((await client.get(portal.home)).text).toContain('Acme Editor')
    expect((await client.post(`${portal.home}/link`, { token })).status).toBe(410)
    expect((await client.get(link)).status).toBe(410)
  })

  test('does nothing in another browser, and stays good in its own', async () => {
    const client = portal.visitor()
    const link = await portal.linkFor(client, await buyer())
    const other = portal.visitor()
    await other.get(`${portal.home}/sign-in`)
    const seen = await other.get(link)
    expect([seen.status, seen.text.includes('only in the browser')]).toStrictEqual([409, true])
    expect((await other.post(`${portal.home}/link`, { token: tokenOf(link) })).status).toBe(409)
    expect((await other.get(portal.home)).location).toBe(`${portal.home}/sign-in`)
    expect((await client.get(link)).status).toBe(200)
  })

  test('expires after 15 minutes, also with its page open', async () => {
    const client = portal.visitor()
    const link = await portal.linkFor(client, await buyer())
    await client.get(link)
    portal.api.ledger.clock.advance(15 * 60_000)
    expect((await client.post(`${portal.home}/link`, { token: tokenOf(link) })).status).toBe(410)
  })

  test('is of one tenant: another one answers as to one that never was', async () => {
    const other = await makeTenant(portal.api.ledger)
    await openPortalOf(portal.api.app, other.token)
    const client = portal.visitor()
    const link = await portal.linkFor(client, await buyer())
    const foreign = await client.get(`/portal/${other.tenantId}/link?token=${tokenOf(link)}`)
    const never = await client.get(`/portal/${other.tenantId}/link?token=${'x'.repeat(43)}`)
    const shape = ({ status, text }: typeof foreign) => ({
      status,
      text: text.replaceAll(/token=[\w-]+/g, ''),
    })
    expect(shape(foreign)).toStrictEqual(shape(never))
    expect(foreign.status).toBe(410)
  })

  test('wins only once when it is used twice at the same moment', async () => {
    const client = portal.visitor()
    const link = await portal.linkFor(client, await buyer())
    await client.get(link)
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => client.post(`${portal.home}/link`, { token: tokenOf(link) })),
    )
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
  })

  test('goes to the address of the license, in the language of the page', async () => {
    const email = await buyer()
    const client = portal.visitor()
    await client.get(`${portal.home}/sign-in?language=de`)
    await portal.linkFor(client, email.toUpperCase())
    expect(portal.mailsTo(email).at(-1)?.to).toStrictEqual([email])
    expect(portal.mailsTo(email).at(-1)?.raw).toContain(
      `Subject: ${sayIn('de', {})('mailSubject', { vendor: 'Acme' })}`,
    )
  })

  test('is stored as a hash alone', async () => {
    const client = portal.visitor()
    const token = tokenOf(await portal.linkFor(client, await buyer()))
    const { rows } = await portal.api.ledger.db.query('select * from vault.customer_links')
    expect(JSON.stringify(rows)).not.toContain(token)
  })
})

describe('a session', () => {
  test('ends when the person signs out', async () => {
    const client = await portal.signedIn(await buyer())
    const cookies = new Map(client.cookies)
    await client.get(portal.home)
    await client.post(`${portal.home}/sign-out`)
    for (const [name, value] of cookies) client.cookies.set(name, value)
    expect((await client.get(portal.home)).location).toBe(`${portal.home}/sign-in`)
  })

  test('ends after an hour without a request, and after twelve in any case', async () => {
    const idle = await portal.signedIn(await buyer())
    portal.api.ledger.clock.advance(61 * 60_000)
    expect((await idle.get(portal.home)).status).toBe(303)
    const busy = await portal.signedIn(await buyer())
    for (let n = 0; n < 14; n++) {
      portal.api.ledger.clock.advance(50 * 60_000)
      expect((await busy.get(portal.home)).status).toBe(200)
    }
    portal.api.ledger.clock.advance(50 * 60_000)
    expect((await busy.get(portal.home)).status).toBe(303)
  })

  test('of an erased person is gone with their links, and they cannot sign in again', async () => {
    const email = await buyer()
    const client = await portal.signedIn(email)
    const link = await portal.linkFor(client, email).catch(() => '')
    const { ports } = portal.api.ledger
    const subjectId = (await ports.subjects.findSubject(portal.tenant.tenantId, email)) ?? ''
    await eraseSubject(ports, portal.tenant.tenantId, subjectId, origin)
    expect((await client.get(portal.home)).location).toBe(`${portal.home}/sign-in`)
    if (link !== '') expect((await client.get(link)).status).toBe(410)
    const { rows } = await portal.api.ledger.db.query(
      `select from vault.customer_links where subject_id = $1
       union all select from vault.customer_sessions where subject_id = $1`,
      [subjectId],
    )
    expect(rows).toStrictEqual([])
    const before = portal.mails.length
    const again = portal.visitor()
    await again.get(`${portal.home}/sign-in`)
    expect((await again.post(`${portal.home}/sign-in`, { email })).status).toBe(200)
    await portal.linkFor(portal.visitor(), await buyer())
    expect(portal.mails.slice(before).flatMap(({ to }) => to)).not.toContain(email)
  })
})

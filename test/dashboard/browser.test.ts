/**
 * Guarantee: in a real browser, with and without JavaScript, people sign in, approve, deny, create and revoke
 * tokens, and authorize devices, and requests expire. The browser reports no error and no violation of the content
 * security policy.
 */
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { addMember, issueLink } from '../../src/commands/members/members.ts'
import { deny } from '../../src/gate/approvals.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { confirmIdentity, openDashboard, signIn, type TestDashboard, type Visitor } from './dashboard.ts'
import { codesOf, type TestMember } from './members.ts'

let dashboard: TestDashboard
let owner: TestMember
const visitors: Visitor[] = []
beforeAll(async () => {
  dashboard = await openDashboard()
  await makeProduct(dashboard.api.ask, dashboard.tenant.token, 'editor', { name: 'Acme Editor' })
})
afterAll(() => dashboard.close())
beforeEach(async () => {
  dashboard.api.ledger.clock.advance(3_600_000)
  owner = await dashboard.member('owner')
})
afterEach(async () => {
  for (const { problems, close } of visitors.splice(0)) {
    await close()
    expect(problems).toStrictEqual([])
  }
})

const visit = async (javaScriptEnabled: boolean) => {
  const visitor = await dashboard.visit({ javaScriptEnabled })
  visitors.push(visitor)
  return visitor.page
}
async function visitAs(member: TestMember, javaScriptEnabled: boolean) {
  const page = await visit(javaScriptEnabled)
  await page.goto('/dashboard')
  await signIn(page, member)
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  return page
}

const Pending = z.object({ confirmation: z.object({ id: z.string(), approveUrl: z.string() }) })
const Status = z.object({ status: z.string() })

/** An API client requests to revoke a license. */
async function asksToRevoke() {
  const { api, tenant } = dashboard
  const { token } = tenant
  const { id } = await mint(api.ask, token, 'editor', { email: 'ada@example.com' })
  const { body } = await api.ask('POST', `/v1/licenses/${id}/revoke`, {
    token,
    body: { reason: 'charged back' },
  })
  const { confirmation } = Pending.parse(body)
  return {
    url: confirmation.approveUrl,
    poll: async () =>
      Status.parse((await api.ask('GET', `/v1/confirmations/${confirmation.id}`, { token })).body).status,
    run: async () => {
      const headers = { 'x-service-confirmation': confirmation.id }
      const answer = await api.ask('POST', `/v1/licenses/${id}/revoke`, {
        token,
        body: { reason: 'charged back' },
        headers,
      })
      return answer.status
    },
  }
}

/** A device requests an authorization. */
async function asksToSignIn() {
  const { api } = dashboard
  const asked = { client_name: 'keyledger on build-1', scopes: ['licenses:read', 'danger'] }
  const { body } = await api.ask('POST', '/v1/login/device', { body: asked })
  const started = z
    .object({ device_code: z.string(), user_code: z.string(), verification_uri_complete: z.string() })
    .parse(body)
  return {
    ...started,
    fetch: async () => {
      api.ledger.clock.advance(5000)
      return (await api.ask('POST', '/v1/login/device/token', { body: { device_code: started.device_code } }))
        .body
    },
  }
}

test('with JavaScript a form suggests the customers whose name is typed', async () => {
  const { api, tenant } = dashboard
  const customer = await makeCustomer(api.ask, tenant.token, {
    email: 'grace@hopper.example',
    name: 'Grace Hopper',
  })
  const page = await visitAs(owner, true)
  await page.goto('/dashboard/new-license')
  await page.getByLabel('Customer', { exact: true }).fill('hop')
  const suggested = page.locator('datalist option')
  await suggested.waitFor({ state: 'attached' })
  expect(await suggested.getAttribute('value')).toBe(customer)
  expect(await suggested.textContent()).toBe('grace@hopper.example, Grace Hopper')
})

test('members who decide see the number of pending requests in the navigation within a second, without a reload', async () => {
  const page = await visit(true)
  await page.clock.install()
  await page.goto('/dashboard')
  await signIn(page, owner)
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  let loads = 0
  page.on('load', () => loads++)
  const count = page.locator('.side nav .count')
  const { api, tenant } = dashboard
  const waiting = async () => {
    const { rows } = await api.ledger.db.query<{ count: bigint }>(
      `select count(*) from confirmations where tenant_id = $1 and status = 'pending' and expires_at > $2`,
      [tenant.tenantId, api.ledger.clock.now()],
    )
    const found = Number(rows[0]?.count)
    return found === 0 ? '' : String(found)
  }
  await expect.poll(() => count.textContent()).toBe(await waiting())
  // From here on, the page's clock advances by one second only.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 100))
  const asked = await asksToRevoke()
  await page.clock.runFor(1000)
  await expect.poll(() => count.textContent()).toBe(await waiting())
  expect(await count.isVisible()).toBe(true)
  const { pathname } = new URL(asked.url)
  const id = pathname.split('/').at(-1) ?? ''
  await deny(api.ledger.ports, tenant.tenantId, id, origin)
  await page.clock.runFor(1000)
  await expect.poll(() => count.textContent()).toBe(await waiting())
  expect(loads).toBe(0)
})

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('%s', (_, javaScript) => {
  test('a link leads to a password, an authenticator app and the dashboard', async () => {
    const { ports, clock } = dashboard.api.ledger
    const { tenantId } = dashboard.tenant
    const email = `${uniqueId('grace')}@example.com`
    const memberId = await addMember(ports, { tenantId, role: 'approver', email }, origin)
    const { secret } = await issueLink(ports, tenantId, memberId, 'invitation', origin)
    const page = await visit(javaScript)
    await page.goto(`/dashboard/welcome/${secret}`)
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    const key = ((await page.locator('form code').textContent()) ?? '').replaceAll(' ', '')
    const newCode = codesOf(key, clock)
    await page.getByLabel('New password').fill('correct horse battery staple')
    await page.getByLabel('Code', { exact: true }).fill('000000')
    await page.getByRole('button', { name: 'Set up password' }).click()
    await page.getByText('This code is wrong').waitFor()
    await page.getByLabel('New password').fill('correct horse battery staple')
    await page.getByLabel('Code', { exact: true }).fill(newCode())
    await page.getByRole('button', { name: 'Set up password' }).click()
    await page.getByText('Sign-in is set up').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn(page, { memberId, tenantId, email, password: 'correct horse battery staple', newCode })
    await page.getByRole('heading', { name: 'Home' }).waitFor()
  })

  test('after signing in, the page first requested opens', async () => {
    const { url, poll, run } = await asksToRevoke()
    const page = await visit(javaScript)
    await page.goto(url)
    await page.getByLabel('Email').fill(owner.email)
    await page.getByLabel('Password').fill('not this one at all')
    await page.getByLabel('Code', { exact: true }).fill(owner.newCode())
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Sign-in failed').waitFor()
    await signIn(page, owner)
    expect(page.url()).toBe(url)
    await page.getByText('Revoke', { exact: false }).first().waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('It runs once, when the API client repeats the request').waitFor()
    expect(await poll()).toBe('approved')
    expect(await run()).toBe(200)
    await page.goto(url)
    await page.getByText('executed', { exact: true }).waitFor()
  })

  test('a request is approved after the identity was confirmed', async () => {
    const page = await visitAs(owner, javaScript)
    dashboard.api.ledger.clock.advance(11 * 60_000)
    const { url, poll } = await asksToRevoke()
    await page.goto(url)
    await page.getByRole('button', { name: 'Approve' }).click()
    await confirmIdentity(page, owner)
    await page.waitForURL(url)
    await page.getByText('approved', { exact: true }).waitFor()
    expect(await poll()).toBe('approved')
  })

  test('a request is denied', async () => {
    const { url, poll, run } = await asksToRevoke()
    const page = await visitAs(owner, javaScript)
    await page.getByRole('link', { name: 'Approvals' }).click()
    await page
      .getByRole('link', { name: /of ada@example.com/ })
      .first()
      .waitFor()
    await page.goto(url)
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('The request will not run.').waitFor()
    expect(await poll()).toBe('denied')
    expect(await run()).toBe(403)
  })

  test('a request without a decision expires', async () => {
    const { url, poll } = await asksToRevoke()
    const page = await visitAs(owner, javaScript)
    await page.goto(url)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    dashboard.api.ledger.clock.advance(10 * 60_000)
    // With JavaScript, the page updates itself.
    if (!javaScript) await page.reload()
    await page.getByText('expired', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Deny' }).count()).toBe(0)
    expect(await poll()).toBe('expired')
  })

  test('a token is created, shown once, used, and revoked', async () => {
    const { ask } = dashboard.api
    const page = await visitAs(owner, javaScript)
    await page.getByRole('link', { name: 'API tokens' }).click()
    await page.getByRole('link', { name: 'Create token' }).click()
    const name = uniqueId('CI')
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('products:read').uncheck()
    await page.getByLabel('usage:read').check()
    await page.getByLabel('Expires after').selectOption('30 days')
    await page.getByRole('button', { name: 'Create token' }).click()
    const token = await page.getByLabel('Token', { exact: true }).inputValue()
    const verified = await ask('GET', '/v1/tokens/verify', { token })
    expect(verified.body).toMatchObject({ name, scopes: ['licenses:read', 'usage:read'] })
    await dashboard.api.ledger.ports.tokenUse.flush()
    await page.getByRole('link', { name: 'I have copied it' }).click()
    await page.getByRole('link', { name, exact: true }).click()
    expect(await page.content()).not.toContain(token)
    await page.getByText('just now').first().waitFor()
    await page.getByRole('link', { name: 'Revoke token' }).click()
    await page.getByRole('button', { name: 'Revoke token' }).click()
    await page.getByText('Token revoked').waitFor()
    expect((await ask('GET', '/v1/tokens/verify', { token })).status).toBe(401)
  })

  test('a device is authorized without danger by default', async () => {
    const program = await asksToSignIn()
    const page = await visit(javaScript)
    await page.goto(program.verification_uri_complete)
    await signIn(page, owner)
    expect(await page.getByLabel('Code').inputValue()).toBe(program.user_code)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('keyledger on build-1').first().waitFor()
    await page.getByText('127.0.0.1').waitFor()
    expect(await page.getByLabel('danger').isChecked()).toBe(false)
    expect(await page.getByLabel('licenses:read').isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.getByText('is authorized').waitFor()
    expect(await program.fetch()).toMatchObject({ scopes: ['licenses:read'] })
  })

  test('a device is authorized with danger when it is turned on', async () => {
    const page = await visitAs(owner, javaScript)
    const program = await asksToSignIn()
    await page.goto('/login')
    await page.getByLabel('Code').fill('WRNG-CODE')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('No device is waiting with this code').waitFor()
    await page.getByLabel('Code').fill(program.user_code)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('danger').check()
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.getByText('is authorized').waitFor()
    expect(await program.fetch()).toMatchObject({ scopes: ['danger', 'licenses:read'] })
  })

  test('a device is denied', async () => {
    const page = await visitAs(owner, javaScript)
    const program = await asksToSignIn()
    await page.goto(program.verification_uri_complete)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('was denied').waitFor()
    expect(await program.fetch()).toStrictEqual({ error: 'access_denied' })
  })

  test('a list is filtered', async () => {
    const page = await visitAs(owner, javaScript)
    await page.goto('/dashboard/licenses')
    await page.getByLabel('Status').selectOption('revoked')
    if (!javaScript) await page.getByRole('button', { name: 'Show' }).click()
    await page.waitForURL(/status=revoked/)
    await expect.poll(() => page.locator('#licenses .badge.good').count()).toBe(0)
  })
})

/** Virtual authenticators of the browser. */
async function authenticatorsOf(page: Page) {
  const client = await page.context().newCDPSession(page)
  await client.send('WebAuthn.enable')
  return {
    async add(transport: 'internal' | 'usb'): Promise<string> {
      const options = {
        protocol: 'ctap2',
        transport,
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      } as const
      return (await client.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId
    },
    async putAway(authenticatorId: string): Promise<void> {
      await client.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false })
    },
  }
}

describe('a passkey', () => {
  test('is created, signs in by itself, confirms, and is removed, except the last one', async () => {
    const { ports } = dashboard.api.ledger
    const { tenantId } = dashboard.tenant
    const email = `${uniqueId('linus')}@example.com`
    const memberId = await addMember(ports, { tenantId, role: 'owner', email }, origin)
    const { secret } = await issueLink(ports, tenantId, memberId, 'invitation', origin)
    const page = await visit(true)
    const authenticators = await authenticatorsOf(page)
    const first = await authenticators.add('internal')
    await page.goto(`/dashboard/welcome/${secret}`)
    await page.getByRole('button', { name: 'Create passkey' }).click()
    await page.getByText('Sign-in is set up').waitFor()
    await page.getByRole('link', { name: email }).click()
    await page.getByText('First passkey').waitFor()

    await page.getByRole('button', { name: 'Remove passkey First passkey' }).click()
    await page.getByText('your only sign-in method').waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()

    dashboard.api.ledger.clock.advance(11 * 60_000)
    const { url, poll } = await asksToRevoke()
    await page.goto(url)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: 'Confirm with a passkey' }).click()
    await page.getByText('approved', { exact: true }).waitFor()
    expect(await poll()).toBe('approved')

    // A second authenticator, because one cannot have two passkeys of the same person.
    await authenticators.putAway(first)
    await authenticators.add('usb')
    await page.goto('/dashboard/account/passkeys/new')
    await page.getByLabel('Name').fill('Blue key')
    await page.getByRole('button', { name: 'Create passkey' }).click()
    await page.getByText('Passkey added.').waitFor()
    await page.getByRole('button', { name: 'Remove passkey First passkey' }).click()
    await page.getByText('Passkey removed.').waitFor()
    await page.getByText('Blue key').waitFor()
  })

  test('of a removed member, or of another site, does not sign in', async () => {
    const page = await visit(true)
    await (await authenticatorsOf(page)).add('internal')
    await page.goto('/dashboard')
    await signIn(page, owner)
    await page.goto('/dashboard/account/passkeys/new')
    await page.getByRole('button', { name: 'Create passkey' }).click()
    await page.getByText('Passkey added.').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await dashboard.api.ledger.db.query('delete from vault.member_passkeys where member_id = $1', [
      owner.memberId,
    ])
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('Sign-in failed').waitFor()
    expect(page.url()).toContain('/dashboard/sign-in')
  })
})

/**
 * Guarantee: a person who has signed in to the portal gives an app on their device a license that they hold, by the code that the app
 * shows, and to no other app. What waits ends after ten minutes and with the decision; nobody else's license can be given.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import type { Client } from '../dashboard/client.ts'
import { makeTenant } from '../harness/api.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { fetchOf } from '../sdk/asking.ts'
import { openPortalOf, openTestPortal, type TestPortal } from './customer.ts'

let portal: TestPortal
let sdkKey: string
beforeAll(async () => {
  portal = await openTestPortal()
  sdkKey = await sdkKeyOf(portal.api.ledger, portal.tenant.tenantId)
  const { token } = portal.tenant
  await makeProduct(portal.api.ask, token, 'editor', {
    keyRecovery: true,
    keyTypes: [{ name: 'Pro', deviceLimit: 2 }],
  })
  await makeProduct(portal.api.ask, token, 'viewer', { keyRecovery: true })
  await makeProduct(portal.api.ask, token, 'forgetful', {})
})
afterAll(() => portal.close())

const Started = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri_complete: z.string(),
})

/** Calls of the app of a product. */
function appOf(productId: string, { tenantId } = portal.tenant, key = sdkKey) {
  const call = (path: string, body: object) =>
    portal.api.ask('POST', `/${tenantId}/${productId}/browser-activations${path}`, {
      headers: { 'x-service-sdk-key': key },
      body,
    })
  return {
    start: async (device_name = 'ada-laptop') => Started.parse((await call('', { device_name })).body),
    ask: (device_name = 'ada-laptop') => call('', { device_name }),
    poll: async (device_code: string) => (await call('/poll', { device_code })).body,
  }
}

const ada = 'ada@example.com'
let license: { id: string; licenseKey: string }
let person: Client
beforeEach(async () => {
  license = await mint(portal.api.ask, portal.tenant.token, 'editor', { email: ada })
  person = await portal.signedIn(ada)
})
/** Sends a form as from the page that a person has opened. */
async function send(who: Client, path: string, form: Record<string, string>) {
  await who.get(`${portal.home}/activate-app`)
  return who.post(`${portal.home}/activate-app${path}`, form)
}
const enter = (code: string, who = person) => send(who, '', { code })
const choose = (code: string, chosen: string | undefined, who = person) =>
  send(who, '/choose', { code, ...(chosen !== undefined && { license: chosen }) })

test('the app gets the license that the person chooses, as often as it asks', async () => {
  const app = appOf('editor')
  const { user_code: code, device_code, verification_uri_complete: url } = await app.start()
  expect(await app.poll(device_code)).toStrictEqual({ status: 'pending' })
  expect(new URL(url).pathname + new URL(url).search).toBe(`${portal.home}/activate-app?code=${code}`)
  expect((await person.get(`${portal.home}/activate-app?code=${code}`)).text).toContain(`value="${code}"`)
  const review = await enter(code.toLowerCase().replace('-', ' '))
  expect(review.text).toContain('ada-laptop')
  expect(review.text).toContain(license.id)
  expect(review.text).not.toContain(license.licenseKey)
  const done = await choose(code, license.id)
  expect(done.status).toBe(200)
  expect(done.text).not.toContain(license.licenseKey)
  for (const _ of ['once', 'after a lost answer'])
    expect(await app.poll(device_code)).toStrictEqual({ status: 'chosen', license_key: license.licenseKey })
  expect((await enter(code)).status).toBe(422)
})

test('a denied app gets none, and a decision is made once', async () => {
  const app = appOf('editor')
  const { user_code: code, device_code } = await app.start()
  expect((await choose(code, undefined)).status).toBe(200)
  expect(await app.poll(device_code)).toStrictEqual({ status: 'denied' })
  expect((await choose(code, license.id)).status).toBe(422)
  expect(await app.poll(device_code)).toStrictEqual({ status: 'denied' })
})

test('what waits ends after ten minutes, for the person and for the app', async () => {
  const app = appOf('editor')
  const { user_code: code, device_code } = await app.start()
  const chosen = await app.start()
  await choose(chosen.user_code, license.id)
  portal.api.ledger.clock.advance(601_000)
  expect(await app.poll(device_code)).toStrictEqual({ status: 'expired' })
  expect(await app.poll(chosen.device_code)).toStrictEqual({ status: 'expired' })
  const again = await portal.signedIn(ada)
  expect((await enter(code, again)).status).toBe(422)
})

test('only a license of the product, that the person holds, and whose key is kept', async () => {
  const { token } = portal.tenant
  const other = await mint(portal.api.ask, token, 'viewer', { email: ada })
  const foreign = await mint(portal.api.ask, token, 'editor', { email: 'eve@example.com' })
  const app = appOf('editor')
  const { user_code: code, device_code } = await app.start()
  const { text } = await enter(code)
  expect(text).not.toContain(other.id)
  expect(text).not.toContain(foreign.id)
  for (const { id } of [other, foreign]) expect((await choose(code, id)).status).toBe(422)
  expect(await app.poll(device_code)).toStrictEqual({ status: 'pending' })

  await mint(portal.api.ask, token, 'forgetful', { email: ada })
  const forgetful = await appOf('forgetful').start()
  expect((await enter(forgetful.user_code)).text).toContain('Enter a license key in the app')
})

test('a license that cannot be used any more is not given', async () => {
  const app = appOf('editor')
  const { user_code: code, device_code } = await app.start()
  await choose(code, license.id)
  await portal.api.ask('POST', `/v1/licenses/${license.id}/suspend`, { token: portal.tenant.token, body: {} })
  expect(await app.poll(device_code)).toStrictEqual({ status: 'denied' })
  await portal.api.ask('POST', `/v1/licenses/${license.id}/resume`, { token: portal.tenant.token, body: {} })
  expect(await app.poll(device_code)).toMatchObject({ status: 'chosen' })
})

test('a license that was handed on meanwhile is not given', async () => {
  const app = appOf('editor')
  const { user_code: code, device_code } = await app.start()
  await choose(code, license.id)
  const { token } = portal.tenant
  const handedOn = await portal.api.ask('PATCH', `/v1/licenses/${license.id}`, {
    token,
    body: { email: 'bob@example.com' },
  })
  expect(handedOn.status).toBe(200)
  expect(await app.poll(device_code)).toStrictEqual({ status: 'denied' })
})

test('a code of another vendor, and a poll of another product or with no code of ours, find nothing', async () => {
  const other = await makeTenant(portal.api.ledger)
  await openPortalOf(portal.api.app, other.token)
  await makeProduct(portal.api.ask, other.token, 'editor', { keyRecovery: true })
  const theirs = await appOf('editor', other, await sdkKeyOf(portal.api.ledger, other.tenantId)).start()
  expect((await enter(theirs.user_code)).status).toBe(422)
  const ours = await appOf('editor').start()
  await choose(ours.user_code, license.id)
  expect(await appOf('viewer').poll(ours.device_code)).toStrictEqual({ status: 'expired' })
  for (const code of ['', 'kl_dvc_none', 'x'.repeat(200)].slice(1))
    expect(await appOf('editor').poll(code)).toStrictEqual({ status: 'expired' })
})

test('a visitor signs in first, and finds the code filled in', async () => {
  const { user_code: code } = await appOf('editor').start()
  const visitor = portal.visitor()
  expect((await visitor.get(`${portal.home}/activate-app?code=${code}`)).location).toBe(
    `${portal.home}/sign-in`,
  )
  expect((await visitor.get(`${portal.home}/sign-in`)).text).toContain('The code of your app is kept')
  const link = await portal.linkFor(visitor, ada)
  await visitor.get(link)
  const token = new URL(link, 'http://x').searchParams.get('token') ?? ''
  const { location } = await visitor.post(`${portal.home}/link`, { token })
  expect(location).toBe(`${portal.home}/activate-app?code=${code.replace('-', '')}`)
})

test('codes cannot be guessed: a person enters twenty in a row', async () => {
  const email = 'guesser@example.com'
  await mint(portal.api.ask, portal.tenant.token, 'editor', { email })
  const who = await portal.signedIn(email)
  const answers: number[] = []
  for (let index = 0; index < 21; index++) answers.push((await enter('BBBB-BBBB', who)).status)
  expect(new Set(answers.slice(0, 19))).toStrictEqual(new Set([422]))
  expect(answers.at(-1)).toBe(429)
})

test('without a portal the app is told to ask for a key', async () => {
  const closed = await makeTenant(portal.api.ledger)
  await makeProduct(portal.api.ask, closed.token, 'editor')
  const app = appOf('editor', closed, await sdkKeyOf(portal.api.ledger, closed.tenantId))
  expect(await app.ask()).toMatchObject({
    status: 422,
    body: { error: 'this vendor has no portal; enter a license key' },
  })
})

test('the client opens the page, waits, and is licensed', async () => {
  const { tenantId } = portal.tenant
  const pages: string[] = []
  const clientFor = (decide: (code: string) => Promise<unknown>) => {
    let waits = 0
    return createClient({
      ...{ baseUrl: 'https://licenses.example.com', tenantId, productId: 'editor', sdkKey },
      storage: memoryStorage(),
      fetch: fetchOf(portal.api.ask),
      clock: {
        now: () => portal.api.ledger.clock.now().getTime(),
        after(ms, run) {
          if (ms < 15_000) void (++waits === 3 ? decide(pages.at(-1) ?? '') : Promise.resolve()).then(run)
          return () => undefined
        },
      },
    })
  }
  const show = ({ code }: { code: string }) => void pages.push(code)
  const chosen = clientFor((code) => choose(code, license.id, person))
  expect(await chosen.activateInBrowser(show)).toMatchObject({ ok: true, state: { status: 'licensed' } })
  const denied = clientFor((code) => choose(code, undefined, person))
  const refused = { ok: false, problem: { code: 'refused' }, state: { status: 'unlicensed' } }
  expect(await denied.activateInBrowser(show)).toMatchObject(refused)
  const stop = new AbortController()
  const stopped = clientFor(async () => stop.abort())
  expect(await stopped.activateInBrowser(show, stop.signal)).toMatchObject(refused)
})

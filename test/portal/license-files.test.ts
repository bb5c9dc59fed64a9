/**
 * Guarantee: where the product allows it, a person gets the license file for their machine in the portal and gives it back,
 * without a script; nobody gets one for another person's license.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import type { Keyset } from '../../src/sdk/javascript/index.ts'
import { wordsOf } from '../dashboard/forms.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { openTestPortal, type TestPortal } from './customer.ts'

let portal: TestPortal
let keys: Keyset['keys']
beforeAll(async () => {
  portal = await openTestPortal()
  const { api, tenant } = portal
  const offlineFiles = { maxDays: 90, perSeatPerYear: 2 }
  const keyTypes = [{ name: 'Pro', keyTypeId: 'pro', deviceLimit: 1, entitlements: ['export'], offlineFiles }]
  await makeProduct(api.ask, tenant.token, 'mill', { keyTypes, customerFiles: true })
  await makeProduct(api.ask, tenant.token, 'closed', { keyTypes })
  keys = ((await api.ask('GET', `/${tenant.tenantId}/.well-known/service-keys`)).body as Keyset).keys
})
afterAll(() => portal.close())

const machine = (productId = 'mill') =>
  createClient({
    tenantId: portal.tenant.tenantId,
    productId,
    keys,
    storage: memoryStorage(),
    identity: () => ({ machineHash: Buffer.from('a hash of a mill').toString('base64url') }),
    deviceName: 'Mill 3',
    clock: { now: () => portal.api.ledger.clock.now().getTime(), after: () => () => undefined },
  })

let people = 0
async function owner(productId = 'mill') {
  const email = `mill-${++people}@example.com`
  const license = await mint(portal.api.ask, portal.tenant.token, productId, { email })
  const client = await portal.signedIn(email)
  return { ...license, email, client, path: `${portal.home}/licenses/${license.id}` }
}

/** The license file on a page. */
const fileOn = (text: string) =>
  /-----BEGIN KEYLEDGER LICENSE-----[\s\S]*?-----END KEYLEDGER LICENSE-----/.exec(text)?.[0] ?? ''

test('a request is answered with a file that the machine takes, and a release frees the seat', async () => {
  const { client, path, licenseKey } = await owner()
  expect((await client.get(path)).text).toContain(`${path}/file`)
  const mill = machine()
  const request = await mill.createOfflineRequest(licenseKey)
  const answered = await client.post(`${path}/file`, { request: request.text })
  expect(answered.status).toBe(200)
  expect(wordsOf(answered)).toContain('For Mill 3, good until')
  expect(answered.text).toContain('<svg')
  expect(await mill.importLicense(fileOn(answered.text))).toMatchObject({
    ok: true,
    state: { status: 'licensed' },
  })
  const page = await client.get(path)
  expect(wordsOf(page)).toContain('keeps its seat until')
  expect(page.text).not.toContain('/free"')
  const release = await mill.release()
  expect(await client.post(`${path}/file`, { request: release?.text ?? '' })).toMatchObject({
    status: 303,
    location: `${path}?done=fileReleased`,
  })
  expect(wordsOf(await client.get(path))).toContain('No device uses this license.')
})

test('a phone that opens the address in the QR code of a request finds the license', async () => {
  const { client, path, licenseKey } = await owner()
  const { token } = await machine().createOfflineRequest(licenseKey)
  const { location = '', status } = await client.get(
    `${portal.home}/file?request=${encodeURIComponent(token)}`,
  )
  expect({ status, location }).toMatchObject({
    status: 303,
    location: expect.stringContaining(`${path}/file`) as unknown,
  })
  expect((await client.get(location)).text).toContain(token)
  const stranger = await owner()
  const lost = await stranger.client.get(`${portal.home}/file?request=${encodeURIComponent(token)}`)
  expect(lost.status).toBe(404)
  expect(wordsOf(lost)).toContain('None of your licenses has the key')
})

test('a release is taken back as a bare token too, and its QR code finds the license', async () => {
  const { client, path, licenseKey } = await owner()
  const mill = machine()
  await client.get(path)
  const answered = await client.post(`${path}/file`, {
    request: (await mill.createOfflineRequest(licenseKey)).token,
  })
  await mill.importLicense(fileOn(answered.text))
  const token = (await mill.release())?.token ?? ''
  const scanned = `${portal.home}/file?request=${encodeURIComponent(token)}`
  const { location = '' } = await client.get(scanned)
  expect(location.startsWith(`${path}/file?`)).toBe(true)
  expect((await client.get(location)).text).toContain(token)
  const stranger = await owner()
  expect((await stranger.client.get(scanned)).status).toBe(404)
  expect((await stranger.client.post(`${stranger.path}/file`, { request: token })).status).toBe(422)
  await client.get(location)
  expect(await client.post(`${path}/file`, { request: token })).toMatchObject({
    status: 303,
    location: `${path}?done=fileReleased`,
  })
  expect(wordsOf(await client.get(path))).toContain('No device uses this license.')
})

describe('a visitor who scans a text before they sign in', () => {
  /** A visitor who opens an address, and signs in by the link that they are mailed. @returns where they are led */
  async function signInFrom(address: string, email: string) {
    const client = portal.visitor()
    const first = await client.get(address)
    expect(first).toMatchObject({ status: 303, location: `${portal.home}/sign-in` })
    const link = await portal.linkFor(client, email)
    expect(link.length).toBeLessThan(200)
    await client.get(link)
    const token = new URL(link, 'http://x').searchParams.get('token') ?? ''
    return { client, first, ...(await client.post(`${portal.home}/link`, { token })) }
  }

  test.each(['/file', '/licenses/…/file'])('at %s is led to the filled-in form, once', async (page) => {
    const { email, path, licenseKey } = await owner()
    const mill = machine()
    const { token } = await mill.createOfflineRequest(licenseKey)
    const at = page === '/file' ? `${portal.home}/file` : `${path}/file`
    const {
      client,
      first,
      location = '',
    } = await signInFrom(`${at}?request=${encodeURIComponent(token)}`, email)
    expect(first.setCookies).toStrictEqual([
      expect.stringMatching(/^keyledger-portal-scanned=v4\.public\..*Max-Age=3600.*HttpOnly; SameSite=Lax$/),
    ])
    const [kept = ''] = first.setCookies
    expect(kept).toContain(`Path=${portal.home};`)
    expect(kept.length).toBeLessThan(4096)
    const { location: form = '' } = await client.get(location)
    expect(form.startsWith(`${path}/file?`)).toBe(true)
    expect((await client.get(form)).text).toContain(token)
    const answered = await client.post(`${path}/file`, { request: token })
    expect(await mill.importLicense(fileOn(answered.text))).toMatchObject({ ok: true })
    expect([...client.cookies.keys()]).not.toContain('keyledger-portal-scanned')
  })

  test('reads on the sign-in page that it is kept', async () => {
    const { licenseKey } = await owner()
    const { token } = await machine().createOfflineRequest(licenseKey)
    const client = portal.visitor()
    await client.get(`${portal.home}/file?request=${encodeURIComponent(token)}`)
    expect(wordsOf(await client.get(`${portal.home}/sign-in`))).toContain('sign in, and it is filled in')
    expect(wordsOf(await portal.visitor().get(`${portal.home}/sign-in`))).not.toContain('filled in')
  })

  test.each([
    ['an address elsewhere', 'https://evil.example/'],
    ['a path', '//evil.example'],
    ['more than a QR code holds', `v4.public.${'a'.repeat(2901)}`],
    ['nothing', ''],
  ])('with %s is led to their licenses', async (_, text) => {
    const { email } = await owner()
    const { first, location } = await signInFrom(
      `${portal.home}/file?request=${encodeURIComponent(text)}`,
      email,
    )
    expect({ location, set: first.setCookies }).toStrictEqual({ location: portal.home, set: [] })
  })

  test('is led to a page of this portal, whatever the cookie holds', async () => {
    const { email } = await owner()
    const client = portal.visitor()
    const link = await portal.linkFor(client, email)
    client.cookies.set('keyledger-portal-scanned', encodeURIComponent('https://evil.example/'))
    await client.get(link)
    const token = new URL(link, 'http://x').searchParams.get('token') ?? ''
    expect((await client.post(`${portal.home}/link`, { token })).location).toBe(portal.home)
  })
})

test('what is refused says what to do, and keeps what was typed', async () => {
  const { client, path, licenseKey } = await owner()
  const other = await owner()
  const mill = machine()
  await client.get(path)
  const answer = async (request: string) => {
    const seen = await client.post(`${path}/file`, { request })
    return { status: seen.status, words: wordsOf(seen) }
  }
  expect(await answer('hello')).toMatchObject({
    status: 422,
    words: expect.stringContaining('This is no text of this app') as unknown,
  })
  const foreign = await mill.createOfflineRequest(other.licenseKey)
  expect((await answer(foreign.text)).words).toContain('The text was made for another license key')
  expect((await client.post(`${other.path}/file`, { request: foreign.text })).status).toBe(404)
  const old = await mill.createOfflineRequest(licenseKey)
  for (let round = 0; round < 2; round++)
    expect((await answer((await mill.createOfflineRequest(licenseKey)).text)).status).toBe(200)
  expect((await answer(old.text)).words).toContain('A newer text of the device was answered')
  expect((await answer((await mill.createOfflineRequest(licenseKey)).text)).words).toContain(
    'As many files as possible were made',
  )
})

test('a product that does not allow it has no such page', async () => {
  const { client, path, licenseKey } = await owner('closed')
  const { text } = await machine('closed').createOfflineRequest(licenseKey)
  expect((await client.get(path)).text).not.toContain(`${path}/file`)
  expect((await client.get(`${path}/file`)).status).toBe(404)
  expect((await client.post(`${path}/file`, { request: text })).status).toBe(404)
})

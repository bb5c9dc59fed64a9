/**
 * Guarantee: in the portal a person sees their own licenses, frees as many seats as the product allows, names devices,
 * and gets the key by mail. Everything that they do is in the license's history, as done by them.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listDevices } from '../../projections/licenses/queries.ts'
import { dayIn } from '../../src/domain/portal/languages.ts'
import { licenseDetail } from '../../src/http/licenses/detail.ts'
import { deviceView } from '../../src/http/licenses/license.ts'
import { createMailChannel } from '../../src/mail/channel.ts'
import { explain } from '../../src/verdicts/explain.ts'
import type { Client } from '../dashboard/client.ts'
import { startDispatch, type TestDispatch } from '../harness/dispatch.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { openTestPortal, type TestPortal } from './customer.ts'

let portal: TestPortal
let dispatch: TestDispatch
beforeAll(async () => {
  portal = await openTestPortal()
  const { ports } = portal.api.ledger
  dispatch = await startDispatch(portal.api.ledger, {
    channels: { mail: createMailChannel(ports, 'https://keys.acme.example') },
  })
  const keyTypes = [
    { name: 'Pro', deviceLimit: 5, entitlements: ['export', 'sync'] },
    { name: 'Later', duration: { count: 1, unit: 'year' }, startsAt: 'first_activation' },
  ]
  await makeProduct(portal.api.ask, portal.tenant.token, 'editor', {
    keyTypes,
    customerSeatFrees: 2,
    customerKeyReplacement: true,
    keyRecovery: true,
  })
})
afterAll(async () => {
  await dispatch.stop()
  await portal.close()
})
beforeEach(() => portal.api.ledger.clock.advance(3_600_000))

const ask = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) =>
  portal.api.ask(method, path, { token: portal.tenant.token, ...(body && { body }) })

let people = 0
type Owned = { email: string; id: string; licenseKey: string; client: Client; path: string }

/** A signed-in person with a license that these devices use. */
async function owner(devices: readonly string[] = [], fields: object = {}): Promise<Owned> {
  const email = `owner-${++people}@example.com`
  const license = await mint(portal.api.ask, portal.tenant.token, 'editor', { email, ...fields })
  for (const name of devices) await activate(license.licenseKey, name)
  const client = await portal.signedIn(email)
  return { email, ...license, client, path: `${portal.home}/licenses/${license.id}` }
}

const activate = (licenseKey: string, name: string) =>
  ask('POST', '/v1/licenses/activate', {
    tenant_id: portal.tenant.tenantId,
    product_id: 'editor',
    license_key: licenseKey,
    device_id: name.toLowerCase(),
    name,
  })

/** The addresses of the devices on the page of a license. */
async function devicesOn({ client, path }: Owned): Promise<string[]> {
  const { text } = await client.get(path)
  return [...text.matchAll(/href="([^"]+\/devices\/ins_[^"/]+)\/name"/g)].map(([, href = '']) => href)
}

const History = z.object({
  items: z.array(
    z.looseObject({ event: z.string(), actor: z.looseObject({ kind: z.string(), name: z.string() }) }),
  ),
})
const historyOf = async (id: string) =>
  History.parse((await ask('GET', `/v1/licenses/${id}/history?order=oldest`)).body).items.map(
    ({ event, actor }) => [event, actor.kind, actor.name],
  )

describe('the pages', () => {
  test('show what the license allows, in plain words', async () => {
    const person = await owner(['MacBook'], { expiresAt: '2030-02-03T00:00:00Z' })
    const list = await person.client.get(portal.home)
    for (const words of [
      'Acme Editor',
      'Active',
      'Valid until 3 February 2030.',
      '1 of 5 devices',
      'help@acme.example',
    ])
      expect(list.text).toContain(words)
    const { text } = await person.client.get(person.path)
    for (const words of ['export', 'sync', 'Pro', 'MacBook', 'You can remove 2 more devices'])
      expect(text).toContain(words)
    expect(text).not.toContain(person.licenseKey)
  })

  test('say of a license whose term starts with the first activation how long it is valid from then', async () => {
    const { client, licenseKey, path } = await owner([], { keyTypeId: 'later' })
    expect((await client.get(path)).text).toContain('Valid for 1 year from the first activation.')
    await activate(licenseKey, 'MacBook')
    expect((await client.get(path)).text).toContain('Valid until ')
  })

  test('are in the language that the browser prefers, or that was chosen', async () => {
    const { client, path } = await owner([], { expiresAt: '2030-02-03T00:00:00Z' })
    const german = await client.get(path, { 'accept-language': 'fr, de-AT;q=0.9, en;q=0.8' })
    expect(german.text).toContain('<html lang="de">')
    expect(german.text).toContain(dayIn('de', '2030-02-03T00:00:00.000Z'))
    await client.get(`${path}?language=en`)
    const chosen = await client.get(path, { 'accept-language': 'de' })
    expect(chosen.text).toContain('<html lang="en">')
  })

  test('show the licenses of a customer who is that person, to see and to free seats of', async () => {
    const email = `team-${++people}@example.com`
    const customerId = await makeCustomer(portal.api.ask, portal.tenant.token, { email })
    const other = `colleague-${people}@example.com`
    const license = await mint(portal.api.ask, portal.tenant.token, 'editor', { email: other })
    await ask('POST', `/v1/customers/${customerId}/link-license`, { licenseId: license.id })
    await activate(license.licenseKey, 'Shared')
    const client = await portal.signedIn(email)
    const path = `${portal.home}/licenses/${license.id}`
    const { text } = await client.get(path)
    expect(text).toContain('Shared')
    for (const hidden of [other, 'Send the key again', 'Replace the key']) expect(text).not.toContain(hidden)
    expect((await client.post(`${path}/send-key`)).status).toBe(404)
    expect((await client.post(`${path}/replace-key`)).status).toBe(404)
    const [device = ''] = await devicesOn({ email, ...license, client, path })
    expect((await client.post(`${device}/free`)).location).toBe(`${path}?done=freed`)
  })

  test('page through many licenses', async () => {
    const person = await owner()
    for (let n = 0; n < 25; n++)
      await mint(portal.api.ask, portal.tenant.token, 'editor', { email: person.email })
    const ids = ({ text }: { text: string }) =>
      [...text.matchAll(/licenses\/(lic_\w+)"/g)].map(([, id]) => id)
    const first = await person.client.get(portal.home)
    const after = /href="([^"]+\?after=[^"]+)"/.exec(first.text)?.[1] ?? ''
    const second = await person.client.get(after)
    expect([ids(first).length, ids(second)]).toStrictEqual([25, [person.id]])
  })

  test('say what has ended', async () => {
    const { client, path, id } = await owner()
    await ask('POST', `/v1/licenses/${id}/suspend`, { reason: 'unpaid: secret note' })
    const { text } = await client.get(path)
    expect(text).toContain('Paused')
    expect(text).not.toContain('secret note')
  })
})

describe('removing a device', () => {
  test('frees its seat, and is asked for first', async () => {
    const person = await owner(['MacBook', 'Desktop'])
    const [first = ''] = await devicesOn(person)
    const question = await person.client.get(`${first}/free`)
    expect(question.text).toContain('Remove Desktop?')
    expect(await devicesOn(person)).toHaveLength(2)
    const done = await person.client.post(`${first}/free`)
    const after = await person.client.get(done.location ?? '')
    expect(after.text).toContain('The device was removed')
    expect(after.text).toContain('one more device')
    expect(await devicesOn(person)).toHaveLength(1)
    expect((await historyOf(person.id)).slice(-2)).toStrictEqual([
      ['license.deactivated', 'customer', person.email],
      ['license.seat_freed_by_customer', 'customer', person.email],
    ])
  })

  test('counts once when the form is sent twice at the same moment', async () => {
    const person = await owner(['MacBook', 'Desktop'])
    const [first = ''] = await devicesOn(person)
    await Promise.all([1, 2, 3].map(() => person.client.post(`${first}/free`)))
    const freed = (await historyOf(person.id)).filter(([type]) => type === 'license.seat_freed_by_customer')
    expect(freed).toHaveLength(1)
  })

  test('is possible as often as the product says, also with concurrent forms', async () => {
    const person = await owner(['One', 'Two', 'Three', 'Four'])
    const devices = await devicesOn(person)
    await Promise.all(devices.map((device) => person.client.post(`${device}/free`)))
    expect(await devicesOn(person)).toHaveLength(2)
    const { text } = await person.client.get(person.path)
    expect(text).toContain('The next one can be removed on')
    expect(text).not.toContain('/free"')
    portal.api.ledger.clock.advance(30 * 86_400_000)
    const later = { ...person, client: await portal.signedIn(person.email) }
    const [left = ''] = await devicesOn(later)
    await later.client.get(`${left}/free`)
    expect((await later.client.post(`${left}/free`)).location).toContain('done=freed')
  })

  test('is not offered where the product does not allow it', async () => {
    await makeProduct(portal.api.ask, portal.tenant.token, 'strict', { customerSeatFrees: 0 })
    const email = `strict-${++people}@example.com`
    const license = await mint(portal.api.ask, portal.tenant.token, 'strict', { email })
    await ask('POST', '/v1/licenses/activate', {
      tenant_id: portal.tenant.tenantId,
      product_id: 'strict',
      license_key: license.licenseKey,
      device_id: 'laptop',
    })
    const client = await portal.signedIn(email)
    const path = `${portal.home}/licenses/${license.id}`
    const [device = ''] = await devicesOn({ email, ...license, client, path })
    expect((await client.get(path)).text).toContain('To remove a device, write to support.')
    expect((await client.post(`${device}/free`)).location).toBe(`${path}?done=notPossible`)
    expect((await client.get(path)).text).toContain('1 of 1 devices')
  })
})

/** Every other view of the license's devices shows the name that the app reported, and nothing of the sealed one. */
async function showsNoSealedName({ id }: Owned) {
  const { ports } = portal.api.ledger
  const { token, tenantId } = portal.tenant
  const answers = await Promise.all([
    explain(ports, { tenantId, licenseId: id, deviceId: 'macbook' }),
    licenseDetail(ports, tenantId, id, { sequence: 2 }),
    listDevices(ports.db, id).then((devices) => devices.map(deviceView(new Map()))),
    ask('GET', `/v1/licenses/${id}`).then(({ body }) => body),
  ])
  const headers = { authorization: `Bearer ${token}` }
  const archive = await portal.api.app.inject({ url: `/v1/licenses/${id}/evidence`, headers })
  const archived = /^.*"deviceId":"macbook".*"telemetry".*$/m.exec(archive.body)?.[0]
  for (const shown of [...answers, archived]) {
    expect(JSON.stringify(shown)).toContain('MacBook')
    expect(JSON.stringify(shown)).not.toMatch(/sealed|sub_|given/)
  }
}

describe('naming a device', () => {
  test('is sealed in the log, shown to the person and to support, and can be taken back', async () => {
    const person = await owner(['MacBook'])
    const [device = ''] = await devicesOn(person)
    await person.client.get(`${device}/name`)
    const named = await person.client.post(`${device}/name`, { name: '  Ada’s <b>laptop</b>  ' })
    expect(named.location).toBe(`${person.path}?done=renamed`)
    const { text } = await person.client.get(person.path)
    expect(text).toContain('Ada’s &lt;b>laptop&lt;/b>')
    expect(text).toContain('Reported by the app: MacBook')
    const entries = []
    for await (const entry of portal.api.ledger.ports.ledger.readStream(`license-${person.id}`))
      entries.push(entry.readable ? entry.event : entry)
    expect(JSON.stringify(entries)).not.toContain('laptop</b>')
    await showsNoSealedName(person)
    expect((await historyOf(person.id)).at(-1)).toStrictEqual([
      'license.device_named',
      'customer',
      person.email,
    ])
    await person.client.post(`${device}/name`, { name: '' })
    expect((await person.client.get(person.path)).text).not.toContain('laptop&lt;')
  })

  test('does not take a seat when the app activates again', async () => {
    const person = await owner(['MacBook'])
    const [device = ''] = await devicesOn(person)
    await person.client.get(`${device}/name`)
    await person.client.post(`${device}/name`, { name: 'Work' })
    await activate(person.licenseKey, 'MacBook')
    const { text } = await person.client.get(person.path)
    expect(text).toContain('1 of 5 devices')
    expect(text).toContain('Work')
  })

  test('shows what is wrong with a name, and is limited', async () => {
    const person = await owner(['MacBook'])
    const [device = ''] = await devicesOn(person)
    await person.client.get(`${device}/name`)
    const long = await person.client.post(`${device}/name`, { name: 'x'.repeat(81) })
    expect([long.status, long.text.includes('aria-invalid="true"')]).toStrictEqual([422, true])
    // It turns the direction of what follows.
    const turned = await person.client.post(`${device}/name`, { name: 'Mac\u202exobni' })
    expect([turned.status, turned.text]).toStrictEqual([
      400,
      expect.stringContaining('This text cannot be used'),
    ])
    const answers: number[] = []
    for (let n = 0; n < 21; n++)
      answers.push((await person.client.post(`${device}/name`, { name: `Name ${n}` })).status)
    expect(answers).toStrictEqual([...Array.from({ length: 20 }, () => 303), 429])
  })
})

describe('the key', () => {
  const mailTo = (email: string, more: string) =>
    portal.mailsTo(email).filter(({ raw }) => raw.includes(more))

  test('is mailed again where it is kept, and not twice in a moment', async () => {
    const person = await owner()
    const before = await person.client.get(person.path)
    expect(before.text).toContain('We send it to o•••@example.com.')
    const sent = await person.client.post(`${person.path}/send-key`)
    expect((await person.client.get(sent.location ?? '')).text).toContain('on its way to you by email')
    await expect.poll(() => mailTo(person.email, person.licenseKey).length).toBe(1)
    const again = await person.client.post(`${person.path}/send-key`)
    expect(again.location).toBe(`${person.path}?done=keySentRecently`)
    expect((await historyOf(person.id)).at(-1)).toStrictEqual([
      'license.key_mail_asked',
      'customer',
      person.email,
    ])
  })

  test('is replaced once for a form that is sent twice; devices keep their seats', async () => {
    const person = await owner(['MacBook'])
    const form = await person.client.get(`${person.path}/replace-key`)
    const replaces = /name="replaces" value="([^"]+)"/.exec(form.text)?.[1] ?? ''
    for (const _ of [1, 2])
      expect((await person.client.post(`${person.path}/replace-key`, { replaces })).location).toBe(
        `${person.path}?done=keyReplaced`,
      )
    await expect.poll(() => mailTo(person.email, 'license key').length).toBe(1)
    expect((await historyOf(person.id)).filter(([type]) => type === 'license.reminted')).toStrictEqual([
      ['license.reminted', 'customer', person.email],
    ])
    const { text } = await person.client.get(person.path)
    expect(text).toContain('1 of 5 devices')
    expect(text).not.toContain(replaces)
  })

  test('is neither sent nor replaced where the product does not allow it', async () => {
    await makeProduct(portal.api.ask, portal.tenant.token, 'plain', {})
    const email = `plain-${++people}@example.com`
    const { id } = await mint(portal.api.ask, portal.tenant.token, 'plain', { email })
    const client = await portal.signedIn(email)
    const path = `${portal.home}/licenses/${id}`
    expect((await client.get(path)).text).not.toContain('Lost your key?')
    for (const action of ['send-key', 'replace-key'])
      expect((await client.post(`${path}/${action}`, { replaces: 'x' })).status).toBe(404)
  })
})

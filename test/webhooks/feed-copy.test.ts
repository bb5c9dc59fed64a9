/**
 * Guarantee: a copy of all licenses can be kept from the feed alone. It has every change of a license, however it came
 * about and whatever endpoints subscribe to, numbered 1, 2, 3… within the license; after each the license as
 * `GET /v1/licenses` shows it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { rebuild } from '../../projections/runner/rebuild.ts'
import { publicNameOf } from '../../src/domain/deliveries/outbox.ts'
import { LicenseEvent } from '../../src/domain/licenses/events.ts'
import {
  absentLicense,
  evolveLicense,
  type License as LicenseState,
} from '../../src/domain/licenses/license.ts'
import type { NotableEvent } from '../../src/domain/licenses/metered.ts'
import { licenseStatuses } from '../../src/domain/licenses/status.ts'
import { licenseAloneView } from '../../src/http/licenses/license.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { pointWebhook } from '../harness/dispatch.ts'
import { askApproveRepeat } from '../harness/gate.ts'
import { commandLicense, eventsIn, noProgress } from '../harness/ledger.ts'
import { importRows, makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { month, purchase } from '../sales/notifications.ts'
import { openShop, type Shop } from '../sales/shop.ts'

const License = z.looseObject({ id: z.string() })
const Entry = z.looseObject({
  id: z.string(),
  event: z.string(),
  license_id: z.string(),
  sequence: z.int(),
  license: License,
})
type Entry = z.infer<typeof Entry>
const Page = <Item extends z.ZodType>(item: Item) =>
  z.looseObject({ items: z.array(item), nextCursor: z.string().nullable() })

let api: TestApi
let shop: Shop
beforeAll(async () => {
  api = await openTestApi()
  shop = await openShop(api)
  await pointWebhook(api.ledger, shop.tenantId, 'https://public.example.com/hook', {
    events: ['license.revoked'],
  })
  await makeProduct(api.ask, shop.token, 'app', {
    keyTypes: [
      { name: 'Pro', keyTypeId: 'pro', deviceLimit: 3, entitlements: ['pro'] },
      { name: 'Updated', keyTypeId: 'updated', updates: { count: 1, unit: 'year' } },
      {
        name: 'Soft',
        keyTypeId: 'soft',
        onExpiry: 'fallback',
        duration: { count: 1, unit: 'month' },
        fallbackEntitlements: ['basic'],
      },
      {
        name: 'Farm',
        deviceLimit: 3,
        seatPolicy: 'floating',
        floatingSeats: { seatSeconds: 600, overdraft: null, scope: 'device', relays: { maxDays: 9 } },
      },
      { name: 'Later', duration: { count: 1, unit: 'month' }, startsAt: 'first_activation' },
      {
        name: 'People',
        deviceLimit: 2,
        namedSeats: { devicesPerPerson: 1, reassignEveryDays: 30 },
      },
      {
        name: 'Shared',
        deviceLimit: 1,
        floatingSeats: { seatSeconds: 600, overdraft: null, scope: 'device' },
      },
    ],
  })
  await soldLicenses()
  await vendorsLicenses()
  await importedLicenses()
  await customersLicenses()
  for (const { id } of await readAll('/v1/licenses', License)) await expire(id)
}, 240_000)
afterAll(() => api.close())

async function send(method: 'GET' | 'PATCH' | 'POST', url: string, body?: unknown): Promise<unknown> {
  const answer = await api.ask(method, url, { token: shop.token, body })
  if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.text}`)
  return answer.body
}
const gated = (url: string, body?: unknown) =>
  askApproveRepeat(api, shop, 'POST', url, { ...(body !== undefined && { body }) })
const now = () => api.ledger.ports.now().toISOString()
const later = (ms: number) => new Date(api.ledger.clock.now().getTime() + ms).toISOString()
const day = 86_400_000
const device = (deviceId: string) => ({
  deviceId,
  instanceId: `ins_${deviceId}`,
  installId: null,
  name: deviceId,
  platform: null,
  at: now(),
})
const activate = (id: string, deviceId: string) =>
  commandLicense(api.ledger, id, { type: 'ActivateDevice', ...device(deviceId) })
const identify = (id: string, deviceId: string, mac: string) => {
  const identity = { subjectId: 'sub_tenant', machine: 'image', components: { mac } }
  const claim = { instanceId: null, installId: null, name: null, identities: [identity] }
  return commandLicense(api.ledger, id, { type: 'IdentifyDevice', deviceId, claim, at: now() })
}
/** What is told of a meter: a correction, a threshold and a closed period. */
async function useMeter(id: string): Promise<void> {
  const period = { startsAt: now(), endsAt: null }
  const sums = { used: '8', remaining: '2', overage: '0' }
  const noted: NotableEvent[] = [
    { type: 'UseCorrected', data: { key: 'k', amount: '1', to: {}, period, reason: 'twice', at: now() } },
    { type: 'ThresholdReached', data: { percent: 80, ...sums, period, at: now() } },
    { type: 'PeriodClosed', data: { period, endedAt: now(), used: '8', from: { included: '8' }, at: now() } },
  ]
  for (const [meterRevision, event] of noted.entries()) {
    const of = { meter: 'calls', unit: 'calls', customerId: null, meterRevision, mail: false }
    await commandLicense(api.ledger, id, { type: 'NoteUsage', ...of, noted: event })
  }
}
/** A device without a network gets a license file, and gives it back. */
async function carryFile(id: string): Promise<void> {
  const request = { deviceKey: 'key', nonce: 'nonce', counter: 1 }
  const claim = { instanceId: null, installId: null, name: 'Mill', identities: [] }
  const rules = { seconds: day / 1000, perSeatPerYear: 4 }
  const seat = { instanceId: 'ins_mill', platform: null, claim, atLeast: null, at: now() }
  const events = await commandLicense(api.ledger, id, {
    type: 'IssueFile',
    fileId: 'fil_mill',
    request,
    ...rules,
    ...seat,
  })
  const issued = events.find(({ type }) => type === 'LicenseFileIssued')
  const serial = issued && 'serial' in issued.data ? issued.data.serial : 0
  const release = { instanceId: 'ins_mill', deviceKey: 'key', serial, fence: null, at: now() }
  await commandLicense(api.ledger, id, { type: 'ReleaseFile', ...release })
}
/** A relay is enrolled, renewed and copied; another gives its seats back. */
async function runRelays(id: string): Promise<void> {
  const heads = [{ length: 0, hash: '0'.repeat(64) }] as const
  const asked = { relayId: null, name: 'Farm', seats: 1, heads }
  const certify = (publicKey: string, counter: number, nonce: string) =>
    commandLicense(api.ledger, id, {
      type: 'CertifyRelay',
      newId: `rel_${publicKey}`,
      request: { ...asked, publicKey, counter, nonce },
      seconds: day / 1000,
      at: now(),
    })
  await certify('one', 1, 'first')
  await certify('one', 2, 'second')
  await certify('one', 2, 'of a copy')
  await certify('two', 1, 'third')
  const release = { relayId: 'rel_two', publicKey: 'two', heads }
  await commandLicense(api.ledger, id, { type: 'ReleaseRelay', release, at: now() })
}
/** Two people are given seats, of whom one gets a new key and loses the seat with a device. */
async function seatPeople(id: string): Promise<void> {
  const key = (number: number) => ({
    ...{ keyId: `pky_${number}`, keyHash: String(number).repeat(64), displayKey: `ACME…000${number}` },
  })
  for (const number of [1, 2])
    await commandLicense(api.ledger, id, {
      ...{ type: 'AssignSeat', personId: `per_${number}`, key: key(number), isVendor: false, at: now() },
    })
  const person = { personId: 'per_1', at: now() }
  await commandLicense(api.ledger, id, { type: 'ActivateDevice', ...device('tablet'), ...person })
  await commandLicense(api.ledger, id, { type: 'ReplacePersonalKey', ...person, key: key(3) })
  await commandLicense(api.ledger, id, { type: 'UnassignSeat', ...person })
}
const expire = (id: string) => commandLicense(api.ledger, id, { type: 'EndPaidPeriod', at: now() })

async function vendorsLicenses(): Promise<void> {
  const body = { productId: 'app', email: 'ada@example.com', metadata: { order: '1' } }
  const twice = { token: shop.token, body, headers: { 'idempotency-key': 'once' } }
  await api.ask('POST', '/v1/licenses', twice)
  await api.ask('POST', '/v1/licenses', twice)

  const edited = await mint(api.ask, shop.token, 'app', { email: 'bob@example.com', keyTypeId: 'pro' })
  const url = `/v1/licenses/${edited.id}`
  for (const deviceId of ['laptop', 'desktop', 'phone']) await activate(edited.id, deviceId)
  for (const mac of ['one', 'two', 'one']) await identify(edited.id, 'laptop', mac)
  await commandLicense(api.ledger, edited.id, { type: 'DeactivateDevice', deviceId: 'phone', at: now() })
  await carryFile(edited.id)
  await send('PATCH', url, { expiresAt: later(day), metadata: { order: '2' }, reason: 'a favor' })
  await send('PATCH', url, { email: 'eve@example.com', deviceLimit: 9 })
  await send('POST', `${url}/suspend`, { reason: 'unpaid' })
  await send('POST', `${url}/remint`, { keepDevices: true })
  await runRelays((await mint(api.ask, shop.token, 'app', { keyTypeId: 'farm' })).id)
  const reminted = await mint(api.ask, shop.token, 'app', { email: 'joe@example.com' })
  await activate(reminted.id, 'laptop')
  await send('POST', `/v1/licenses/${reminted.id}/remint`, { sendKey: true })

  await seatPeople((await mint(api.ask, shop.token, 'app', { keyTypeId: 'people' })).id)
  const started = await mint(api.ask, shop.token, 'app', { keyTypeId: 'later' })
  await activate(started.id, 'laptop')
  await mint(api.ask, shop.token, 'app', { keyTypeId: 'later' })
  const [soft, hard] = [
    await mint(api.ask, shop.token, 'app', { keyTypeId: 'soft' }),
    await mint(api.ask, shop.token, 'app', { expiresAt: later(2 * day) }),
  ]
  api.ledger.clock.advance(40 * day)
  const notice = { type: 'NoticeExpiry', days: [14, 3], mail: false, at: now() } as const
  await commandLicense(api.ledger, started.id, { ...notice, at: later(-15 * day) })
  for (const { id } of [edited, soft, hard]) await expire(id)
  await send('POST', `${url}/resume`)
  await send('PATCH', `/v1/licenses/${hard.id}`, { expiresAt: later(day) })

  const shared = await mint(api.ask, shop.token, 'app', { keyTypeId: 'shared' })
  await activate(shared.id, 'laptop')
  await commandLicense(api.ledger, shared.id, { type: 'NoteExhausted', waiting: 1, at: now() })
  await useMeter(shared.id)
  const found = { rule: 'networks', count: 5, limit: 3, day: now().slice(0, 10) } as const
  await commandLicense(api.ledger, shared.id, { type: 'NoticeSharing', ...found, suspend: false, at: now() })
  await commandLicense(api.ledger, shared.id, {
    type: 'AllowSharing',
    allowed: true,
    reason: null,
    at: now(),
  })
  const revoked = await mint(api.ask, shop.token, 'app')
  await gated(`/v1/licenses/${revoked.id}/revoke`, { reason: 'by mistake' })
  await gated(`/v1/licenses/${revoked.id}/reinstate`)
  const held = await mint(api.ask, shop.token, 'app')
  await send('POST', `/v1/licenses/${held.id}/suspend`)
}

async function importedLicenses(): Promise<void> {
  const devices = [{ deviceId: 'old', name: 'Old Mac' }]
  const rows = [
    { licenseKey: 'IMPORTED-0001', email: 'ada@example.com', devices, metadata: { from: 'elsewhere' } },
    { licenseKey: 'IMPORTED-0002', devices },
    { licenseKey: 'IMPORTED-0003', status: 'revoked' },
  ]
  const { results } = await importRows(api.ask, shop.token, 'app', rows)
  expect(await importRows(api.ask, shop.token, 'app', rows)).toMatchObject({ imported: 0 })
  await gated(`/v1/licenses/${results[1]?.id}/take-back-import`)
}

async function soldLicenses(): Promise<void> {
  const ada = purchase('ada')
  await shop.tell(ada.sold())
  await shop.tell(ada.sold())
  await shop.tell(ada.failed('in_1'))
  await shop.tell(ada.renewed('in_1', month.second))
  await shop.tell(ada.refunded('re_1', 4900, 'in_1'))
  const disputed = purchase('disputed')
  await shop.tell(disputed.sold())
  await shop.tell(disputed.dispute('dispute_lost'))
  await shop.tell(disputed.dispute('dispute_won'))
  const ended = purchase('ended', { sold: { productId: 'editor', keyTypeId: 'forever' }, quantity: 2 })
  await shop.tell(ended.sold())
  await shop.tell(ended.ended(month.second))
  const updated = purchase('updated', { sold: { productId: 'app', keyTypeId: 'updated' } })
  await shop.tell(updated.sold())
  await shop.tell(updated.renewed('in_2', month.second))
  await send('POST', '/v1/products/editor/test-mode', {
    publishableKey: 'pk_test_1',
    secretKey: 'sk_test_1',
  })
  await shop.tell(purchase('tested', { test: true }).sold())
}

async function customersLicenses(): Promise<void> {
  const customerId = await makeCustomer(api.ask, shop.token, { email: 'eli@example.com' })
  const { id } = await mint(api.ask, shop.token, 'app', { email: 'eli@example.com' })
  const license = { licenseId: id, reason: 'called' }
  await send('POST', `/v1/customers/${customerId}/link-license`, license)
  await send('PATCH', `/v1/customers/${customerId}/entitlements`, {
    overrides: [{ entitlement: 'export', effect: 'grant' }],
  })
  const other = await mint(api.ask, shop.token, 'app', { customerId })
  await send('POST', `/v1/customers/${customerId}/unlink-license`, { licenseId: other.id })
  await activate(id, 'laptop')
  const name = await api.ledger.ports.subjects.sealPerson(shop.tenantId, 'eli@example.com', 'Mine')
  const given = { subjectId: name?.subjectId ?? '', text: name?.name ?? '' }
  await commandLicense(api.ledger, id, { type: 'NameDevice', deviceId: 'laptop', name: given, at: now() })
  await commandLicense(api.ledger, id, { type: 'FreeSeat', deviceId: 'laptop', most: 2, at: now() })
  await askApproveRepeat(api, shop, 'DELETE', `/v1/customers/${customerId}`)
}

/** All items of a list, page by page. */
async function readAll<Item extends z.ZodType>(path: string, item: Item): Promise<z.infer<Item>[]> {
  const items: z.infer<Item>[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page: { items: z.infer<Item>[]; nextCursor: string | null } = Page(item).parse(
      await send('GET', `${path}?limit=7${query}`),
    )
    items.push(...page.items)
    cursor = page.nextCursor
  }
  return items
}
const readFeed = () => readAll('/v1/events', Entry)

/** The licenses as a reader of the feed keeps them. */
const copyFrom = (feed: readonly Entry[]): Map<string, object> =>
  new Map(feed.map(({ license_id, license }) => [license_id, license]))

test('the copy equals the list of licenses in all but the entitlements', async () => {
  const licenses = await readAll('/v1/licenses', License)
  const copy = copyFrom(await readFeed())
  expect(copy.size).toBe(licenses.length)
  for (const { entitlements: _, ...license } of licenses) {
    expect(copy.get(license.id)).toStrictEqual(license)
  }
  expect(new Set(licenses.map(({ status }) => status))).toStrictEqual(new Set(licenseStatuses))
})

test('each license is issued once, under one name, and numbered without a gap', async () => {
  const feed = await readFeed()
  expect(new Set(feed.map(({ id }) => id)).size).toBe(feed.length)
  for (const entries of Map.groupBy(feed, ({ license_id }) => license_id).values()) {
    expect(entries.map(({ sequence }) => sequence)).toStrictEqual(entries.map((_, index) => index + 1))
    const [first, ...others] = entries.map(({ event }) => event)
    const { source } = z.object({ source: z.string() }).parse(entries[0]?.license)
    expect(first).toBe(source === 'api' || source === 'import' ? 'license.issued' : 'license.created')
    expect(others.filter((name) => name === 'license.created' || name === 'license.issued')).toStrictEqual([])
  }
  const issued = feed.filter(({ event }) => event === 'license.issued')
  expect(new Set(issued.map(({ source }) => source))).toStrictEqual(new Set(['api', 'import']))
  expect(issued.every((entry) => !('key' in entry))).toBe(true)
})

test('an event without an entry changes nothing that a license shows', async () => {
  const silent = new Set<string>()
  const all = new Set<string>()
  for (const id of copyFrom(await readFeed()).keys()) {
    let license: LicenseState = absentLicense
    for (const entry of await eventsIn(api.ledger.ports.ledger, `license-${id}`)) {
      if (!entry.readable || entry.category !== 'license') throw new Error('unreadable')
      const { event } = entry
      const before = license
      license = evolveLicense(before, event)
      all.add(event.type)
      if (publicNameOf(event) !== undefined) continue
      silent.add(event.type)
      expect(shown(license)).toStrictEqual(shown(before))
    }
  }
  // So that an event of a new type has its entry, or is known to need none.
  const types = LicenseEvent.options.map(({ shape }) => shape.type.value)
  expect([...all].sort()).toStrictEqual(types.toSorted())
  expect([...silent].sort()).toStrictEqual([
    'DeviceIdentified',
    'DeviceInTwoPlaces',
    'DeviceNamed',
    'KeyMailAsked',
    'LicenseFileIssued',
    'LicenseFileReleased',
    'PersonalKeyReplaced',
    'ReasonGiven',
    'RelayEnrolled',
    'RelayReleased',
    'RelayRenewed',
    'SaleFollowed',
    'SeatFreedByCustomer',
    'UsageAdjusted',
  ])
})

const shown = (license: LicenseState) =>
  license.status === 'absent' ? undefined : licenseAloneView(license, license.holder?.email ?? null, now())

test('the feed has no address of an erased person, and an event for the erasure', async () => {
  const feed = await readFeed()
  expect(JSON.stringify(feed)).not.toContain('eli@example.com')
  expect(feed.filter(({ event }) => event === 'license.holder_erased')).not.toHaveLength(0)
})

test('a rebuild gives the same feed, since it follows from the log alone', async () => {
  const before = await readFeed()
  await rebuild(api.ledger.db, api.ledger.ports.ledger, noProgress)
  expect(await readFeed()).toStrictEqual(before)
})

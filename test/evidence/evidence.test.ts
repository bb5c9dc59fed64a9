/**
 * An archive of evidence holds everything that is known of a license and is the same each time. A script
 * verifies it with only the public key, and detects any changed byte.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { signingKeyOf } from '../../src/commands/signing-keys.ts'
import { lineFiles, zipped } from '../../src/evidence/zip.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { pointWebhook, startDispatch } from '../harness/dispatch.ts'
import { askApproveRepeat } from '../harness/gate.ts'
import { commandLicense, eventsIn, origin } from '../harness/ledger.ts'
import { startStandIn } from '../harness/stand-in.ts'
import { waitMs } from '../harness/time-limits.ts'
import { mint } from '../http/samples.ts'
import { purchase } from '../sales/notifications.ts'
import { openShop, type Shop } from '../sales/shop.ts'

const script = join(import.meta.dirname, '../../docs/reference/verify-evidence.mjs')
const Manifest = z.looseObject({
  revision: z.int(),
  files: z.array(z.strictObject({ name: z.string(), size: z.int(), sha256: z.string() })),
})
type Verify = (archive: Buffer, publicKey: string) => unknown
const Script = z.object({ verifyEvidence: z.custom<Verify>((value) => typeof value === 'function') })

let api: TestApi
let shop: Shop
let verify: Verify
let publicKey: string
let licenseId: string
let archive: Buffer
let files: Map<string, string>
beforeAll(async () => {
  const module: unknown = await import(pathToFileURL(script).href)
  verify = Script.parse(module).verifyEvidence
  api = await openTestApi()
  shop = await openShop(api)
  licenseId = await liveThrough()
  publicKey = (await signingKeyOf(api.ledger.ports, shop.tenantId, origin)).publicKey
  archive = await take(licenseId)
  files = unzip(archive)
})
afterAll(() => api.close())

/**
 * A sale with its mail and webhook deliveries, a device, an approved revocation, a refund. @returns its
 * license
 */
async function liveThrough(): Promise<string> {
  const receiver = await startStandIn(() => ({ status: 200, body: {} }))
  const mail = { deliver: async () => ({ outcome: 'delivered', status: 250, excerpt: 'ok' }) as const }
  const dispatch = await startDispatch(api.ledger, { channels: { mail } })
  await pointWebhook(api.ledger, shop.tenantId, `${receiver.url}/hook`)
  const { sold, refunded } = purchase('evidence', { sold: { productId: 'editor', keyTypeId: 'forever' } })
  await shop.tell(sold())
  const [{ licenseId: id } = { licenseId: '' }] = await shop.sales()
  await activate(id, 'laptop')
  const body = { reason: 'charged back' }
  expect((await askApproveRepeat(api, shop, 'POST', `/v1/licenses/${id}/revoke`, { body })).status).toBe(200)
  await shop.tell(refunded('re_1'))
  const delivered = async () => {
    const { db } = api.ledger
    const all = await db.query(`select from deliveries where license_id = $1 and status = 'delivered'`, [id])
    return all.rowCount
  }
  // The mail, and the events created, activated, revoked and refunded.
  await vi.waitFor(async () => expect(await delivered()).toBe(5), { timeout: waitMs, interval: 20 })
  await dispatch.stop()
  await receiver.close()
  return id
}

const activate = (id: string, device: string) =>
  commandLicense(api.ledger, id, {
    type: 'ActivateDevice',
    deviceId: device,
    instanceId: `ins_${device}`,
    installId: null,
    name: `<b>${device}</b>`,
    platform: null,
    at: api.ledger.clock.now().toISOString(),
  })

async function take(id: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${shop.token}` }
  const answer = await api.app.inject({ method: 'GET', url: `/v1/licenses/${id}/evidence`, headers })
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['content-type']).toBe('application/zip')
  return answer.rawPayload
}

/** The files by name, read by the directory at the end, as any zip program does. */
function unzip(zip: Buffer): Map<string, string> {
  const end = zip.length - 22
  const found = new Map<string, string>()
  for (let at = zip.readUInt32LE(end + 16), left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const nameLength = zip.readUInt16LE(at + 28)
    const name = zip.subarray(at + 46, at + 46 + nameLength).toString()
    const begins = zip.readUInt32LE(at + 42) + 30 + nameLength
    found.set(name, zip.subarray(begins, begins + zip.readUInt32LE(at + 24)).toString())
    at += 46 + nameLength
  }
  return found
}

const Recorded = z.looseObject({ stream: z.string(), revision: z.int(), type: z.string() })
const recordedIn = (name: string) =>
  (files.get(name) ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => Recorded.parse(JSON.parse(line)))

describe('the archive', () => {
  test('is verified by the script, and names every file that is in it', () => {
    const manifest = Manifest.parse(verify(archive, publicKey))
    expect(manifest.files.map(({ name }) => name)).toStrictEqual([...files.keys()].slice(0, -2))
    expect([...files.keys()]).toStrictEqual([
      'README.txt',
      'license.json',
      'devices-0001.jsonl',
      'history-0001.jsonl',
      'sale.json',
      'notifications/0001.txt',
      'notifications/0002.txt',
      'notifications.json',
      'deliveries-0001.jsonl',
      'usage.json',
      'events/license-0001.jsonl',
      'events/sale-0001.jsonl',
      'events/notices-0001.jsonl',
      'events/customer-0001.jsonl',
      'events/confirmations-0001.jsonl',
      'events/deliveries-0001.jsonl',
      'summary.html',
      'manifest.json',
      'signature.json',
    ])
  })

  test('is the same each time', async () => {
    expect((await take(licenseId)).equals(archive)).toBe(true)
  })

  test('holds every event of the license, its sale and its deliveries with stream and revision', async () => {
    const recorded = await eventsIn(api.ledger.ports.ledger, `license-${licenseId}`)
    expect(
      recordedIn('events/license-0001.jsonl').map(({ revision, type }) => [revision, type]),
    ).toStrictEqual(recorded.map((entry) => [entry.revision, entry.readable ? entry.event.type : '']))
    const typesIn = (name: string) => recordedIn(name).map(({ type }) => type)
    expect(typesIn('events/sale-0001.jsonl')).toContain('SaleRefunded')
    expect(typesIn('events/confirmations-0001.jsonl')).toContain('ConfirmationExecuted')
    const deliveries = recordedIn('events/deliveries-0001.jsonl')
    expect(new Set(deliveries.map(({ stream }) => stream)).size).toBe(5)
  })

  test('holds the notifications as they came', () => {
    expect(files.get('notifications/0001.txt')).toContain('"type":"sold"')
    expect(files.get('notifications/0002.txt')).toContain('"refundId":"re_1"')
  })

  test('never holds a key, nor what a key could be guessed by', async () => {
    const { id, licenseKey } = await mint(api.ask, shop.token, 'editor')
    const text = (await take(id)).toString('latin1')
    expect(text).not.toContain(licenseKey)
    expect(text).not.toContain('keyHash')
    expect(archive.toString('latin1')).not.toContain('keyHash')
  })

  test('has a summary in plain words, without scripts and external resources', () => {
    const page = files.get('summary.html') ?? ''
    for (const words of ['evidence@example.com', '$49.00', 'charged back', 'activated', 'Full refund']) {
      expect(page).toContain(words)
    }
    expect(page).toContain('&lt;b>laptop')
    expect(page).not.toMatch(/<script|src=|href=|url\(|<b>/)
  })

  test('is in the audit log before it is returned', async () => {
    const { rows } = await api.ledger.db.query(
      `select from audit where tenant_id = $1 and target_kind = 'evidence'`,
      [shop.tenantId],
    )
    expect(rows.length).toBeGreaterThan(0)
  })
})

describe('the script finds', () => {
  const isRefused = (changed: Buffer, key = publicKey) => {
    try {
      verify(changed, key)
      return false
    } catch {
      return true
    }
  }

  test('any byte that was changed', () => {
    const anyByte = fc.tuple(fc.nat({ max: archive.length - 1 }), fc.integer({ min: 1, max: 255 }))
    fc.assert(
      fc.property(anyByte, ([at, bits]) => {
        const changed = Buffer.from(archive)
        changed.writeUInt8(changed.readUInt8(at) ^ bits, at)
        expect(isRefused(changed)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('anything cut off, inserted or appended', () => {
    const anyPlace = fc.nat({ max: archive.length - 1 })
    fc.assert(
      fc.property(anyPlace, fc.uint8Array({ minLength: 1, maxLength: 9 }), (at, bytes) => {
        const [before, behind] = [archive.subarray(0, at), archive.subarray(at)]
        expect(isRefused(before)).toBe(true)
        expect(isRefused(Buffer.concat([before, bytes, behind]))).toBe(true)
        expect(isRefused(Buffer.concat([archive, bytes]))).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  test('an archive rebuilt with other contents, and one that is not the vendor’s', async () => {
    const forged = async function* () {
      for (const [name, content] of files) {
        yield { name, content: Buffer.from(name === 'sale.json' ? content.replace('4900', '9900') : content) }
      }
    }
    const chunks: Buffer[] = []
    for await (const chunk of zipped(forged())) chunks.push(chunk)
    expect(isRefused(Buffer.concat(chunks))).toBe(true)
    const stranger = await openShop(api)
    const other = await signingKeyOf(api.ledger.ports, stranger.tenantId, origin)
    expect(isRefused(archive, other.publicKey)).toBe(true)
  })
})

test('of a long history no more than 500 lines are in memory at once', async () => {
  const numbers = async function* () {
    for (let number = 0; number < 1100; number++) yield { number }
  }
  const sizes: [string, number][] = []
  for await (const { name, content } of lineFiles('events/license', numbers())) {
    sizes.push([name, content.toString().trimEnd().split('\n').length])
  }
  expect(sizes).toStrictEqual([
    ['events/license-0001.jsonl', 500],
    ['events/license-0002.jsonl', 500],
    ['events/license-0003.jsonl', 100],
  ])
})

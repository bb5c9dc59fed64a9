import { randomBytes, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { openRawLog } from '../../src/ledger/raw/log.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { commandLicense } from '../harness/ledger.ts'
import { startNotary, testCause } from '../harness/notary.ts'
import { importAsBefore } from '../harness/old-import.ts'
import { importRows, makeProduct, mint } from '../http/samples.ts'
import { keysOf, kidOf } from './keys.ts'
import { EventRecord, recordLeaf } from './record.ts'
import { type Tree, treeOf } from './tree.ts'

/** What the ledger gave out, and everything that the forger has beside it: the whole log, and the keys of a tenant of its own. */
export type Genuine = {
  /** By what the license is. */
  archives: Map<string, Buffer>
  receipts: string[]
  /** Checkpoints that a reader may have kept, the oldest first. */
  kept: string[]
  /** The log at its last checkpoint. */
  checkpoint: string
  records: EventRecord[]
  tree: Tree
  /** The public key of the log. */
  key: string
  /** The signing key of the vendor whose licenses the archives are of, in base64. */
  vendorKey: string
  /** A tenant of the same installation, whose signing key the forger has. */
  hostile: { tenantId: string; seed: number }
  /** The address of the server. */
  address: string
  close: () => Promise<void>
}

const hostileSeed = 66

const PublicLog = z.object({ keys: z.array(z.string()).min(1) })

export async function makeGenuine(): Promise<Genuine> {
  const api = await openTestApi()
  const notary = startNotary(api.ledger)
  const vendor = await makeTenant(api.ledger)
  const other = await makeTenant(api.ledger)
  const hostile = await makeTenant(api.ledger)
  await appendHostileKey(api, hostile.tenantId)
  const ids = await makeLicenses(api, vendor)
  await notary.upToDate()
  const first = await textOf(api, '/v1/transparency/checkpoint')
  // More than one tile of leaves.
  await appendSeats(api, await oldImport(api, vendor, 'OLD-4711-0003'), 240)
  const foreign = await makeProductAndMint(api, other)
  await notary.upToDate()
  const archives = new Map<string, Buffer>()
  for (const [name, id] of ids) archives.set(name, await take(api, vendor, id))
  archives.set('of another tenant', await take(api, other, foreign))
  await notary.upToDate()
  const receipts: string[] = []
  for (const [name, id] of ids)
    if (!name.includes('as before')) receipts.push(await receiptOf(api, vendor, id))
  await notary.upToDate()
  const records = await recordsOf(api)
  const checkpoint = await textOf(api, '/v1/transparency/checkpoint')
  const { keys } = PublicLog.parse(JSON.parse(await textOf(api, '/v1/transparency/log')))
  await notary.stop()
  const address = await api.app.listen({ port: 0, host: '127.0.0.1' })
  return {
    archives,
    receipts,
    kept: [first, checkpoint],
    checkpoint,
    records,
    tree: treeOf(records.map(recordLeaf)),
    key: keys[0] ?? '',
    vendorKey: vendorKeyIn(records, vendor.tenantId),
    hostile: { tenantId: hostile.tenantId, seed: hostileSeed },
    address,
    close: () => api.close(),
  }
}

async function makeProductAndMint(api: TestApi, { token }: TestTenant): Promise<string> {
  await makeProduct(api.ask, token, 'editor')
  return (await mint(api.ask, token, 'editor')).id
}

async function makeLicenses(api: TestApi, vendor: TestTenant): Promise<[string, string][]> {
  const { token } = vendor
  const minted = await makeProductAndMint(api, vendor)
  await activate(api, minted, 'laptop')
  const at = api.ledger.clock.now().toISOString()
  await commandLicense(api.ledger, minted, { type: 'DeactivateDevice', deviceId: 'laptop', at })
  await activate(api, minted, 'desktop')
  const second = (await mint(api.ask, token, 'editor')).id
  await activate(api, second, 'tablet')
  const reminted = (await mint(api.ask, token, 'editor')).id
  const answer = await api.ask('POST', `/v1/licenses/${reminted}/remint`, { token, body: {} })
  if (answer.status !== 200) throw new Error(answer.text)
  const { results } = await importRows(api.ask, token, 'editor', [{ licenseKey: 'NEW-4711-0001' }])
  const old = await oldImport(api, vendor, 'OLD-4711-0001')
  await appendSeats(api, old, 3)
  const plain = await oldImport(api, vendor, 'OLD-4711-0002')
  await appendKeyMail(api, plain)
  return [
    ['minted', minted],
    ['a second one', second],
    ['reminted', reminted],
    ['imported', results[0]?.id ?? ''],
    ['imported as before', old],
    ['imported as before, and mailed', plain],
  ]
}

const oldImport = (api: TestApi, { tenantId }: TestTenant, licenseKey: string): Promise<string> =>
  importAsBefore(api.ledger, { tenantId, productId: 'editor', keyTypeId: 'default' }, licenseKey)

const activate = (api: TestApi, id: string, device: string) =>
  commandLicense(api.ledger, id, {
    type: 'ActivateDevice',
    deviceId: device,
    instanceId: `ins_${device}`,
    installId: null,
    name: device,
    platform: null,
    at: api.ledger.clock.now().toISOString(),
  })

type Appended = { stream: string; revision: number; type: string; data: object; salt?: string }

/** Appends events as they are, without what a command adds. */
async function append(api: TestApi, events: readonly Appended[]): Promise<void> {
  const { ports, eventStoreUrl } = api.ledger
  const log = openRawLog(eventStoreUrl)
  const appends = await log.openAppends()
  const bytesOf = (value: object) => Buffer.from(JSON.stringify(value))
  const position = await appends.append(
    events.map(({ data, salt, ...event }) => ({
      ...event,
      id: randomUUID(),
      isJson: true,
      data: bytesOf(data),
      metadata: bytesOf({ ...testCause(), schema: 1, ...(salt !== undefined && { salt }) }),
    })),
  )
  appends.close()
  await log.close()
  await ports.untilVisible(position)
}

/** Seats of a license as versions before salts recorded them. */
const appendSeats = (api: TestApi, licenseId: string, count: number): Promise<void> =>
  append(
    api,
    Array.from({ length: count }, (_, seat) => ({
      stream: `license-${licenseId}`,
      revision: 1 + seat,
      type: 'DeviceActivated',
      data: {
        deviceId: `device-${seat}`,
        instanceId: `ins_${seat}`,
        installId: null,
        name: `Device ${seat}`,
        platform: null,
        at: api.ledger.clock.now().toISOString(),
      },
    })),
  )

/** A mail of a key with its plain hash, and a salt. */
async function appendKeyMail(api: TestApi, licenseId: string): Promise<void> {
  const stream = `license-${licenseId}`
  const imported = (await recordsOf(api)).find((record) => record.stream === stream)
  const data = { keyHash: imported?.data.keyHash, at: api.ledger.clock.now().toISOString() }
  await append(api, [
    { stream, revision: 1, type: 'KeyMailAsked', data, salt: randomBytes(16).toString('hex') },
  ])
}

/** A tenant whose signing key is that of the forger: a vendor on the same installation. */
const appendHostileKey = (api: TestApi, tenantId: string): Promise<void> => {
  const at = api.ledger.clock.now().toISOString()
  const { publicKey } = keysOf(hostileSeed)
  const kid = kidOf(publicKey)
  const data = {
    tenantId,
    kid,
    publicKey: publicKey.toString('base64'),
    secretName: `signing.${kid}`,
    signsFrom: at,
    at,
  }
  const salt = randomBytes(16).toString('hex')
  return append(api, [
    { stream: `signing-${tenantId}`, revision: 0, type: 'SigningKeyPublished', data, salt },
  ])
}

async function take(api: TestApi, { token }: TestTenant, id: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await api.app.inject({ method: 'GET', url: `/v1/licenses/${id}/evidence`, headers })
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return answer.rawPayload
}

async function textOf(api: TestApi, url: string): Promise<string> {
  const { statusCode, body } = await api.app.inject({ method: 'GET', url })
  if (statusCode !== 200) throw new Error(body)
  return body
}

async function receiptOf(api: TestApi, { token }: TestTenant, id: string): Promise<string> {
  const { status, text } = await api.ask('GET', `/v1/licenses/${id}/receipt`, { token })
  if (status !== 200) throw new Error(text)
  return text
}

async function recordsOf(api: TestApi): Promise<EventRecord[]> {
  const log = openRawLog(api.ledger.eventStoreUrl)
  const records: EventRecord[] = []
  const parsed = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString())
  for await (const { events } of log.pages(undefined))
    for (const { data, metadata, ...event } of events)
      records.push(EventRecord.parse({ ...event, data: parsed(data), metadata: parsed(metadata) }))
  await log.close()
  return records
}

function vendorKeyIn(records: readonly EventRecord[], tenantId: string): string {
  const published = records.find(({ stream }) => stream === `signing-${tenantId}`)
  return z.string().parse(published?.data.publicKey)
}

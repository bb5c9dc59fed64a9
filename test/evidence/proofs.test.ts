/**
 * Guarantee: once the log is signed, an archive proves every event in it to anyone with the log's public key, with a program that
 * it brings along and with ours. It tells no hash from which an imported key can be guessed.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { bundledVerifier } from '../../infra/build/evidence-verifier.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import { readNotaryLog } from '../../src/notary/signing-log.ts'
import { verifyArchive } from '../../src/verifier/archive.ts'
import { NotProved } from '../../src/verifier/not-proved.ts'
import { trustIn } from '../../src/verifier/trust.ts'
import { unzip } from '../../src/verifier/unzip.ts'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { commandLicense, eventsIn } from '../harness/ledger.ts'
import { startNotary, type TestNotary, testCause } from '../harness/notary.ts'
import { importAsBefore } from '../harness/old-import.ts'
import { oldNode } from '../harness/old-node.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { signed, vendorKey } from '../verifier/signed-archive.ts'

const directory = mkdtempSync(join(tmpdir(), 'kl-proofs-'))

let api: TestApi
let notary: TestNotary
let token: string
let key: string
let archive: Buffer
let importedId: string
let importedArchive: Buffer
let mailedId: string
let mailedArchive: Buffer
beforeAll(async () => {
  api = await openTestApi()
  const { tenantId, ...tenant } = await makeTenant(api.ledger)
  token = tenant.token
  await makeProduct(api.ask, token, 'editor')
  const { id } = await mint(api.ask, token, 'editor')
  await activate(id, 'laptop')
  const at = api.ledger.clock.now().toISOString()
  await commandLicense(api.ledger, id, { type: 'DeactivateDevice', deviceId: 'laptop', at })
  await activate(id, 'desktop')
  const place = { tenantId, productId: 'editor', keyTypeId: 'default' }
  importedId = await importAsBefore(api.ledger, place, 'OLD-4711-2049')
  mailedId = await importAsBefore(api.ledger, place, 'OLD-4711-2050')
  await appendKeyMail(mailedId)
  notary = startNotary(api.ledger)
  await notary.upToDate()
  key = (await readNotaryLog(api.ledger.ports)).keys[0] ?? ''
  archive = await take(id)
  importedArchive = await take(importedId)
  mailedArchive = await take(mailedId)
})
afterAll(async () => {
  await notary.stop()
  await api.close()
  rmSync(directory, { recursive: true })
})

async function take(id: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await api.app.inject({ method: 'GET', url: `/v1/licenses/${id}/evidence`, headers })
  expect(answer.statusCode).toBe(200)
  return answer.rawPayload
}

const activate = (id: string, device: string) =>
  commandLicense(api.ledger, id, {
    type: 'ActivateDevice',
    deviceId: device,
    instanceId: `ins_${device}`,
    installId: null,
    name: device,
    platform: null,
    at: api.ledger.clock.now().toISOString(),
  })

const trust = () => trustIn([key], [])

test('an archive proves every event in it', () => {
  const files = unzip(archive)
  expect([...files.keys()].filter((name) => /^(events|proofs|verify)/.test(name))).toStrictEqual([
    'events/license-0001.jsonl',
    'proofs/license-0001.jsonl',
    'events/signing-0001.jsonl',
    'proofs/signing-0001.jsonl',
    'proofs/checkpoint',
    'proofs/keys.txt',
    'verify.mjs',
  ])
  expect(verifyArchive(files, trust())).toMatchObject({
    events: 5,
    license: { events: 4, revision: 3 },
    signer: { known: 'in the log' },
    notProved: [],
  })
})

/** A key was asked for by mail, as the license's own decision records it. */
async function appendKeyMail(id: string): Promise<void> {
  const { ledger, now, untilVisible } = api.ledger.ports
  const [imported] = await eventsIn(ledger, `license-${id}`)
  const keyHash = imported?.readable ? keyHashOf(imported) : undefined
  if (keyHash === undefined) throw new Error('the license was not imported')
  const data = { keyHash, at: now().toISOString() }
  const appended = await ledger.append(`license-${id}`, 0, [{ type: 'KeyMailAsked', data }], testCause())
  if (!appended.appended) throw new Error('the license has another event')
  await untilVisible(appended.position)
}

/** Whether a text of the event is anywhere in the archive. */
async function isTold(found: Buffer, id: string, take: (entry: Recorded) => string | undefined) {
  const [event] = await eventsIn(api.ledger.ports.ledger, `license-${id}`)
  const text = event?.readable ? take(event) : undefined
  if (text === undefined) throw new Error('the event has no such text')
  return [...unzip(found).values()].some((content) => Buffer.from(content).toString('latin1').includes(text))
}
const keyHashOf = ({ event }: Recorded) => (event.type === 'LicenseImported' ? event.data.keyHash : undefined)

test('of a key that was imported with its plain hash, no hash is told, and the verifier says what is not proved', async () => {
  expect(verifyArchive(unzip(importedArchive), trust())).toMatchObject({
    license: { events: 0, revision: 0 },
    withheld: [{ stream: `license-${importedId}`, revision: 0, type: 'LicenseImported' }],
  })
  expect(await isTold(importedArchive, importedId, keyHashOf)).toBe(false)
  expect(await isTold(importedArchive, importedId, ({ id }) => id)).toBe(false)
})

test('of a later event with that hash, neither the hash nor the salt is told, and all else of the event is proved', async () => {
  expect(verifyArchive(unzip(mailedArchive), trust())).toMatchObject({
    keyWithheld: [{ stream: `license-${mailedId}`, revision: 1, type: 'KeyMailAsked' }],
  })
  expect(await isTold(mailedArchive, mailedId, keyHashOf)).toBe(false)
  const [, mailed] = await eventsIn(api.ledger.ports.ledger, `license-${mailedId}`)
  const salt = mailed?.readable ? mailed.metadata.salt : undefined
  expect(salt).toMatch(/^[0-9a-f]{32}$/)
  expect(
    [...unzip(mailedArchive).values()].map((content) => Buffer.from(content).toString()).join(),
  ).not.toContain(salt)
})

const forger = vendorKey(10)
const Head = z.object({ tenantId: z.string(), licenseId: z.string(), revision: z.int() })

/** An archive in which a file was changed, and which a forger has signed. */
function forged(name: string, content: string): Map<string, Uint8Array> {
  const files = unzip(archive).set(name, Buffer.from(content))
  const head = Head.parse(JSON.parse(textIn(files, 'manifest.json')))
  files.delete('manifest.json')
  files.delete('signature.json')
  return signed(files, { ...head, signedBy: forger })
}
const textIn = (files: ReadonlyMap<string, Uint8Array>, name: string): string =>
  Buffer.from(files.get(name) ?? []).toString()

describe("a forger who signs the manifest is found, even by a reader who takes their key for the vendor's", () => {
  test.each(['events/license-0001.jsonl', 'proofs/license-0001.jsonl', 'proofs/checkpoint'])(
    'whatever character of %s is replaced',
    (name) => {
      const text = textIn(unzip(archive), name)
      const [signed = ''] = text.split('\n\n')
      // Positions are of one event store, and not in the record. A signature of nobody may be added.
      const isProved = (at: number) => !/"position":"\d*$/.test(text.slice(0, at))
      const most = name === 'proofs/checkpoint' ? signed.length : text.length
      fc.assert(
        fc.property(fc.nat({ max: most - 1 }), fc.constantFrom('a', '7', '}', 'Z'), (at, by) => {
          const changed = `${text.slice(0, at)}${by}${text.slice(at + 1)}`
          fc.pre(changed !== text && isProved(at))
          const check = () => verifyArchive(forged(name, changed), trust(), [forger.publicKey])
          expect(check).toThrow(NotProved)
        }),
        { numRuns: 200 },
      )
    },
  )

  test('and named', () => {
    const text = textIn(unzip(archive), 'events/license-0001.jsonl')
    const changed = text.replace('"name":"desktop"', '"name":"another"')
    const files = forged('events/license-0001.jsonl', changed)
    expect(() => verifyArchive(files, trust(), [forger.publicKey])).toThrow(
      /revision 3 \(DeviceActivated\) differs/,
    )
    expect(() => verifyArchive(forged('license.json', '{}'), trust())).toThrow(
      'the log has other signing keys',
    )
  })
})

describe('the program in the archive', () => {
  test('is the one that the sources make', async () => {
    const kept = readFileSync(join(import.meta.dirname, '../../src/evidence/verify.mjs'), 'utf8')
    expect(kept === (await bundledVerifier()), 'run: node infra/build/evidence-verifier.ts').toBe(true)
    expect(textIn(unzip(archive), 'verify.mjs')).toBe(kept)
    const imports = [...kept.matchAll(/from "([^"]+)"/g)].map(([, name]) => name)
    expect(imports.every((name) => name?.startsWith('node:'))).toBe(true)
  })

  test('proves the archive, packed and unpacked, with an older Node too', () => {
    const unpacked = join(directory, 'unpacked')
    for (const [name, content] of unzip(archive)) write(join(unpacked, name), content)
    const packed = write(join(directory, 'evidence.zip'), archive)
    const program = join(unpacked, 'verify.mjs')
    for (const node of [process.execPath, oldNode()]) {
      if (node === undefined) continue
      const run = (cwd: string, ...words: string[]) =>
        execFileSync(node, [program, ...words], { cwd, encoding: 'utf8' })
      expect(run(unpacked, '--key', key)).toContain('Proved: 5 events of 2 streams')
      expect(run(directory, packed, '--key', key)).toContain('Proved: 5 events of 2 streams')
    }
  })

  test('finds a changed event, and says how it is called', () => {
    const changed = join(directory, 'changed')
    const text = textIn(unzip(archive), 'events/license-0001.jsonl').replace('desktop', 'another')
    for (const [name, content] of forged('events/license-0001.jsonl', text))
      write(join(changed, name), content)
    const run = (...words: string[]) => {
      try {
        return {
          code: 0,
          stdout: execFileSync(process.execPath, ['verify.mjs', ...words], {
            cwd: changed,
            encoding: 'utf8',
          }),
        }
      } catch (error) {
        return error as { status: number; stdout: string; stderr: string }
      }
    }
    expect(run('--key', key)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('NOT PROVED') as string,
    })
    expect(run('--key', key, '--vendor-key', forger.publicKey)).toMatchObject({ status: 1 })
    expect(run()).toMatchObject({ status: 2, stderr: expect.stringContaining('usage') as string })
    for (const words of [
      ['--key', key, '--threshold', ''],
      ['--key', key, '--threshold', '0x0'],
      ['--key', ''],
      ['', '--key', key],
    ])
      expect(run(...words)).toMatchObject({ status: 2, stdout: '' })
    expect(run('--nonsense', 'x')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('usage') as string,
    })
  })
})

function write(path: string, content: Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

/**
 * Guarantee: once the log is signed, an archive proves every event in it to anyone with the log's public key, with a program that
 * it brings along and with ours. It tells no hash of an imported key.
 */
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundledVerifier } from '../../build/evidence-verifier.ts'
import { readNotaryLog } from '../../src/notary/signing-log.ts'
import { verifyArchive } from '../../src/verifier/archive.ts'
import { NotProved } from '../../src/verifier/not-proved.ts'
import { trustIn } from '../../src/verifier/trust.ts'
import { unzip } from '../../src/verifier/unzip.ts'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { commandLicense, eventsIn } from '../harness/ledger.ts'
import { startNotary, type TestNotary } from '../harness/notary.ts'
import { oldNode } from '../harness/old-node.ts'
import { importRows, makeProduct, mint } from '../http/samples.ts'

const directory = mkdtempSync(join(tmpdir(), 'kl-proofs-'))

let api: TestApi
let notary: TestNotary
let token: string
let key: string
let archive: Buffer
let importedId: string
let importedArchive: Buffer
beforeAll(async () => {
  api = await openTestApi()
  ;({ token } = await makeTenant(api.ledger))
  await makeProduct(api.ask, token, 'editor')
  const { id } = await mint(api.ask, token, 'editor')
  await activate(id, 'laptop')
  const at = api.ledger.clock.now().toISOString()
  await commandLicense(api.ledger, id, { type: 'DeactivateDevice', deviceId: 'laptop', at })
  await activate(id, 'desktop')
  const { results } = await importRows(api.ask, token, 'editor', [{ licenseKey: 'OLD-4711-2049' }])
  importedId = results[0]?.id ?? ''
  notary = startNotary(api.ledger)
  await notary.upToDate()
  key = (await readNotaryLog(api.ledger.services)).keys[0] ?? ''
  archive = await take(id)
  importedArchive = await take(importedId)
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
    'proofs/checkpoint',
    'proofs/keys.txt',
    'verify.mjs',
  ])
  expect(verifyArchive(files, trust())).toMatchObject({ events: 4, revisions: 4, withheld: [] })
})

test('of an imported key, no hash is told, and the verifier says what is not proved', async () => {
  const files = unzip(importedArchive)
  expect(verifyArchive(files, trust())).toMatchObject({
    events: 0,
    withheld: [{ stream: `license-${importedId}`, revision: 0, type: 'LicenseImported' }],
  })
  const [event] = await eventsIn(api.ledger.services.ledger, `license-${importedId}`)
  const keyHash =
    event?.readable && event.event.type === 'LicenseImported' ? event.event.data.keyHash : undefined
  expect(keyHash).toMatch(/^[0-9a-f]{64}$/)
  expect(importedArchive.toString('latin1')).not.toContain(keyHash)
})

/** An archive in which a file was changed, and the manifest with it. */
function forged(name: string, content: string): Map<string, Uint8Array> {
  const files = unzip(archive).set(name, Buffer.from(content))
  const manifest = JSON.parse(textIn(files, 'manifest.json')) as { files: { name: string; sha256: string }[] }
  const entry = manifest.files.find((file) => file.name === name)
  if (entry) entry.sha256 = hash('sha256', content, 'hex')
  return files.set('manifest.json', Buffer.from(JSON.stringify(manifest)))
}
const textIn = (files: ReadonlyMap<string, Uint8Array>, name: string): string =>
  Buffer.from(files.get(name) ?? []).toString()

describe('a forger who changes the manifest too is found', () => {
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
          expect(() => verifyArchive(forged(name, changed), trust())).toThrow(NotProved)
        }),
        { numRuns: 200 },
      )
    },
  )

  test('and named', () => {
    const text = textIn(unzip(archive), 'events/license-0001.jsonl')
    const changed = text.replace('"name":"desktop"', '"name":"another"')
    expect(() => verifyArchive(forged('events/license-0001.jsonl', changed), trust())).toThrow(
      /revision 3 \(DeviceActivated\) differs/,
    )
  })
})

describe('the program in the archive', () => {
  test('is the one that the sources make', async () => {
    const kept = readFileSync(join(import.meta.dirname, '../../src/evidence/verify.mjs'), 'utf8')
    expect(kept === (await bundledVerifier()), 'run: node build/evidence-verifier.ts').toBe(true)
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
      expect(run(unpacked, '--key', key)).toContain('Proved: 4 events about the license')
      expect(run(directory, packed, '--key', key)).toContain('Proved: 4 events about the license')
      expect(run(unpacked)).toContain('Checked with the key in the archive itself')
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

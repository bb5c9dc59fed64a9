/** Guarantee: `keyledger verify` proves with public keys alone, says in words what, and ends with 0, 1, 2, 3 or 4. */
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { parseTilePath, tilePath } from '../../src/transparency/tree/tiles.ts'
import { createHost } from '../harness/process.ts'
import { archivedLog, archiveOf, event, vendorKey } from '../verifier/signed-archive.ts'
import {
  bytesOf,
  eventsOf,
  key,
  otherKey,
  signedLog,
  witness,
  witnessedAt,
  witnessName,
} from '../verifier/signed-log.ts'

const host = createHost()
const records = bytesOf(eventsOf(300))
const log = signedLog(records)
const kept = signedLog(records.slice(0, 100)).checkpoint

const file = (name: string, content: string | Uint8Array): string => {
  const path = join(host.directory, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}
const run = (...words: string[]) => host.run(['verify', ...words], {})

async function writeLog(name: string, lines: readonly Uint8Array[]): Promise<string> {
  file(`${name}/checkpoint`, log.checkpoint)
  for (const tile of [
    { level: 0, index: 0, width: 256 },
    { level: 0, index: 1, width: 44 },
    { level: 1, index: 0, width: 1 },
  ])
    file(`${name}/${tilePath(tile)}`, await log.read(tile))
  file(`${name}/records.ndjson`, Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')])))
  return join(host.directory, name)
}

let receipt: string
beforeAll(async () => {
  receipt = file('receipt.json', await log.receiptOf(7, log.cosigned))
})

describe('a receipt', () => {
  test('is proved in words', async () => {
    const { code, stdout, stderr } = await run('receipt', receipt, '--key', key, '--witness', witness)
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' })
    expect(stdout.trimEnd().split('\n')).toStrictEqual([
      'Proved: DeviceActivated is event 7: license-lic_1, revision 3.',
      'Event id: 00000000-0000-4000-8000-000000000007',
      'The event states that it happened at 2026-11-21T09:29:00.000Z.',
      'Checkpoint: 300 events of licenses.example/ledger, signed by the log.',
      `Witness: ${witnessName} saw this log at ${witnessedAt}.`,
    ])
  })

  test('of another signer is not', async () => {
    const { code, stdout } = await run('receipt', receipt, '--key', otherKey, '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ proved: false, finding: 'foreign_key', event: null })
  })

  test('may be checked with several keys of the log', async () => {
    expect((await run('receipt', receipt, '--key', otherKey, '--key', key)).code).toBe(0)
  })
})

describe('an archive', () => {
  const vendor = vendorKey(8)
  const { kid, publicKey } = vendor
  const minted = (isSalted: boolean) =>
    event(['license-lic_0', 0, 'LicenseMinted'], { tenantId: 'acme' }, isSalted)
  const published = event(['signing-acme', 0, 'SigningKeyPublished'], { tenantId: 'acme', kid, publicKey })
  async function write(name: string, isSalted: boolean): Promise<string> {
    const { linesOf, checkpoint } = archivedLog([published, minted(isSalted)])
    const license = await linesOf('license-lic_0')
    const signing = await linesOf('signing-acme')
    const files = archiveOf({
      ...{ tenantId: 'acme', licenseId: 'lic_0', revision: 0, checkpoint, signedBy: vendor },
      lines: isSalted ? { license, signing } : { license },
      others: { 'license.json': '{}' },
    })
    for (const [path, content] of files) file(`${name}/${path}`, content)
    return join(host.directory, name)
  }

  test('is proved with 0, in part with 4, and with the key of the vendor as a whole', async () => {
    const whole = await run('archive', await write('whole', true), '--key', key)
    expect(whole).toMatchObject({ code: 0, stderr: '' })
    expect(whole.stdout).toContain('Proved: license-lic_0 of acme has the revisions 0 to 0')
    const old = await write('old', false)
    const part = await run('archive', old, '--key', key)
    expect(part.code).toBe(4)
    expect(part.stdout).toMatch(/^PROVED IN PART/)
    const json = await run('archive', old, '--key', key, '--json')
    expect(json.code).toBe(4)
    expect(JSON.parse(json.stdout)).toMatchObject({ proved: false, signer: { kid, known: 'no' } })
    expect((await run('archive', old, '--key', key, '--vendor-key', publicKey)).code).toBe(0)
  })

  test('with a file, a link or a name of its own is not', async () => {
    for (const name of ['Events/license-0001.jsonl', 'extra.txt', 'proofs/extra/x.jsonl']) {
      const directory = await write(`added ${name.replaceAll('/', ' ')}`, true)
      file(join(directory.slice(host.directory.length + 1), name), '')
      const { code, stdout } = await run('archive', directory, '--key', key)
      expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining(name) as string })
    }
    const directory = await write('linked', true)
    symlinkSync('license.json', join(directory, 'link.json'))
    expect(await run('archive', directory, '--key', key)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('link.json is neither a file nor a directory') as string,
    })
  })
})

test('a receipt with half a surrogate pair is refused, without a stack trace', async () => {
  const text = (await log.receiptOf(7)).replace('device-7', '\\\\ud800')
  const { code, stdout, stderr } = await run('receipt', file('surrogate.json', text), '--key', key)
  expect({ code, stderr }).toStrictEqual({ code: 1, stderr: '' })
  expect(stdout).toMatch(/^NOT PROVED: The record was changed: .*\. Get it again\.\n$/)
})

describe('a log directory', () => {
  test('is proved, with a kept checkpoint', async () => {
    const directory = await writeLog('log', records)
    const keptFile = file('kept', kept)
    const { code, stdout } = await run('log', directory, '--key', key, '--checkpoint', keptFile, '--json')
    expect(code).toBe(0)
    const size = z.object({ size: z.int() })
    const shown = z.object({
      proved: z.literal(true),
      records: z.literal(true),
      checkpoint: size,
      kept: size,
    })
    const { checkpoint, kept: old } = shown.parse(JSON.parse(stdout))
    expect([checkpoint.size, old.size]).toStrictEqual([300, 100])
  })

  test('whose records were changed names the event', async () => {
    const directory = await writeLog('changed', records.toSpliced(5, 1))
    const { code, stdout } = await run('log', directory, '--key', key)
    expect({ code, stdout }).toStrictEqual({
      code: 1,
      stdout:
        'NOT PROVED: The records lack event 5, which stands in the log before license-lic_0, revision 3 (DeviceActivated).\n',
    })
  })

  test('without a tile says which', async () => {
    const directory = join(host.directory, 'empty')
    mkdirSync(directory)
    file('empty/checkpoint', log.checkpoint)
    const { code, stdout } = await run('log', directory, '--key', key)
    expect(code).toBe(1)
    expect(stdout).toContain('has no tile/0/000')
  })
})

describe('a server', () => {
  /** Serves the files of a log below a prefix; nothing when it has none. */
  async function serve(prefix: string | undefined): Promise<{ url: string; close: () => void }> {
    const bytesAt = async (path: string) => {
      const tile = parseTilePath(path)
      if (path === 'checkpoint') return Buffer.from(log.checkpoint)
      return tile && log.read(tile)
    }
    const server = createServer((request, response) => {
      const path = request.url?.slice(`${prefix ?? ''}/`.length) ?? ''
      const found = prefix === undefined ? Promise.resolve(undefined) : bytesAt(path)
      void found.then((bytes) => response.writeHead(bytes ? 200 : 404).end(bytes ?? '{"error":"not found"}'))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = z.object({ port: z.int() }).parse(server.address())
    return {
      url: `http://127.0.0.1:${String(port)}`,
      close: () => {
        server.close()
        server.closeAllConnections()
      },
    }
  }

  test('is proved to continue a kept log', async () => {
    const server = await serve('/v1/transparency')
    const { code, stdout } = await run('server', server.url, '--key', key, '--checkpoint', file('kept', kept))
    server.close()
    expect(code).toBe(0)
    expect(stdout).toContain('begins with the 100 events of the kept checkpoint')
  })

  test('may be any log in the layout of tlog-tiles', async () => {
    const server = await serve('/any/log')
    const words = ['--key', key, '--checkpoint', file('kept', kept)]
    expect((await run('server', `${server.url}/any/log/`, ...words)).code).toBe(0)
    server.close()
  })

  test('without a notary is not proved, and one that does not answer is asked again later', async () => {
    const server = await serve(undefined)
    const words = ['--key', key, '--checkpoint', file('kept', kept)]
    expect((await run('server', server.url, ...words)).code).toBe(1)
    server.close()
    expect((await run('server', server.url, ...words)).code).toBe(3)
  })
})

describe('ends with 2', () => {
  test.each([
    ['a file that is not there', ['receipt', 'nowhere', '--key', key], 'nowhere'],
    ['an archive that is not there', ['archive', 'nowhere', '--key', key], 'nowhere'],
    ['a key that is none', ['receipt', 'nowhere', '--key', 'acme'], 'acme is not usable'],
    ['no key', ['receipt', 'nowhere'], '--key'],
    [
      "a key that is no vendor's",
      ['archive', '.', '--key', key, '--vendor-key', key],
      'signing key of a vendor',
    ],
  ])('for %s', async (_, words, message) => {
    const { code, stderr } = await run(...words)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})

// Guarantee: a backup file is read exactly as written, or refused with one sentence when it is damaged,
// truncated, of another format, or cannot be decrypted with the key. An incomplete file never has its final
// name.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { packTar } from 'modern-tar'
import { afterAll, describe, expect, test } from 'vitest'
import { checkArchive, readParts } from '../../src/backup/archive-reader.ts'
import { writeArchive } from '../../src/backup/archive-writer.ts'
import type { DecryptionKey, EncryptionKey } from '../../src/backup/encryption.ts'
import { BackupError } from '../../src/backup/errors.ts'
import { formatVersion, headerName } from '../../src/backup/format.ts'

const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

let names = 0
const newPath = () => join(directory, `file-${++names}`)

const parts = [
  { name: 'tables/vault.secrets/000001.copy.zst', bytes: randomBytes(70_000) },
  { name: 'log/000001.jsonl.zst', bytes: randomBytes(200_000) },
  { name: 'log/000002.jsonl.zst', bytes: randomBytes(3) },
]

const described = {
  id: '0f4a7f9e-8f5b-4a39-9a0c-3d1f6a1c2b77',
  createdAt: '2026-11-23T06:00:00.000Z',
  log: { events: 0, firstEventId: null, lastEventId: null, headPosition: null, sha256: '0'.repeat(64) },
  tables: [{ name: 'vault.secrets', columns: ['tenant_id'], rows: 1 }],
  migrations: ['0001_vault'],
}

async function write(lock?: EncryptionKey): Promise<string> {
  const file = newPath()
  await writeArchive(file, { keyledger: '1.2.3', key: lock }, async (archive) => {
    for (const { name, bytes } of parts) await archive.add(name, bytes)
    return described
  })
  return file
}

const check = (file: string, key?: DecryptionKey) =>
  checkArchive(file, key, { keep: () => true, onBytes: () => undefined })

const refusal = (file: string, key?: DecryptionKey): Promise<string> =>
  check(file, key).then(
    () => 'not refused',
    (error: unknown) => {
      if (!(error instanceof BackupError)) throw error
      return error.message
    },
  )

async function expectWhole(file: string, key?: DecryptionKey): Promise<void> {
  const { manifest, kept } = await check(file, key)
  expect(manifest).toMatchObject({ ...described, format: formatVersion, keyledger: '1.2.3' })
  expect(kept.map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }))).toStrictEqual(parts)
  expect(await namesOf(readParts(file, key, manifest, () => undefined))).toStrictEqual(
    parts.map(({ name }) => name),
  )
}

async function namesOf(entries: AsyncIterable<{ name: string }>): Promise<string[]> {
  const found: string[] = []
  for await (const { name } of entries) found.push(name)
  return found
}

const identity = await generateX25519Identity()
const other = await generateX25519Identity()
const recipients = [await identityToRecipient(other), await identityToRecipient(identity)]
const passphrase = 'six quiet otters'
/** Quick to decrypt, unlike one with the default work factor. */
const weakly = { passphrase, workFactor: 4 }

describe('a complete file is read as written', () => {
  test('not encrypted', async () => expectWhole(await write()))

  test('encrypted for several recipients, with the key of one', async () =>
    expectWhole(await write({ recipients }), { identities: [identity] }))

  test('encrypted with a passphrase', async () => expectWhole(await write(weakly), { passphrase }))

  test('only by its owner', async () => expect(statSync(await write()).mode & 0o777).toBe(0o600))
})

describe('a changed file is refused', () => {
  test.each([
    ['not encrypted', undefined, undefined],
    ['encrypted', { recipients }, { identities: [identity] }],
  ] as const)('cut off anywhere, %s', async (_, lock, key) => {
    const whole = readFileSync(await write(lock))
    const file = newPath()
    for (const share of [0, 0.0001, 0.001, 0.1, 0.3, 0.6, 0.9, 0.99]) {
      writeFileSync(file, whole.subarray(0, Math.floor(whole.length * share)))
      expect(await refusal(file, key), `of ${share}`).toMatch(
        /is damaged|is not a keyledger backup|cannot be decrypted/,
      )
    }
  })

  test.each([
    ['not encrypted', undefined, undefined],
    ['encrypted', { recipients }, { identities: [identity] }],
  ] as const)('with a byte changed anywhere, %s', async (_, lock, key) => {
    const whole = readFileSync(await write(lock))
    const manifest = whole.indexOf('"createdAt"')
    const inManifest = manifest < 0 ? [] : [manifest + 15, manifest + 200]
    const file = newPath()
    // Offsets with contents: an archive has zeros between its files.
    for (const place of [30, 530, 40_000, 100_000, 200_000, 272_000, ...inManifest]) {
      const damaged = Buffer.from(whole)
      damaged.writeUInt8(whole.readUInt8(place) ^ 1, place)
      writeFileSync(file, damaged)
      expect(await refusal(file, key), `at ${place}`).toMatch(
        /is damaged|is not a keyledger backup|cannot be decrypted/,
      )
    }
  })

  test('with parts swapped, or one missing', async () => {
    const file = await write()
    const { manifest } = await check(file)
    const again = newPath()
    await writeArchive(again, { keyledger: '1.2.3', key: undefined }, async (archive) => {
      for (const { name, bytes } of parts.toReversed()) await archive.add(name, bytes)
      return described
    })
    const read = namesOf(readParts(again, undefined, manifest, () => undefined))
    await expect(read).rejects.toThrow('is damaged or incomplete')
  })

  test('another file, an empty one, a directory, or a missing one', async () => {
    const file = newPath()
    writeFileSync(file, 'PGDMP'.repeat(1000))
    expect(await refusal(file)).toMatch(/is damaged|is not a keyledger backup/)
    writeFileSync(file, await packTar([{ header: { name: 'a.txt', size: 1 }, body: 'a' }]))
    expect(await refusal(file)).toContain('is not a keyledger backup')
    writeFileSync(file, '')
    expect(await refusal(file)).toContain('is damaged or incomplete')
    expect(await refusal(directory)).toContain('cannot be read')
    expect(await refusal(join(directory, 'nothing'))).toContain('cannot be read')
  })

  test('of a newer format, before anything else in it is read', async () => {
    const body = JSON.stringify({ format: formatVersion + 1, keyledger: '9.0.0', anything: 'else' })
    const file = newPath()
    writeFileSync(file, await packTar([{ header: { name: headerName, size: body.length }, body }]))
    expect(await refusal(file)).toBe(
      `${file} has format 2 of keyledger 9.0.0, but this version reads formats up to 1. Use that version of keyledger or a newer one.`,
    )
  })
})

describe('an encrypted file needs its key', () => {
  test('no key, another passphrase, another identity', async () => {
    const file = await write(weakly)
    expect(await refusal(file)).toContain('is encrypted. Pass the key with --identity')
    expect(await refusal(file, { passphrase: 'six quiet badgers' })).toContain(
      'cannot be decrypted with this passphrase',
    )
    expect(await refusal(file, { identities: [identity] })).toContain(
      'cannot be decrypted with this identity',
    )
  })
})

describe('writing', () => {
  test('refuses an existing file, and does not change it', async () => {
    const file = newPath()
    writeFileSync(file, 'something')
    const writing = writeArchive(file, { keyledger: '1.2.3', key: undefined }, async () => described)
    await expect(writing).rejects.toThrow(`${file} already exists`)
    expect(readFileSync(file, 'utf8')).toBe('something')
    expect(readdirSync(directory).filter((name) => name.endsWith('.partial'))).toStrictEqual([])
  })

  test('that fails leaves nothing', async () => {
    const file = newPath()
    const writing = writeArchive(file, { keyledger: '1.2.3', key: undefined }, async (archive) => {
      await archive.add('log/000001.jsonl.zst', randomBytes(20_000_000))
      throw new Error('the store is gone')
    })
    await expect(writing).rejects.toThrow('the store is gone')
    expect(readdirSync(directory).filter((name) => name.includes(file))).toStrictEqual([])
  })

  test('to a read-only directory fails with one sentence', async () => {
    const file = join(directory, 'missing', 'file')
    const writing = writeArchive(file, { keyledger: '1.2.3', key: undefined }, async () => described)
    await expect(writing).rejects.toThrow(`${file} cannot be written: ENOENT`)
  })
})

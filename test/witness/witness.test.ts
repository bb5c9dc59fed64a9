/**
 * Guarantee: a witness answers as C2SP tlog-witness says, and never signs two roots of the same size, wherever it is killed.
 */

import * as fs from 'node:fs'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { FileCalls } from '../../src/files/durable-file.ts'
import { parseCheckpoint } from '../../src/transparency/checkpoint.ts'
import { cosignedAt } from '../../src/transparency/note/cosignature.ts'
import { privateKeyOf, publicBytesOf, signatureTypes } from '../../src/transparency/note/keys.ts'
import { parseNote } from '../../src/transparency/note/note.ts'
import { verifierKey } from '../../src/transparency/note/verifier.ts'
import { openDirectory } from '../../src/witness/data-directory.ts'
import { openIdentity } from '../../src/witness/key.ts'
import { openStore, originHash } from '../../src/witness/store.ts'
import { addCheckpoint, type WitnessAnswer } from '../../src/witness/witness.ts'
import { forkingLog, logVerifier, origin } from './forking-log.ts'

const directories: string[] = []
function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'kl-witness-'))
  directories.push(directory)
  return directory
}
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true })
})

const now = new Date('2026-11-21T09:30:00.700Z')
const log = forkingLog(3, 40)

function openWitness(directory: string, calls?: FileCalls) {
  const unlock = openDirectory(directory)
  const identity = openIdentity(directory, 'witness.example/w1')
  const store = openStore(directory, identity.key, calls)
  const options = { identity, logs: [{ origin, keys: [logVerifier] }], store, now: () => now }
  return {
    key: identity.key,
    store,
    unlock,
    add: (body: string): WitnessAnswer => addCheckpoint(options, body),
  }
}

let directory: string
let witness: ReturnType<typeof openWitness>
beforeEach(() => {
  directory = newDirectory()
  witness = openWitness(directory)
})
const statusOf = (body: string) => witness.add(body).status

describe('add-checkpoint', () => {
  test('answers 200 with a cosignature over the checkpoint, and continues from it', async () => {
    for (const [old, size] of [
      [0, 0],
      [0, 5],
      [5, 5],
      [5, 40],
    ] as const) {
      const { status, body } = witness.add(await log.call('a', old, size))
      expect(status).toBe(200)
      const cosigned = parseNote(`${log.checkpoint('a', size)}${body}`)
      expect(cosignedAt(cosigned, witness.key)).toBe(Date.parse('2026-11-21T09:30:00Z') / 1000)
    }
    const kept = parseNote(witness.store.read(origin)?.note ?? '')
    expect(kept.signatures.map(({ name }) => name)).toStrictEqual([origin, 'witness.example/w1'])
    expect(parseCheckpoint(kept.text).size).toBe(40)
  })

  test('answers 400 for a body that is none, and for an old size above the new one', async () => {
    const good = await log.call('a', 0, 5)
    for (const body of [
      '',
      'old 0',
      good.replace('old 0', 'old 00'),
      good.replace('old 0', 'old -1'),
      good.replace('old 0\n', 'old 0\nnothing\n'),
      good.replace('old 0\n', `old 0\n${`${Buffer.alloc(32).toString('base64')}\n`.repeat(64)}`),
      good.replace('\n5\n', '\n05\n'),
      good.slice(0, -20),
      await log.call('a', 6, 5),
    ])
      expect(statusOf(body)).toBe(400)
  })

  test('answers 404 for another log, and 403 without a right signature of its key', async () => {
    const good = await log.call('a', 0, 5)
    expect(statusOf(good.replaceAll(origin, 'other.example/log'))).toBe(404)
    const foreign = privateKeyOf(Buffer.alloc(32, 9))
    expect(statusOf(`old 0\n\n${log.checkpoint('a', 5, foreign)}`)).toBe(403)
    expect(statusOf(good.replace('\n5\n', '\n6\n'))).toBe(403)
  })

  test('answers 409 with the size that it knows', async () => {
    expect(witness.add(await log.call('a', 3, 5))).toStrictEqual({
      status: 409,
      body: '0\n',
      type: 'text/x.tlog.size',
    })
    expect(statusOf(await log.call('a', 0, 5))).toBe(200)
    expect(witness.add(await log.call('a', 0, 40))).toStrictEqual({
      status: 409,
      body: '5\n',
      type: 'text/x.tlog.size',
    })
  })

  test('answers 422 for a fork, a wrong proof and a wrong empty tree', async () => {
    expect(statusOf(await log.call('a', 0, 5))).toBe(200)
    expect(statusOf(await log.call('b', 5, 40))).toBe(422)
    expect(statusOf(await log.call('b', 5, 5))).toBe(422)
    const good = await log.call('a', 5, 40)
    expect(statusOf(good.replace('old 5\n', `old 5\n${Buffer.alloc(32).toString('base64')}\n`))).toBe(422)
    expect(statusOf(good)).toBe(200)
  })
})

test('the key is made once, and only its owner can read it', () => {
  expect(statSync(join(directory, 'witness.key')).mode & 0o777).toBe(0o600)
  witness.unlock()
  expect(openWitness(directory).key).toStrictEqual(witness.key)
  expect(() => openIdentity(directory, 'other.example/w2')).toThrow('is the key of witness.example/w1')
})

test('a second process is refused', () => {
  expect(() => openDirectory(directory)).toThrow('Another process uses')
})

test('a state that it did not write is refused', async () => {
  expect(statusOf(await log.call('a', 0, 5))).toBe(200)
  const path = join(directory, 'logs', originHash(origin))
  writeFileSync(path, log.checkpoint('a', 4))
  expect(() => witness.store.read(origin)).toThrow('is not what this witness wrote')
  const stranger = verifierKey(
    'witness.example/w1',
    signatureTypes.cosignature,
    publicBytesOf(privateKeyOf(Buffer.alloc(32, 1))),
  )
  expect(() => openStore(directory, stranger).read(origin)).toThrow('is not what this witness wrote')
})

/** Calls that stop before the `step`-th one, or in the middle of it, as when the process is killed. */
function stoppingAt(step: number): FileCalls {
  class Killed extends Error {}
  let left = step
  const orStop = <T>(run: () => T): T => {
    left -= 1
    if (left < 0) throw new Killed('killed')
    return run()
  }
  return {
    openSync: (path, flags, mode) => orStop(() => fs.openSync(path, flags, mode)),
    writeSync: (file, content) => {
      if (left === 0) fs.writeSync(file, content.slice(0, content.length / 2))
      return orStop(() => fs.writeSync(file, content))
    },
    fsyncSync: (file) => {
      orStop(() => {
        fs.fsyncSync(file)
      })
    },
    closeSync: fs.closeSync,
    renameSync: (from, to) => {
      orStop(() => {
        fs.renameSync(from, to)
      })
    },
  }
}

test('it never signs two roots of one size, nor a smaller tree, wherever it is killed', async () => {
  const step = fc.record({
    history: fc.constantFrom('a', 'b', 'c'),
    size: fc.integer({ min: 0, max: 12 }),
    /** By 409 it learns the size; or it lies. */
    old: fc.option(fc.integer({ min: 0, max: 12 })),
    killedAt: fc.option(fc.integer({ min: 0, max: 7 })),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
      const own = newDirectory()
      const signed: { size: number; root: string }[] = []
      for (const { history, size, old, killedAt } of steps) {
        const opened = openWitness(own, killedAt === null ? undefined : stoppingAt(killedAt))
        try {
          const known = opened.store.read(origin)?.checkpoint.size ?? 0
          const { status } = opened.add(await log.call(history, old ?? known, size))
          if (status === 200) signed.push({ size, root: log.rootOf(history, size) })
        } catch (error) {
          expect(String(error)).toContain('killed')
        }
        opened.unlock()
      }
      const sizes = signed.map(({ size }) => size)
      expect(sizes).toStrictEqual(sizes.toSorted((one, other) => one - other))
      const roots = Map.groupBy(signed, ({ size }) => size)
      for (const same of roots.values()) expect(new Set(same.map(({ root }) => root)).size).toBe(1)
      // All that it has ever signed is one history.
      const histories = ['a', 'b', 'c'].filter((history) =>
        signed.every(({ size, root }) => log.rootOf(history, size) === root),
      )
      expect(histories.length).toBeGreaterThan(0)
    }),
    { numRuns: 60 },
  )
})

/**
 * Guarantee: no order of backups, restores, resumed logs, moves, crashes and installations that both go on ends in two signed
 * histories of one log, with `KEYLEDGER_NOTARY_KEEP`. With witnesses alone the same holds while one installation signs, and each
 * checkpoint reaches a witness before the installation is lost.
 *
 * The notary, its tables in Postgres, the kept files, the witness and the decision to resume are the real ones; the event store
 * is in memory.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askWitness, NotCosigned, sizeAtWitness, type Witness } from '../../src/notary/ask-witness.ts'
import { readCheckpoint } from '../../src/notary/checkpoints.ts'
import { type Resumption, resumeAs } from '../../src/notary/continue.ts'
import { type KeptCheckpoints, keptIn } from '../../src/notary/kept.ts'
import { NotResumable } from '../../src/notary/newest.ts'
import { followLog } from '../../src/notary/notary.ts'
import { claim, publicKeyText, requireOurs } from '../../src/notary/signing-log.ts'
import { NotarySuspended } from '../../src/notary/suspension.ts'
import { tileReader } from '../../src/notary/tree-store.ts'
import { type Checkpoint, parseCheckpoint } from '../../src/transparency/checkpoint.ts'
import { privateKeyOf } from '../../src/transparency/note/keys.ts'
import { parseNote } from '../../src/transparency/note/note.ts'
import { openDirectory } from '../../src/witness/data-directory.ts'
import { openIdentity } from '../../src/witness/key.ts'
import { serveWitness } from '../../src/witness/server.ts'
import { openStore } from '../../src/witness/store.ts'
import { openTestLedger, type TestLedger } from '../harness/ledger.ts'
import { wholeVariable } from '../harness/variables.ts'
import { createMemoryLog, type MemoryLog } from './honest/memory-log.ts'
import { notaryKey } from './signer.ts'
import { randomOf } from './tampering/random.ts'
import type { Random } from './tampering/tamper.ts'

/** `KEYLEDGER_TEST_ORDERS=1000` for the long run. */
const orders = wholeVariable('KEYLEDGER_TEST_ORDERS', 8)
const steps = 14

const privateKey = privateKeyOf(Buffer.alloc(32, 5))
const key = publicKeyText(notaryKey.name, privateKey)

let ledger: TestLedger
let directory: string
beforeAll(async () => {
  ledger = await openTestLedger()
  directory = mkdtempSync(join(tmpdir(), 'keyledger-orders-'))
})
afterAll(async () => {
  await ledger.close()
  rmSync(directory, { recursive: true, force: true })
})

const tables = ['tree', 'tiles', 'checkpoint', 'checkpoints', 'logs'] as const
/** What a database holds of the notary. */
type Notary = Partial<Record<(typeof tables)[number], string>>

/** An event store, and a database that is not in use at the moment. */
type Installation = { store: MemoryLog; notary: Notary }

type World = {
  random: Random
  origin: string
  installations: Installation[]
  backups: MemoryLog[]
  images: Installation[]
  signed: (Checkpoint & { note: string; events: readonly string[] })[]
  kept: KeptCheckpoints | undefined
  witness: Witness | undefined
  isKilled: boolean
  resumed: number
  refused: number
}

class Killed extends Error {}

const idsOf = new WeakMap<MemoryLog, string[]>()

async function load({ notary }: Installation): Promise<void> {
  await ledger.db.query(`truncate ${tables.map((table) => `notary.${table}`).join()}`)
  for (const table of tables)
    if (notary[table])
      await ledger.db.query(
        `insert into notary.${table} select * from jsonb_populate_recordset(null::notary.${table}, $1::jsonb)`,
        [notary[table]],
      )
}

async function saved(): Promise<Notary> {
  const all = tables.map((table) => `(select jsonb_agg(row)::text from notary.${table} as row) as ${table}`)
  const { rows } = await ledger.db.query<{ [Table in keyof Notary]: string | null }>(`select ${all.join()}`)
  return Object.fromEntries(Object.entries(rows[0] ?? {}).filter(([, text]) => text !== null))
}

/** Runs something on the database of an installation. */
async function at(one: Installation, work: () => Promise<void>): Promise<void> {
  await load(one)
  try {
    await work()
  } finally {
    one.notary = await saved()
  }
}

function record({ store }: Installation, count: number): void {
  const ids = idsOf.get(store) ?? []
  for (let each = 0; each < count; each += 1) {
    const id = randomUUID()
    const place = { stream: `license-${String(ids.length)}`, revision: 0, position: 0n }
    store.append({
      ...place,
      id,
      type: 'LicenseMinted',
      isJson: true,
      data: Buffer.from('{}'),
      metadata: Buffer.from('{}'),
    })
    ids.push(id)
  }
  idsOf.set(store, ids)
}

function copyOf(store: MemoryLog, length = store.length()): MemoryLog {
  const copy = store.restoredTo(length)
  idsOf.set(copy, (idsOf.get(store) ?? []).slice(0, length))
  return copy
}

function wasSigned({ signed }: World, { store }: Installation, note: string): void {
  const checkpoint = parseCheckpoint(parseNote(note).text)
  const events = (idsOf.get(store) ?? []).slice(0, checkpoint.size)
  signed.push({ ...checkpoint, note, events })
}

/** Lets the notary sign until it is at the end, is killed, or refuses. */
async function sign(world: World, one: Installation): Promise<void> {
  const { kept, origin, witness } = world
  const watched: KeptCheckpoints | undefined = kept && {
    ...kept,
    keep(name, note) {
      kept.keep(name, note)
      wasSigned(world, one, note)
      if (world.isKilled) throw new Killed()
    },
  }
  const stop = new AbortController()
  try {
    await requireOurs({ db: ledger.db }, origin)
    const running = followLog(
      {
        db: ledger.db,
        log: one.store.log,
        ledger: one.store.ledger,
        signer: { origin, privateKeys: [privateKey] },
        now: () => new Date(),
        kept: watched,
        pollMs: 1,
        onCheckpoint: ({ note }) => {
          if (!kept) wasSigned(world, one, note)
        },
      },
      stop.signal,
    )
    running.catch(() => undefined)
    while ((await readCheckpoint(ledger.db))?.size !== one.store.length())
      await Promise.race([running, new Promise((resolve) => setTimeout(resolve, 1))])
    stop.abort()
    await running
  } catch (error) {
    stop.abort()
    if (!(error instanceof NotarySuspended || error instanceof Killed)) throw error
  }
  const last = await readCheckpoint(ledger.db)
  if (witness && last)
    await askWitness(witness, last, 0, tileReader(ledger.db), new AbortController().signal).catch(
      (error: unknown) => {
        if (!(error instanceof NotCosigned)) throw error
      },
    )
}

/** Tries to go on from a checkpoint; the operator confirms everything. @returns whether it was allowed */
async function resume(
  { origin, kept, witness }: World,
  one: Installation,
  chosen: World['signed'][number],
): Promise<boolean> {
  const known: Resumption['known'] = async (checkpoint) => {
    const file = kept?.read(origin)
    const { signal } = new AbortController()
    return [
      ...(file ? [{ source: 'kept', size: file.size, root: file.root }] : []),
      ...(witness ? [{ source: 'witness', size: await sizeAtWitness(witness, checkpoint, signal) }] : []),
    ]
  }
  const ports = { db: ledger.db, now: () => new Date(), log: one.store.log }
  try {
    await resumeAs({ origin, keys: [key] }, ports, { note: chosen.note, known, abandonAfter: chosen.size })
    return true
  } catch (error) {
    if (!(error instanceof NotResumable)) throw error
    return false
  }
}

/** Tries every checkpoint that was ever signed, from the oldest, until one is taken. */
const resumeFromAny = (world: World, one: Installation) =>
  at(one, async () => {
    for (const checkpoint of world.signed.toSorted((left, right) => left.size - right.size)) {
      if (await resume(world, one, checkpoint)) {
        world.resumed += 1
        return
      }
      world.refused += 1
    }
  })

async function happens(world: World, isAlone: boolean): Promise<void> {
  const { random, installations, backups, images } = world
  const any = <T>(list: readonly T[]): T | undefined => list[random(list.length)]
  const one = any(installations)
  if (!one) throw new Error('no installation')
  switch (random(isAlone ? 6 : 9)) {
    case 0:
    case 1:
      record(one, 1 + random(4))
      return at(one, () => sign(world, one))
    case 2:
      record(one, random(3))
      backups.push(copyOf(one.store))
      return
    case 3: {
      const backup = any(backups)
      if (backup) Object.assign(one, { store: copyOf(backup), notary: {} })
      return
    }
    case 4:
    case 5:
      return resumeFromAny(world, one)
    case 6: {
      // A copy takes along that this database signed; the old installation may go on all the same.
      const { logs, checkpoint } = one.notary
      const other = any(installations)
      if (other) Object.assign(other, { store: copyOf(one.store), notary: { logs, checkpoint } })
      return
    }
    case 7: {
      images.push({ store: copyOf(one.store), notary: one.notary })
      const image = any(images)
      if (image) Object.assign(one, { store: copyOf(image.store), notary: image.notary })
      return
    }
    default:
      world.isKilled = true
      record(one, 1)
      await at(one, () => sign(world, one))
      world.isKilled = false
  }
}

/** @returns the first two checkpoints that contradict each other */
function contradiction({ signed }: World): unknown {
  const ordered = signed.toSorted((one, other) => one.size - other.size)
  const at = ordered.findIndex((small, index) => {
    const large = ordered[index + 1]
    return large && small.events.some((id, place) => large.events[place] !== id)
  })
  return at < 0 ? undefined : ordered.slice(at, at + 2)
}

async function live(
  number: number,
  isAlone: boolean,
  guard: Pick<World, 'kept' | 'witness'>,
): Promise<World> {
  const random = randomOf(number)
  const world: World = {
    random,
    origin: notaryKey.name,
    installations: Array.from({ length: isAlone ? 1 : 2 }, () => ({
      store: createMemoryLog(random),
      notary: {},
    })),
    backups: [],
    images: [],
    signed: [],
    ...guard,
    isKilled: false,
    resumed: 0,
    refused: 0,
  }
  const [first] = world.installations
  if (!first) throw new Error('no installation')
  record(first, 3)
  await at(first, async () => {
    await claim({ db: ledger.db, now: () => new Date() }, world.origin)
    await sign(world, first)
  })
  for (let step = 0; step < steps; step += 1) await happens(world, isAlone)
  // Whatever could go on does, and becomes larger than every checkpoint.
  for (const one of world.installations) {
    await resumeFromAny(world, one)
    record(one, Math.max(...world.signed.map(({ size }) => size)))
    await at(one, () => sign(world, one))
  }
  expect(contradiction(world), `order ${String(number)}`).toBeUndefined()
  return world
}

const expectBoth = (worlds: readonly World[]) => {
  expect(worlds.reduce((sum, { resumed }) => sum + resumed, 0)).toBeGreaterThan(0)
  expect(worlds.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0)
}

test('with the kept file, whatever two installations do', async () => {
  const worlds: World[] = []
  for (let number = 1; number <= orders; number += 1)
    worlds.push(
      await live(number, false, {
        kept: keptIn(join(directory, `kept-${String(number)}`)),
        witness: undefined,
      }),
    )
  expectBoth(worlds)
}, 3_600_000)

test('with a witness, whatever one installation does', async () => {
  const failures: unknown[] = []
  const worlds: World[] = []
  for (let number = 1; number <= orders; number += 1) {
    const data = mkdtempSync(join(directory, 'witness-'))
    const unlock = openDirectory(data)
    const identity = openIdentity(data, 'example.com/witness')
    const options = {
      identity,
      logs: [{ origin: notaryKey.name, keys: [notaryKey] }],
      store: openStore(data, identity.key),
      now: () => new Date(),
    }
    const server = await serveWitness(options, { host: '127.0.0.1', port: 0 }, (error) =>
      failures.push(error),
    )
    const witness = { url: `http://127.0.0.1:${String(server.port)}`, key: identity.key }
    try {
      worlds.push(await live(number, true, { kept: undefined, witness }))
    } finally {
      await server.close()
      unlock()
    }
  }
  expect(failures).toStrictEqual([])
  expectBoth(worlds)
}, 3_600_000)

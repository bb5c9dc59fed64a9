/**
 * Guarantee: each checkpoint is cosigned by the witnesses that answer, a witness that is killed at any write goes on, and one that
 * is shown another history refuses it. The notary waits for none of them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { askWitness, type Witness } from '../../src/notary/ask-witness.ts'
import { readCheckpoint, signCheckpoint } from '../../src/notary/checkpoints.ts'
import { publicKeyText } from '../../src/notary/signing-log.ts'
import { addLeaves, openTree, type TreeState } from '../../src/notary/tree-store.ts'
import { createWitnessesAsker, listWitnesses, withCosignatures } from '../../src/notary/witnesses.ts'
import { privateKeyOf } from '../../src/transparency/note/keys.ts'
import { formatVerifierKey, parseVerifierKey } from '../../src/transparency/note/verifier.ts'
import { leafHash } from '../../src/transparency/tree/edge.ts'
import { openCheckpoint, trustIn } from '../../src/verifier/trust.ts'
import { openTestLedger, type TestLedger } from '../harness/ledger.ts'
import { createHost, freePort, program, type Running } from '../harness/process.ts'
import { waitMs } from '../harness/time-limits.ts'
import { forkingLog } from '../witness/forking-log.ts'

const host = createHost()
const killAt = fileURLToPath(new URL('../witness/kill-at.ts', import.meta.url))
const origin = 'licenses.example/ledger'
const privateKey = privateKeyOf(Buffer.alloc(32, 5))
const signer = { origin, privateKeys: [privateKey] }
const logKey = publicKeyText(origin, privateKey)

type Process = Witness & { running: Running; port: number }

/** Starts a witness. @param kill the write at which it kills itself */
async function startWitness(name: string, port: number, kill?: string): Promise<Process> {
  const words = ['witness', '--data', join(host.directory, name), '--name', `example.com/${name}`]
  const running = host.start(
    [
      'node',
      ...(kill === undefined ? [] : ['--import', killAt]),
      program,
      ...words,
      '--log',
      logKey,
      '--port',
      String(port),
    ],
    kill === undefined ? {} : { KILL_AT: kill },
  )
  const started = vi.waitFor(
    () => {
      const key = /^Witness key: (\S+)$/m.exec(running.stdout())?.[1]
      if (key === undefined || !running.stdout().includes('Log:')) throw new Error(running.stderr())
      return parseVerifierKey(key)
    },
    { timeout: waitMs, interval: 20 },
  )
  const key = await Promise.race([
    started,
    running.finished.then(({ stderr }) => Promise.reject(new Error(`it ended: ${stderr}`))),
  ])
  return { url: `http://localhost:${String(port)}`, key, running, port }
}

let ledger: TestLedger
let witnesses: Process[]
let tree: TreeState
beforeAll(async () => {
  ledger = await openTestLedger()
  const client = await ledger.db.connect()
  tree = await openTree(client, origin)
  client.release()
  witnesses = await Promise.all(['w1', 'w2', 'w3'].map(async (name) => startWitness(name, await freePort())))
})
afterAll(async () => {
  await ledger.close()
})

/** Adds events to the tree and signs it. */
async function grow(count: number) {
  const client = await ledger.db.connect()
  const leaves = Array.from({ length: count }, (_, at) => {
    const revision = tree.edge.size + at
    return {
      place: { stream: 'license-lic_1', revision, id: `id ${String(revision)}` },
      hash: leafHash(Buffer.from(`event ${String(revision)}`)),
    }
  })
  const [first, ...rest] = leaves
  if (first) tree = await addLeaves(client, tree, [first, ...rest])
  client.release()
  return signCheckpoint(ledger.db, signer, tree, new Date())
}

/** Runs the asker while something happens. */
async function asking(
  run: (asker: { wake: () => void; problems: string[] }) => Promise<void>,
  of: readonly Witness[] = witnesses,
) {
  const stop = new AbortController()
  const problems: string[] = []
  const asker = createWitnessesAsker({
    db: ledger.db,
    witnesses: of,
    now: () => new Date(),
    onProblem: (witness, problem) => problems.push(`${witness}: ${problem}`),
    firstPauseMs: 20,
  })
  const running = asker.run(stop.signal)
  try {
    await run({ wake: asker.wake, problems })
  } finally {
    stop.abort()
    await running
  }
}

const trust = () =>
  trustIn(
    [logKey],
    witnesses.map(({ key }) => formatVerifierKey(key)),
  )
/** Waits until the last checkpoint is cosigned by all witnesses, as a verifier sees it. */
const cosignedByAll = () =>
  vi.waitFor(
    async () => {
      const checkpoint = await readCheckpoint(ledger.db)
      if (!checkpoint) throw new Error('there is none')
      return openCheckpoint(await withCosignatures(ledger.db, checkpoint), trust())
    },
    { timeout: waitMs, interval: 20 },
  )

test('each checkpoint is cosigned by all of three witnesses', async () => {
  await asking(async ({ wake, problems }) => {
    for (const count of [3, 1, 300]) {
      const { size } = await grow(count)
      wake()
      const { cosigned, size: found } = await cosignedByAll()
      expect([found, cosigned.length]).toStrictEqual([size, 3])
    }
    expect(problems).toStrictEqual([])
  })
  expect((await listWitnesses(ledger.db)).map(({ size, problem }) => ({ size, problem }))).toStrictEqual(
    Array.from({ length: 3 }, () => ({ size: 304, problem: null })),
  )
})

test('one that is killed at any write goes on, and the others are not delayed', async () => {
  const [, , last] = witnesses
  if (!last) throw new Error('there are three')
  await last.running.end('SIGKILL')
  // Open, write, fsync, rename, open the directory, fsync it.
  const steps = [1, 2, 3, 4, 5, 6].flatMap((at) => [`${String(at)} before`, `${String(at)} after`])
  for (const kill of steps) {
    const killed = await startWitness('w3', last.port, kill)
    expect(formatVerifierKey(killed.key)).toBe(formatVerifierKey(last.key))
    await asking(async ({ wake }) => {
      const { size } = await grow(2)
      wake()
      expect((await killed.running.finished).signal).toBe('SIGKILL')
      await vi.waitFor(
        async () => {
          const state = await listWitnesses(ledger.db)
          expect(state.filter((one) => one.size === size)).toHaveLength(2)
        },
        { timeout: waitMs, interval: 20 },
      )
    })
  }
  witnesses[2] = await startWitness('w3', last.port)
  await asking(async () => {
    const { cosigned } = await cosignedByAll()
    expect(cosigned).toHaveLength(3)
  })
}, 120_000)

describe('a witness refuses', () => {
  const never = new AbortController().signal
  const [, other] = [privateKey, privateKeyOf(Buffer.alloc(32, 9))]

  test('another history of the log, and a shorter one', async () => {
    const { size } = await grow(1)
    const [first] = witnesses
    if (!first) throw new Error('there are three')
    await asking(async () => {
      await cosignedByAll()
    })
    const fork = forkingLog(3, size + 5)
    const forked = async (old: number, length: number) => {
      const response = await fetch(`${first.url}/add-checkpoint`, {
        method: 'POST',
        body: await fork.call('b', old, length),
      })
      return response.status
    }
    expect(await forked(size, size + 5)).toBe(422)
    expect(await forked(size, size)).toBe(422)
    expect(await forked(3, size + 5)).toBe(409)
    expect(await forked(size, 2)).toBe(400)
  })

  test('a checkpoint of a foreign key, and says so', async () => {
    const checkpoint = await readCheckpoint(ledger.db)
    const [first] = witnesses
    if (!checkpoint || !first || !other) throw new Error('there is none')
    const foreign = forkingLog(3, checkpoint.size).checkpoint('a', 3, other)
    const asked = askWitness(
      first,
      { ...checkpoint, size: 3, note: foreign },
      0,
      () => Promise.reject(new Error('no tile')),
      never,
    )
    await expect(asked).rejects.toThrow('does not trust the key')
  })
})

test('a witness that does not answer, or signs with another key, is recorded with its reason', async () => {
  const [first, second] = witnesses
  if (!first || !second) throw new Error('there are three')
  const gone = { url: `http://localhost:${String(await freePort())}`, key: first.key }
  const swapped = { url: first.url, key: second.key }
  await grow(1)
  await asking(
    async ({ problems }) => {
      await vi.waitFor(
        async () => {
          const state = await listWitnesses(ledger.db)
          expect(state.map(({ problem }) => problem)).toStrictEqual([
            expect.stringContaining('it does not answer'),
            'its answer has no signature of its key',
          ])
        },
        { timeout: waitMs, interval: 20 },
      )
      expect(problems).toHaveLength(2)
    },
    [gone, swapped],
  )
})

test('the private key is readable by its owner only, and never printed', () => {
  const stored = readFileSync(join(host.directory, 'w1/witness.key'), 'utf8').trim()
  // The secret is in Base64, which may contain plus signs itself: everything after PRIVATE, KEY, the name and the id.
  const secret = stored.split('+').slice(4).join('+')
  expect(secret.length).toBeGreaterThan(40)
  expect(host.output()).not.toContain(secret)
})

// Guarantee: after the response to a revocation, no validate that begins later is valid on any process; also
// without a projector, with a stalled one, and while another session blocks the read models.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { projectionLock } from '../../projections/database/advisory-locks.ts'
import { createHost, program, type Running, type Server, type Stores } from '../harness/process.ts'
import { createOperator, type Operator } from './operator.ts'
import { type Client, client, createVendor, type Minted } from './vendor.ts'

const host = createHost()

describe('servers without a projector', () => {
  const stage = setStage('api')

  test('never validate a revoked license when no projector runs', async () => {
    const { clients, operator } = stage()
    for (let round = 0; round < 2; round++) {
      const seen = await revokeUnderWatch(clients, 40, (id) => operator.revoke(id))
      expect(seen).toStrictEqual(neverValid)
    }
  })

  test('never validate a revoked license while the only projector is paused at random moments', async () => {
    const { clients, operator, stores } = stage()
    const projector = host.start(['node', program, 'serve', '--roles', 'projector'], stores.environment)
    await expect.poll(() => projector.stderr()).toContain('"msg":"Ready"')
    const stalling = new AbortController()
    const stalled = stall(projector, stalling.signal)
    const seen = await revokeUnderWatch(clients, 60, (id) => operator.revoke(id))
    stalling.abort()
    await stalled
    await projector.end('SIGKILL')
    expect(seen).toStrictEqual(neverValid)
  })
})

describe('two servers with projectors', () => {
  const stage = setStage('api,projector')

  test('never validate a license after its revocation by a command or another process', async () => {
    const { clients, operator, stores } = stage()
    const byCommand = await revokeUnderWatch(clients, 4, (id) => revokeByCommand(stores, id))
    expect(byCommand).toStrictEqual(neverValid)
    const seen = await revokeUnderWatch(clients, 60, (id) => operator.revoke(id))
    expect(seen).toStrictEqual(neverValid)
  })

  test('delay the response to a revocation while the projection is blocked', async () => {
    const { clients, operator, stores } = stage()
    const revoke = async (licenseId: string) => {
      const release = await holdProjection(stores)
      const revoked = operator.revoke(licenseId).then(() => 'revoked' as const)
      expect(await Promise.race([revoked, sleep(150, 'still waiting' as const)])).toBe('still waiting')
      await release()
      await revoked
    }
    expect(await revokeUnderWatch(clients, 8, revoke, 1)).toStrictEqual(neverValid)
  })

  test('do not acknowledge a revocation when the projection is blocked for too long; it takes effect later', async () => {
    const { clients, operator, stores } = stage()
    const [first] = clients
    const [license] = await mintSeated(first, 1)
    if (!license) throw new Error('no license')
    const release = await holdProjection(stores)
    await expect(operator.revoke(license.licenseId)).rejects.toThrow('the read models have not reached')
    expect((await first.validate(license.licenseKey, 'laptop')).status).toBe(200)
    await release()
    await expect
      .poll(async () => (await first.validate(license.licenseKey, 'laptop')).body.status)
      .toBe('revoked')
  })
})

type Stage = { stores: Stores; clients: [Client, Client]; operator: Operator }

/** Two processes that answer requests on the same stores, a product, and an operator on the host. */
function setStage(roles: string): () => Stage {
  let stage: Stage | undefined
  let servers: Server[] = []
  beforeAll(async () => {
    const stores = await host.stores()
    const token = await createVendor(stores.environment)
    const [one, two] = await Promise.all([
      host.serve(stores.environment, { roles }),
      host.serve(stores.environment, { roles }),
    ])
    servers = [one, two]
    const clients: Stage['clients'] = [client(one.address, token), client(two.address, token)]
    await clients[0].createProduct(1)
    stage = { stores, clients, operator: await createOperator(stores.environment) }
  })
  afterAll(async () => {
    await stage?.operator.close()
    await Promise.all(servers.map((server) => server.end('SIGKILL')))
  })
  return () => {
    if (!stage) throw new Error('the stage is not set')
    return stage
  }
}

const neverValid = { validAfterwards: [], notWatched: [] }

/**
 * Mints and activates licenses, keeps validating all of them on every server, and meanwhile revokes one after
 * another.
 * @returns the licenses that were valid after their revocation, and those that were not validated both before and
 *   after
 */
async function revokeUnderWatch(
  clients: Stage['clients'],
  count: number,
  revoke: (licenseId: string) => Promise<void>,
  atOnce = 4,
) {
  const licenses = await mintSeated(clients[0], count)
  const revokedAt = new Map<string, number>()
  const seen = clients.map(() => ({ before: new Set<string>(), after: new Set<string>() }))
  const validAfterwards: string[] = []
  const allSeenAfterwards = () => seen.every(({ after }) => after.size === count)

  async function watch(server: number, offset: number): Promise<void> {
    const asking = clients[server]
    const own = seen[server]
    for (let turn = offset; !allSeenAfterwards(); turn++) {
      const license = licenses[turn % count]
      if (!license || !asking || !own) throw new Error('nothing to watch')
      const began = performance.now()
      const { status, body } = await asking.validate(license.licenseKey, 'laptop')
      expect(status).toBe(200)
      const revoked = revokedAt.get(license.licenseId)
      if (body.valid === true) own.before.add(license.licenseId)
      if (revoked === undefined || began <= revoked) continue
      own.after.add(license.licenseId)
      if (body.valid === true) validAfterwards.push(license.licenseId)
    }
  }

  const watchers = clients.flatMap((_, server) =>
    [0, 1, 2].map((part) => watch(server, Math.floor((part * count) / 3))),
  )
  const waiting = [...licenses]
  async function revokeOneAfterAnother(): Promise<void> {
    for (let license = waiting.shift(); license; license = waiting.shift()) {
      const { licenseId } = license
      while (!seen.every(({ before }) => before.has(licenseId))) await sleep(1)
      await revoke(licenseId)
      revokedAt.set(licenseId, performance.now())
    }
  }
  await Promise.all([...watchers, ...Array.from({ length: atOnce }, revokeOneAfterAnother)])
  const watched = (id: string) => seen.every(({ before, after }) => before.has(id) && after.has(id))
  return {
    validAfterwards,
    notWatched: licenses.map(({ licenseId }) => licenseId).filter((id) => !watched(id)),
  }
}

async function mintSeated(asking: Client, count: number): Promise<Minted[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const license = await asking.mint()
      const { body } = await asking.activate(license.licenseKey, 'laptop')
      expect(body.activated).toBe(true)
      return license
    }),
  )
}

async function revokeByCommand(stores: Stores, licenseId: string): Promise<void> {
  const args = ['licenses', 'revoke', licenseId, '--tenant', 'acme', '--reason', 'refund']
  const { status } = await host.json(z.object({ status: z.string() }), args, stores.environment)
  expect(status).toBe('revoked')
}

/** Stops and continues a process, each for a moment, until the signal aborts. */
async function stall({ child }: Running, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    child.kill('SIGSTOP')
    await sleep(Math.random() * 400)
    child.kill('SIGCONT')
    await sleep(Math.random() * 40)
  }
}

/** Takes the lock for advancing the read models. @returns a function that releases it */
async function holdProjection(stores: Stores): Promise<() => Promise<void>> {
  const session = new pg.Client({ connectionString: stores.databaseUrl })
  await session.connect()
  await session.query('select pg_advisory_lock($1)', [projectionLock])
  return () => session.end()
}

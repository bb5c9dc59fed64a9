/**
 * Guarantee: an app over a network that delays, drops, doubles and breaks answers is never more generous than what the
 * server has signed, and never less generous while its lease is good. After the network is well again, its state is
 * what the server says.
 *
 * The judge knows only what the server has given, what of it reached the app in one piece, and the time.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { rotateSigningKey } from '../../src/commands/signing-keys.ts'
import type { LicenseCommand } from '../../src/domain/licenses/license.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import {
  type Client,
  createClient,
  memoryStorage,
  type State,
  type Storage,
} from '../../src/sdk/javascript/app/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { commandLicense, origin } from '../harness/ledger.ts'
import { wholeVariable } from '../harness/variables.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type BadNetwork, type Fault, startBadNetwork } from './bad-network.ts'
import { createDevice, type Device } from './device.ts'

const runs = wholeVariable('KEYLEDGER_TEST_SDK', 40)
const leaseSeconds = 6 * 3600

let api: TestApi
let tenant: TestTenant
let sdkKey: string
let network: BadNetwork
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  await makeProduct(api.ask, tenant.token, 'editor', {
    trialDurationDays: 14,
    freeTierEnabled: true,
    keyTypes: [
      {
        name: 'Fallback',
        keyTypeId: 'fallback',
        deviceLimit: 2,
        duration: { count: 1, unit: 'day' },
        onExpiry: 'fallback',
        entitlements: ['pro'],
        fallbackEntitlements: ['basic'],
      },
      {
        name: 'Day',
        keyTypeId: 'day',
        deviceLimit: 2,
        duration: { count: 1, unit: 'day' },
        entitlements: ['pro'],
      },
      { name: 'Perpetual', keyTypeId: 'perpetual', deviceLimit: 2, entitlements: ['pro'] },
    ],
  })
  await api.ask('PATCH', '/v1/products/editor', { token: tenant.token, body: { leaseSeconds } })
  const server = await api.app.listen({ port: 0, host: '127.0.0.1' })
  network = await startBadNetwork(server, (ms) => device.wait(ms))
  device = createDevice(api.ledger.clock, () => network.held)
})
let device: Device
afterAll(async () => {
  await network.close()
  await api.close()
})

const Proof = z.looseObject({
  kid: z.string(),
  instanceId: z.string(),
  issuedAt: z.int(),
  expiresAt: z.int().optional(),
  status: z.string().optional(),
  reason: z.string().optional(),
})
type Proof = z.infer<typeof Proof>
const Body = z.looseObject({ lease2: z.string().optional(), refusal: Proof.optional() })
const Claims = z.object({
  instance_id: z.string(),
  iat: z.string(),
  exp: z.string(),
  status: z.string(),
  entitlements: z.record(z.string(), z.unknown()),
})

/** What a token says, with the token itself: another spelling of it is another proof. */
function leaseIn(token: string): Proof {
  const [, , body = '', footer = ''] = token.split('.')
  const message = Buffer.from(body, 'base64url').subarray(0, -64).toString()
  const { instance_id: instanceId, iat, exp, status, entitlements } = Claims.parse(JSON.parse(message))
  const { kid } = z.object({ kid: z.string() }).parse(JSON.parse(Buffer.from(footer, 'base64url').toString()))
  const [issuedAt, expiresAt] = [Date.parse(iat) / 1000, Date.parse(exp) / 1000]
  return { kid, instanceId, issuedAt, expiresAt, status, entitlements: Object.keys(entitlements), token }
}

/** The proof in a body, and nothing for what is broken. */
function proofIn(body: string): Proof | undefined {
  try {
    const { lease2, refusal } = Body.parse(JSON.parse(body))
    return refusal ?? (lease2 === undefined ? undefined : leaseIn(lease2))
  } catch {
    return undefined
  }
}

const Keyset = z.object({ keys: z.record(z.string(), z.string()) })

/** The published keys in a body that are as the server has given them. */
function keysIn(body: string): string[] {
  const given = network.given.filter(({ path }) => path.endsWith('service-keys'))
  const keys = (text: string) => {
    try {
      return Object.entries(Keyset.parse(JSON.parse(text)).keys)
    } catch {
      return []
    }
  }
  const known = given.flatMap(({ answer }) => keys(answer.body.toString()))
  return keys(body)
    .filter((entry) => known.some((one) => isDeepStrictEqual(one, entry)))
    .map(([kid]) => kid)
}

/** How strict a proof is: of the same second, the stricter one counts. */
const strictness = ({ status }: Proof): number =>
  status === 'active' ? 0 : status === 'fallback' ? 1 : status === undefined ? 3 : 2

const grants = (proof: Proof | undefined): proof is Proof & { expiresAt: number } =>
  proof !== undefined && strictness(proof) < 2

const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'none' as const }) },
  fc.constantFrom({ kind: 'refused' as const }, { kind: 'lost' as const }, { kind: 'doubled' as const }),
  fc.record({ kind: fc.constant('late' as const), ms: fc.constantFrom(900, 14_000, 16_000, 120_000) }),
  fc.record({ kind: fc.constant('truncated' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('flipped' as const),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      bit: fc.nat(7),
    }),
  },
  fc.record({ kind: fc.constant('page' as const), status: fc.constantFrom(200, 404, 422, 502) }),
  fc.record({
    kind: fc.constant('busy' as const),
    status: fc.constantFrom(429, 503),
    retryAfter: fc.constantFrom('1', '40', '9000', 'Fri, 31 Dec 1999 23:59:59 GMT', 'soon'),
  }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('stale' as const), back: fc.nat(5) }) },
)
const faults = fc.array(fault, { maxLength: 4 })

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('validate' as const), faults }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('activate' as const), faults }) },
  fc.record({ do: fc.constant('deactivate' as const), faults }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      seconds: fc.constantFrom(0, 1, 59, 3600, leaseSeconds - 1, leaseSeconds, leaseSeconds + 1, 90_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('vendor' as const),
      what: fc.constantFrom('revoke', 'reinstate', 'suspend', 'resume', 'free the seat', 'rotate'),
    }),
  },
  fc.constant({ do: 'restart' as const }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('turn the clock' as const),
      seconds: fc.constantFrom(0, -200, -7200, -100_000),
    }),
  },
)

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** The vendor's license, and one app that uses it. */
async function play(keyTypeId: string, steps: readonly Step[]): Promise<void> {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId })
  const storage = memoryStorage()
  network.given.length = 0
  network.faults.length = 0
  device.skewMs = 0
  device.latest = 0
  const judge = createJudge()
  let client = appWith(storage)
  for (const one of steps) {
    switch (one.do) {
      case 'validate':
      case 'activate':
      case 'deactivate': {
        network.faults = [...one.faults]
        const call = one.do === 'activate' ? client.activate(licenseKey) : client[one.do]()
        const outcome = await device.settle(call)
        if (one.do === 'deactivate' && outcome.ok) judge.left()
        break
      }
      case 'pass':
        api.ledger.clock.advance(one.seconds * 1000)
        break
      case 'vendor':
        await change(id, one.what)
        break
      case 'restart':
        client = appWith(storage)
        await client.start()
        client.stop()
        await device.settle(client.validate())
        judge.restarted()
        break
      case 'turn the clock':
        device.skewMs = one.seconds * 1000
        break
    }
    judge.judge(client.state(), JSON.stringify(one))
  }
  await recovers(client, licenseKey, storage)
}

const appWith = (storage: Storage): Client =>
  createClient({
    baseUrl: network.url,
    tenantId: tenant.tenantId,
    productId: 'editor',
    sdkKey,
    storage,
    clock: device.clock,
    fetch: device.fetch,
    deviceName: 'The device',
    identity: () => ({ machineHash: 'hash-of-the-device' }),
  })

async function change(licenseId: string, what: string): Promise<void> {
  const at = api.ledger.clock.now().toISOString()
  const why = { reason: null, at }
  const commands: Record<string, LicenseCommand> = {
    revoke: { type: 'RevokeLicense', ...why },
    reinstate: { type: 'UndoRevocation', keyTypeIsThere: true, ...why },
    suspend: { type: 'SuspendLicense', ...why },
    resume: { type: 'ResumeLicense', ...why },
    'free the seat': { type: 'DeactivateDevice', deviceId: await seatOf(licenseId), ...why },
  }
  const command = commands[what]
  if (!command) return rotateSigningKey(api.ledger.ports, tenant.tenantId, origin)
  await commandLicense(api.ledger, licenseId, command).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error
  })
}

/** The seat that is taken, if one is. */
async function seatOf(id: string): Promise<string> {
  const { body } = await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
  const Device = z.object({ deviceId: z.string(), status: z.string() })
  const { license } = z.object({ license: z.object({ devices: z.array(Device) }) }).parse(body)
  return license.devices.find(({ status }) => status === 'active')?.deviceId ?? 'none'
}

/** Judges states by the proofs that have arrived. */
function createJudge() {
  const arrived: Proof[] = []
  /** The instances that were deactivated, and the times of their last proofs. */
  const leftAt = new Map<string, number>()
  /** The clock as the app knows it at least, after it was started again; it stores the time once a minute. */
  let atLeast = 0
  const keys = new Set<string>()
  /** A proof that cannot be verified before its key has arrived too. */
  let unverified: Proof | undefined
  device.onArrived = (path, text) => {
    if (path.endsWith('service-keys')) {
      for (const kid of keysIn(text)) keys.add(kid)
      if (unverified && keys.has(unverified.kid)) arrive(unverified)
    }
    if (!/\/(?:activate|validate)$/.test(path)) return
    const proof = proofIn(text)
    const isGiven = network.given.some(({ answer }) =>
      isDeepStrictEqual(proofIn(answer.body.toString()), proof),
    )
    unverified = proof && isGiven && !keys.has(proof.kid) ? proof : undefined
    if (proof && isGiven && !unverified) arrive(proof)
  }
  function arrive(proof: Proof): void {
    if (proof.issuedAt > newestAt() && proof.status !== undefined) {
      device.latest = Math.max(proof.issuedAt, Math.floor(device.clock.now() / 1000), 0)
      atLeast = 0
    }
    arrived.push(proof)
  }
  const newestAt = () => Math.max(0, ...arrived.map(({ issuedAt }) => issuedAt))
  const isLeft = ({ instanceId, issuedAt }: Proof) => issuedAt <= (leftAt.get(instanceId) ?? -1)
  /** The proof that counts; undefined when it is not clear which one does. */
  function decisive(): Proof | undefined {
    const newest = arrived.filter(({ issuedAt }) => issuedAt === newestAt())
    const [first, ...others] = newest.toSorted((one, other) => strictness(other) - strictness(one))
    return first && others.every(({ instanceId }) => instanceId === first.instanceId) ? first : undefined
  }

  return {
    left() {
      const newest = newestAt()
      const instanceId = arrived.findLast(({ issuedAt }) => issuedAt === newest)?.instanceId
      if (instanceId !== undefined) leftAt.set(instanceId, newest)
    },
    restarted() {
      atLeast = Math.max(atLeast, device.latest - 60)
    },
    judge(state: State, after: string) {
      const now = Math.floor(device.clock.now() / 1000)
      const seen = {
        low: Math.max(atLeast === 0 ? device.latest : atLeast, now),
        high: Math.max(device.latest, now),
      }
      const about = { after, state, seen, arrived: arrived.slice(-4) }
      if ('entitlements' in state) {
        const reasons = arrived.filter(
          (lease) =>
            grants(lease) &&
            lease.expiresAt === state.until &&
            isDeepStrictEqual(lease.entitlements, state.entitlements) &&
            seen.low <= lease.expiresAt &&
            !isLeft(lease) &&
            !arrived.some(
              (other) =>
                other.instanceId === lease.instanceId &&
                (other.issuedAt > lease.issuedAt ||
                  (other.issuedAt === lease.issuedAt && strictness(other) > strictness(lease))) &&
                !grants(other),
            ),
        )
        expect({ ...about, why: 'more generous', reasons: reasons.length > 0 }).toMatchObject({
          reasons: true,
        })
      }
      const proof = decisive()
      if (grants(proof) && seen.high <= proof.expiresAt && !isLeft(proof)) {
        const { status } = state
        const kind = status === 'offline' ? state.license : status
        expect({ ...about, kind }).toMatchObject({
          kind: proof.status === 'active' ? 'licensed' : 'fallback',
        })
        expect({ ...about, until: 'until' in state && state.until }).toMatchObject({ until: proof.expiresAt })
      }
    },
  }
}

/** With a good network and the right time, the app shows what the server says. */
async function recovers(client: Client, licenseKey: string, storage: Storage): Promise<void> {
  network.faults = []
  device.skewMs = 0
  api.ledger.clock.advance(3 * 3600 * 1000)
  const { problem, state } = { problem: undefined, ...(await device.settle(client.validate())) }
  const { license } = z
    .looseObject({ license: z.object({ instanceId: z.string() }).optional() })
    .parse(JSON.parse((await storage.read()) ?? '{}'))
  if (!license) {
    expect({ problem, state }).toStrictEqual({
      problem: undefined,
      state: { status: 'free', trialDays: 14, clockSetBack: false },
    })
    return
  }
  const { body } = await api.ask('POST', `/${tenant.tenantId}/editor/validate`, {
    headers: { 'x-service-sdk-key': sdkKey },
    body: { license_key: licenseKey, instance_id: license.instanceId, lease_version: 2 },
  })
  const proof = proofIn(JSON.stringify(body))
  const wanted =
    { active: 'licensed', fallback: 'fallback', expired: 'expired' }[proof?.status ?? ''] ?? 'revoked'
  const reason = wanted === 'revoked' ? { reason: proof?.reason ?? 'suspended' } : {}
  expect({ problem, state }).toMatchObject({ problem: undefined, state: { status: wanted, ...reason } })
}

test('its state follows from what the server has signed, whatever the network does', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('perpetual', 'day', 'fallback'),
      fc.array(step, { minLength: 4, maxLength: 24 }),
      async (keyTypeId, steps) => play(keyTypeId, [{ do: 'activate', faults: [] }, ...steps]),
    ),
    { numRuns: runs },
  )
})

import { isRecord, type Place } from '../keyset.ts'
import type { Judged } from './calls.ts'
import type { Facts, HeldLicense } from './facts.ts'
import type { Identity } from './identity.ts'
import type { Keeper } from './keeper.ts'
import { fileIn } from './offline/facts.ts'
import { isPassing, type Problem, problemOf } from './problem.ts'
import { isRefusal } from './proof.ts'
import type { Answered } from './request.ts'
import type { Server, Servers } from './servers.ts'
import { beginTrial, type Taken, takeNotCovered, takeProof, takeSettings, takeTrial } from './take.ts'
import { notCoveredIn } from './updates.ts'

export type Ports = {
  servers: Servers
  keeper: Keeper
  place: Place
  enforceSettings: boolean
  /** What the app reports of itself and the device with each call. */
  telemetry: object
  /** What the app reports of its build to get a lease. */
  build: { app_built_at: number | undefined; app_channel: string | undefined }
  identity: Identity
  deviceName: string | undefined
  /** Who uses the app, where seats are of users. */
  userId: string | undefined
  defaultTrialDays: number | undefined
}

/** `undefined` when it worked. */
export type Failure = Problem | undefined

export const failureOf = (judged: Judged<unknown>): Failure =>
  'problem' in judged ? judged.problem : undefined

/** A success or a signed refusal that does not verify, or is older than what is held. */
const notGenuine = (answered: Answered): Problem =>
  (answered.status < 400 && !notCoveredIn(answered.body)) ||
  (isRecord(answered.body) && answered.body.refusal !== undefined)
    ? { code: 'not_genuine', message: 'the answer carries no valid signature, or an older one' }
    : problemOf(answered)

/** How the vendor and the customer see the device. */
export const nameOf = ({ deviceName }: Ports, { installId }: Facts): string =>
  deviceName ?? `Device ${installId.slice(0, 8)}`

/** What an app says of its device and its build to get a lease, and the form of lease that is signed as a whole. */
function saidOf({ identity, telemetry, build }: Ports) {
  const { machineHash, components } = identity.device() ?? {}
  return {
    machine_hash: machineHash ?? undefined,
    device: components,
    ...telemetry,
    ...build,
    lease_version: 2,
  }
}

/**
 * Takes a seat for this device, with a key that a person has typed: at the first of the servers in their order that gives one.
 */
export async function activate(ports: Ports, key: string): Promise<Failure> {
  const { keeper, servers } = ports
  const order = await servers.inOrder()
  let failure: Failure
  for (const [index, server] of order.entries()) {
    // A relay that does not answer is not waited for while there is another server.
    const attempts = index + 1 < order.length ? 1 : undefined
    const failed = await activateAt(ports, server, key, {}, attempts)
    if (!failed) {
      keeper.reached(true)
      return undefined
    }
    // What a license says counts more than that a server cannot be reached.
    failure = failure && !isPassing(failure) && isPassing(failed) ? failure : failed
  }
  keeper.reached(failure !== undefined && isAnswer(failure))
  return failure
}

/**
 * Takes a seat at one server.
 * @param more what else is asked for
 * @param also takes what else was answered, before the lease; a problem if it cannot be taken
 */
export async function activateAt(
  ports: Ports,
  { relay, calls }: Server,
  key: string,
  more: object = {},
  attempts?: number,
  also: (body: Record<string, unknown>) => Promise<Failure> = async () => undefined,
): Promise<Failure> {
  const facts = await ports.keeper.load()
  const { license } = facts
  const body = {
    license_key: key,
    instance_name: nameOf(ports, facts),
    free_tier_instance_id: facts.installId,
    // Each server knows its own.
    instance_id: license?.relay === relay ? license?.instanceId : undefined,
    user_id: ports.userId,
    ...saidOf(ports),
    ...more,
  }
  const judge = async (answered: Answered): Promise<Judged<true>> => {
    const instanceId = isRecord(answered.body) ? answered.body.instance_id : undefined
    if (answered.status !== 200 || typeof instanceId !== 'string') return { problem: notGenuine(answered) }
    const taken = await take(ports, answered, { key, instanceId, relay })
    if (!taken) return { problem: notGenuine(answered) }
    const problem = isRecord(answered.body) ? await also(answered.body) : undefined
    return problem ? { problem } : { value: true }
  }
  return failureOf(await calls.send('activate', body, judge, attempts))
}

/**
 * Asks for a newer lease; without a license, for the settings and the trial. A floating seat that is gone is taken anew, also at
 * another server when the one that gave it is out of reach.
 */
export async function validate(ports: Ports): Promise<Failure> {
  const { keeper, servers } = ports
  const { license } = await keeper.load()
  if (!license) return report(ports)
  if (license.isAway) return activate(ports, license.key)
  const body = {
    license_key: license.key,
    instance_id: license.instanceId,
    fence: license.seat?.fence,
    ...saidOf(ports),
  }
  let gone: Answered | undefined
  const judged = await servers.that(license).send('validate', body, async (answered) => {
    if (license.seat && hasLostSeat(answered)) {
      gone = answered
      return { problem: problemOf(answered) }
    }
    const taken = await take(ports, answered, license)
    if (taken) return { value: true }
    if (notCoveredIn(answered.body)) await keeper.change((facts) => takeNotCovered(facts, answered.body))
    return { problem: notGenuine(answered) }
  })
  const failure = failureOf(judged)
  if (license.seat && (gone || isOutOfReach(ports, license, failure))) {
    const failed = await activate(ports, license.key)
    // Only now: an app that gets the next seat at once has never been without one.
    if (failed && gone && 'until' in keeper.state()) await take(ports, gone, license)
    return failed
  }
  // Also a license that the server does not know keeps its lease until the end: only a signed refusal ends it.
  keeper.reached(!failure)
  return failure
}

const withoutSeat: ReadonlySet<string> = new Set(['seat_lost', 'assigned_to_another', 'inactive'])

const hasLostSeat = ({ status, body }: Answered): boolean =>
  status === 422 && isRecord(body) && typeof body.reason === 'string' && withoutSeat.has(body.reason)

/** A relay that is out of reach is given up when its lease is nearly over; it keeps the seat until then. */
function isOutOfReach({ keeper }: Ports, { relay, proof }: HeldLicense, failure: Failure): boolean {
  if (relay === undefined || !failure || !isPassing(failure) || !proof || isRefusal(proof)) return false
  const { issuedAt, expiresAt } = proof
  return expiresAt - keeper.now() < (expiresAt - issuedAt) / 3
}

/** Starts the trial of this machine. It begins at once, and the server is told as soon as it can be reached. */
export async function startTrial(ports: Ports): Promise<Failure> {
  const { keeper, defaultTrialDays } = ports
  const { settings } = await keeper.load()
  const problem = settings ? undefined : await report(ports)
  const { settings: known, trial, license, offline } = await keeper.load()
  if (license || trial || fileIn(offline)) return undefined
  const days = known?.trialDurationDays ?? defaultTrialDays
  if (!days) return problem ?? { code: 'no_trial', message: 'this product has no trial' }
  await keeper.change(beginTrial)
  await report(ports)
  return undefined
}

/** Reports an install without a license, and takes the settings and the trial. */
async function report(ports: Ports): Promise<Failure> {
  const { servers, keeper, telemetry } = ports
  const { installId, trial } = await keeper.load()
  const { status } = keeper.state()
  // Only a trial or a free tier is reported; before that the app only asks for its settings.
  const told =
    status === 'trial' || (trial && !trial.reported) ? 'trial' : status === 'free' ? 'free_tier' : 'expired'
  const body =
    trial || status === 'free'
      ? {
          instance_id: installId,
          state: told,
          machine_hash: ports.identity.device()?.machineHash ?? undefined,
          ...telemetry,
        }
      : undefined
  const judged = await servers.vendor.send(body ? 'keyless' : 'config', body, async (answered) => {
    const genuine = answered.status === 200 && (await takeSettingsOf(ports, answered))
    if (!genuine) return { problem: notGenuine(answered) }
    if (body) await keeper.change((facts) => takeTrial(facts, answered.body))
    return { value: true }
  })
  keeper.reached(!('problem' in judged))
  return failureOf(judged)
}

/** Takes a proof and the settings beside it. @returns whether the answer shows that the server was reached */
async function take(
  ports: Ports,
  answered: Answered,
  held: Pick<HeldLicense, 'key' | 'instanceId' | 'relay'>,
): Promise<boolean> {
  const as = await takeSigned(ports, (facts, now) => takeProof(facts, answered.body, held, ports.place, now))
  if (!isNew(as)) return false
  await takeSettingsOf(ports, answered)
  return true
}

const takeSettingsOf = async (ports: Ports, { body }: Answered): Promise<boolean> =>
  isNew(
    await takeSigned(ports, (facts, now) =>
      takeSettings(facts, body, ports.place, now, ports.enforceSettings),
    ),
  )

/** Whether it is as new as what is held. */
const isNew = (as: string): boolean => as === 'fresh' || as === 'same'

/** Takes what is signed, with the published keys if its key is not known. @returns what became of it, or why it is not taken */
export async function takeSigned<Doubt extends string>(
  ports: Ports,
  step: (facts: Facts, now: number) => Taken | { doubt: Doubt },
): Promise<Taken['as'] | Doubt> {
  const attempt = async () => {
    const became: (Taken['as'] | Doubt)[] = []
    await ports.keeper.change((facts, now) => {
      const taken = step(facts, now)
      became.push('doubt' in taken ? taken.doubt : taken.as)
      return 'facts' in taken ? taken.facts : facts
    })
    return became[0] ?? 'stale'
  }
  const as = await attempt()
  return as === 'unknown_key' && (await fetchKeys(ports)) ? attempt() : as
}

/** Adds the keys that the vendor's server has published to the known ones. @returns whether there are any */
async function fetchKeys({ servers, keeper }: Ports): Promise<boolean> {
  const fetched = await servers.vendor.keyset()
  if (Object.keys(fetched).length === 0) return false
  await keeper.change((facts) => ({ ...facts, keys: { ...facts.keys, ...fetched } }))
  return true
}

/** Whether the server has answered, though not with a success: a wrong key, no seat left. */
const isAnswer = ({ code }: Problem): boolean =>
  !['offline', 'unavailable', 'rate_limited', 'not_genuine', 'no_server'].includes(code)

import { isRecord, type Place } from '../keyset.ts'
import type { Calls, Judged } from './calls.ts'
import type { Facts } from './facts.ts'
import type { Identity } from './identity.ts'
import type { Keeper } from './keeper.ts'
import { fileIn } from './offline/facts.ts'
import { type Problem, problemOf } from './problem.ts'
import type { Answered } from './request.ts'
import { leave, type Taken, takeNotCovered, takeProof, takeSettings, takeTrial } from './take.ts'
import { notCoveredIn } from './updates.ts'

export type Ports = {
  calls: Calls
  keeper: Keeper
  place: Place
  enforceSettings: boolean
  /** What the app reports of itself and the device with each call. */
  telemetry: object
  /** What the app reports of its build to get a lease. */
  build: { app_built_at: number | undefined; app_channel: string | undefined }
  identity: Identity
  deviceName: string | undefined
  defaultTrialDays: number | undefined
}

/** `undefined` when it worked. */
export type Failure = Problem | undefined

const failureOf = (judged: Judged<unknown>): Failure => ('problem' in judged ? judged.problem : undefined)

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

/** Takes a seat for this device, with a key that a person has typed. */
export async function activate(ports: Ports, key: string): Promise<Failure> {
  const { calls, keeper } = ports
  const facts = await keeper.load()
  const body = {
    license_key: key,
    instance_name: nameOf(ports, facts),
    free_tier_instance_id: facts.installId,
    instance_id: facts.license?.instanceId,
    ...saidOf(ports),
  }
  const judged = await calls.send('activate', body, async (answered) => {
    const instanceId = isRecord(answered.body) ? answered.body.instance_id : undefined
    if (answered.status !== 200 || typeof instanceId !== 'string') return { problem: notGenuine(answered) }
    const taken = await take(ports, answered, { key, instanceId })
    return taken ? { value: true } : { problem: notGenuine(answered) }
  })
  keeper.reached(!('problem' in judged) || isAnswer(judged.problem))
  return failureOf(judged)
}

/** Asks for a newer lease; without a license, for the settings and the trial. */
export async function validate(ports: Ports): Promise<Failure> {
  const { calls, keeper } = ports
  const { license } = await keeper.load()
  if (!license) return report(ports)
  const body = {
    license_key: license.key,
    instance_id: license.instanceId,
    ...saidOf(ports),
  }
  const judged = await calls.send('validate', body, async (answered) => {
    const taken = await take(ports, answered, license)
    if (taken) return { value: true }
    if (notCoveredIn(answered.body)) await keeper.change((facts) => takeNotCovered(facts, answered.body))
    return { problem: notGenuine(answered) }
  })
  // Also a license that the server does not know keeps its lease until the end: only a signed refusal ends it.
  keeper.reached(!('problem' in judged))
  return failureOf(judged)
}

/** Gives the seat back, and forgets the license. */
export async function deactivate(ports: Ports): Promise<Failure> {
  const { calls, keeper } = ports
  const { license, offline } = await keeper.load()
  const file = fileIn(offline)
  if (file && file.instanceId === (license ?? file).instanceId && keeper.now() <= file.expiresAt) {
    return { code: 'has_file', message: 'the device has a license file; give it back with release' }
  }
  if (!license) return { code: 'no_license', message: 'there is no license to deactivate' }
  const body = { license_key: license.key, instance_id: license.instanceId }
  const judged = await calls.send('deactivate', body, async (answered) => {
    const done = answered.status === 200 && isRecord(answered.body) && answered.body.deactivated === true
    return done || hasNoSeat(answered) ? { value: true } : { problem: problemOf(answered) }
  })
  const failure = failureOf(judged)
  if (!failure) await keeper.change((facts) => leave(facts, license.instanceId))
  return failure
}

/** The seat does not exist any more, or never did. Without a reason, 422 means that it must not be freed. */
const hasNoSeat = ({ status, body }: Answered): boolean =>
  isRecord(body) &&
  typeof body.error === 'string' &&
  ((status === 422 && body.reason !== undefined) || (status === 404 && isOfLicense(body)))

const isOfLicense = ({ error, reason }: Record<string, unknown>): boolean =>
  reason === 'not_found' || error === 'instance not found'

/** Starts the trial of this machine. It begins at once, and the server is told as soon as it can be reached. */
export async function startTrial(ports: Ports): Promise<Failure> {
  const { keeper, defaultTrialDays } = ports
  const { settings } = await keeper.load()
  const problem = settings ? undefined : await report(ports)
  const { settings: known, trial, license, offline } = await keeper.load()
  if (license || trial || fileIn(offline)) return undefined
  const days = known?.trialDurationDays ?? defaultTrialDays
  if (!days) return problem ?? { code: 'no_trial', message: 'this product has no trial' }
  await keeper.change((facts, now) => ({
    ...facts,
    trial: { startedAt: Math.max(now, facts.seen), used: false, reported: false },
  }))
  await report(ports)
  return undefined
}

/** Reports an install without a license, and takes the settings and the trial. */
async function report(ports: Ports): Promise<Failure> {
  const { calls, keeper, telemetry } = ports
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
  const judged = await calls.send(body ? 'keyless' : 'config', body, async (answered) => {
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
  held: { key: string; instanceId: string },
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

/** Adds the published keys to the known ones. @returns whether there are any */
async function fetchKeys({ calls, keeper }: Ports): Promise<boolean> {
  const fetched = await calls.keyset()
  if (Object.keys(fetched).length === 0) return false
  await keeper.change((facts) => ({ ...facts, keys: { ...facts.keys, ...fetched } }))
  return true
}

/** Whether the server has answered, though not with a success: a wrong key, no seat left. */
const isAnswer = ({ code }: Problem): boolean =>
  !['offline', 'unavailable', 'rate_limited', 'not_genuine', 'no_server'].includes(code)

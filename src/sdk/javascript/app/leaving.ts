import { isRecord } from '../keyset.ts'
import type { HeldLicense } from './facts.ts'
import { fileIn } from './offline/facts.ts'
import { createRequest, giveBack, importText } from './offline/operations.ts'
import { activateAt, type Failure, failureOf, type Ports } from './operations.ts'
import { type Problem, problemOf } from './problem.ts'
import type { Answered } from './request.ts'
import { leave, withoutSeat } from './take.ts'

const noLicense: Problem = { code: 'no_license', message: 'there is no license on this device' }

/** Gives the seat back, and forgets the license. A borrowed seat is given back with the device's signature. */
export async function deactivate(ports: Ports): Promise<Failure> {
  const { keeper } = ports
  const { license, offline } = await keeper.load()
  const file = fileIn(offline)
  const hasFile = file && file.instanceId === (license ?? file).instanceId && keeper.now() <= file.expiresAt
  if (hasFile && !license?.seat) {
    return { code: 'has_file', message: 'the device has a license file; give it back with release' }
  }
  if (!license) return noLicense
  const release = hasFile ? await giveBack(ports) : undefined
  const failure = await sendDeactivate(ports, license, { release: release?.text })
  if (!failure) await keeper.change((facts) => leave(facts, license.instanceId))
  return failure
}

/**
 * Gives a floating seat back, so that others have it at once; the license stays, and the next start takes a seat again. A seat
 * that was borrowed, or that is not floating, stays as well. What does not reach the server runs out by itself.
 */
export async function giveSeatBack(ports: Ports): Promise<Failure> {
  const { keeper } = ports
  const { license, offline } = await keeper.load()
  const file = fileIn(offline)
  if (!license?.seat || (file && file.instanceId === license.instanceId)) return undefined
  // Before it is sent: a seat that may be another's must not be used here.
  await keeper.change(withoutSeat)
  return sendDeactivate(ports, license, {}, 1)
}

/**
 * Borrows the seat of this device for a time without a network: as a license file, which the vendor's server alone gives.
 * @param seconds for how long; the key type may allow less
 */
export async function borrow(ports: Ports, seconds: number): Promise<Failure> {
  const { keeper, servers } = ports
  const { license } = await keeper.load()
  if (!license) return noLicense
  const { text } = await createRequest(ports, license.key)
  const server = { relay: undefined, calls: servers.vendor }
  const asked = { borrow_seconds: Math.floor(seconds), borrow_request: text }
  const failure = await activateAt(ports, server, license.key, asked, undefined, async ({ license_file }) =>
    typeof license_file === 'string'
      ? importText(ports, license_file)
      : { code: 'refused', message: 'the license server lends no seats; its version is too old' },
  )
  keeper.reached(!failure)
  return failure
}

async function sendDeactivate(
  { servers }: Ports,
  license: HeldLicense,
  more: object,
  attempts?: number,
): Promise<Failure> {
  const body = {
    license_key: license.key,
    instance_id: license.instanceId,
    fence: license.seat?.fence,
    ...more,
  }
  const judge = async (answered: Answered) => {
    const done = answered.status === 200 && isRecord(answered.body) && answered.body.deactivated === true
    return done || hasNoSeat(answered) ? { value: true } : { problem: problemOf(answered) }
  }
  return failureOf(await servers.that(license).send('deactivate', body, judge, attempts))
}

/** The seat does not exist any more, or never did. Without a reason, 422 means that it must not be freed. */
const hasNoSeat = ({ status, body }: Answered): boolean =>
  isRecord(body) &&
  typeof body.error === 'string' &&
  ((status === 422 && body.reason !== undefined) || (status === 404 && isOfLicense(body)))

const isOfLicense = ({ error, reason }: Record<string, unknown>): boolean =>
  reason === 'not_found' || error === 'instance not found'

import type { Lease } from '../lease.ts'
import { isAnotherMachine, type LeasedDevice } from '../lease2.ts'
import type { Facts, HeldLicense } from './facts.ts'
import { fileIn, isForMachine, type OfflineFacts } from './offline/facts.ts'
import { isRefusal, type LeaseOfToken, type Proof } from './proof.ts'
import type { Bare, SignedBy, WithdrawnReason } from './states.ts'

/** What the state depends on, besides what is held. */
export type Present = {
  /** In Unix seconds. */
  time: number
  /** Whether the last attempt to reach the server failed. */
  failing: boolean
  /** What the machine is; undefined when the app does not say it. */
  device: LeasedDevice | undefined
  /** When the app was built, in Unix seconds; undefined when it is not known. */
  builtAt: number | undefined
}

/**
 * The state that a lease and a license file allow; undefined without either. A device may hold both.
 *
 * 1. What was given back does not count any more.
 * 2. A newer statement of the server that takes the license away counts over a file: that it was revoked, reminted or
 *    suspended, has expired, or that the file's own seat was freed.
 * 3. Otherwise the newer of the two decides while it is good, and then the other one while that is.
 * 4. If neither is good, the newer one says why.
 *
 * Good is what is for this machine, has not ended, and was not withdrawn by a list. Of a good one, its signed `updatesUntil` says
 * whether the build is covered; the unsigned word of the server only explains why there is no newer lease.
 */
export function ofHeld(facts: Facts, present: Present): Bare | undefined {
  const { license, offline, settings } = facts
  const given = { ...present, freeTier: settings?.freeTierEnabled ?? false }
  const file = fileIn(offline)
  const proof = license?.proof
  const online = proof && ofProof(license, proof, given)
  const carried = offline && file && ofFile(offline, file, given)
  const state = proof && file ? decisive(proof, file, online, carried) : (online ?? carried)
  return state && explained(state, license, given)
}

type Given = Present & { freeTier: boolean }

function decisive(proof: Proof, file: LeaseOfToken, online: Bare | undefined, carried: Bare | undefined) {
  const [newer, older] = proof.issuedAt >= file.issuedAt ? [online, carried] : [carried, online]
  return isGood(newer) || takesAway(proof, file) || !isGood(older) ? newer : older
}

const isGood = (state: Bare | undefined): boolean =>
  state !== undefined && ('entitlements' in state || state.status === 'not_covered')

/** Whether a newer statement of the server takes the license away that a file is for. */
export function takesAway(proof: Proof, file: LeaseOfToken): boolean {
  const isAboutFile = proof.licenseKeyHash === file.licenseKeyHash && proof.issuedAt >= file.issuedAt
  if (!isAboutFile) return false
  if (isRefusal(proof)) return proof.reason !== 'inactive' || proof.instanceId === file.instanceId
  return proof.status !== 'active' && proof.status !== 'fallback'
}

function ofProof(license: HeldLicense, proof: Proof, given: Given): Bare {
  const { freeTier, device } = given
  const at = proof.issuedAt
  if (isRefusal(proof)) return { status: 'revoked', reason: withdrawn(proof.reason), at, freeTier }
  const { status, expiresAt } = proof
  if (status === 'expired') return { status: 'expired', of: 'license', at: expiresAt, freeTier }
  if (status !== 'active' && status !== 'fallback') {
    return { status: 'revoked', reason: withdrawn(status), at, freeTier }
  }
  const isForAnother = device && 'device' in proof && proof.device && isAnotherMachine(proof.device, device)
  return isForAnother ? { status: 'another_device', freeTier } : ofLease('lease', proof, license, given)
}

function ofFile(offline: OfflineFacts, file: LeaseOfToken, given: Given): Bare {
  const { freeTier, device } = given
  if (!isForMachine(file, offline, device)) return { status: 'another_device', freeTier }
  const list = offline.withdrawn
  if (list && file.file && list.files.includes(file.file.id))
    return { status: 'revoked', reason: 'withdrawn', at: list.issuedAt, freeTier }
  return ofLease('file', file, { expiresAt: null }, { ...given, failing: false })
}

function ofLease(
  by: SignedBy,
  lease: Lease | LeaseOfToken,
  said: Pick<HeldLicense, 'expiresAt' | 'graceUntil'>,
  { time, failing, builtAt, freeTier }: Given,
): Bare {
  const { entitlements, expiresAt: until } = lease
  // A lease of the first version says less.
  const {
    values = {},
    updatesUntil = null,
    licenseExpiresAt = said.expiresAt,
    holder,
  }: Partial<LeaseOfToken> = lease
  const allowed = { entitlements, values }
  if (time > until) return { status: 'expired', of: by, at: until, allowed, freeTier }
  if (updatesUntil !== null && builtAt !== undefined && builtAt > updatesUntil) {
    return { status: 'not_covered', updatesUntil, freeTier }
  }
  const isActive = lease.status === 'active'
  const isInGrace = by === 'lease' && isActive && licenseExpiresAt !== null && time >= licenseExpiresAt
  const graceUntil = isInGrace && { graceUntil: said.graceUntil ?? until }
  const granted = { by, until, ...allowed, licenseExpiresAt, ...(holder && { holder }), ...graceUntil }
  const kind = isActive ? 'licensed' : 'fallback'
  return failing ? { status: 'offline', license: kind, ...granted } : { status: kind, ...granted }
}

/** A reason of a newer server counts as the strictest one. */
const withdrawn = (reason: string): WithdrawnReason =>
  reason === 'suspended' || reason === 'reminted' || reason === 'inactive' ? reason : 'revoked'

/** With what the server has said of the build: which release is covered, and why a lease that has ended is not renewed. */
function explained(state: Bare, license: HeldLicense | undefined, { builtAt, freeTier }: Given): Bare {
  const said = license?.notCovered
  if (!said || builtAt === undefined || builtAt <= said.updatesUntil) return state
  if (state.status === 'not_covered') return { ...said, ...state }
  return state.status === 'expired' && state.of === 'lease'
    ? { status: 'not_covered', ...said, freeTier }
    : state
}

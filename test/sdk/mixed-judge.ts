import { z } from 'zod'
import type { State } from '../../src/sdk/javascript/app/index.ts'

/** What a computer is, and which build of the app runs on it. */
export type Computer = {
  /** A part that tells it from others; undefined for one that says nothing of itself. */
  board: string | undefined
  /** In Unix seconds; undefined for an app that does not say it. */
  builtAt: number | undefined
}

const Claims = z.looseObject({
  iat: z.string(),
  exp: z.string(),
  status: z.string(),
  license_key_hash: z.string(),
  instance_id: z.string(),
  device: z.object({ components: z.record(z.string(), z.string()) }).optional(),
  updates_until: z.string().optional(),
  file: z.string().optional(),
})

/** What the server has signed, as far as it matters here. */
export type Signed = {
  iat: number
  exp: number
  status: string
  reason: string | undefined
  instance: string
  board: string | undefined
  updatesUntil: number | undefined
  file: string | undefined
}

export const claimsIn = (token: string): unknown => {
  const body = token.replace(/-----[A-Z ]+-----|\s/g, '').split('.')[2] ?? ''
  return JSON.parse(Buffer.from(body, 'base64url').subarray(0, -64).toString())
}

const seconds = (moment: string) => Date.parse(moment) / 1000

/** Reads a lease or a license file. */
export function signedIn(token: string): Signed {
  const { iat, exp, status, instance_id: instance, device, ...more } = Claims.parse(claimsIn(token))
  return {
    ...{ iat: seconds(iat), exp: seconds(exp), status, reason: undefined, instance },
    board: device?.components.board,
    updatesUntil: more.updates_until === undefined ? undefined : seconds(more.updates_until),
    file: more.file,
  }
}

const Refusal = z.looseObject({ issuedAt: z.int(), reason: z.string(), instanceId: z.string() })

/** The proof in an answer of the server; undefined without one. */
export function proofIn(body: unknown): Signed | undefined {
  const { lease2, refusal } = z
    .looseObject({ lease2: z.string().optional(), refusal: Refusal.optional() })
    .parse(body)
  if (lease2 !== undefined) return signedIn(lease2)
  if (!refusal) return undefined
  const { issuedAt: iat, reason, instanceId: instance } = refusal
  return {
    iat,
    exp: 0,
    status: '',
    reason,
    instance,
    board: undefined,
    updatesUntil: undefined,
    file: undefined,
  }
}

/** What has reached one storage. It is copied and restored with the storage. */
export type Reached = {
  proof?: Signed | undefined
  file?: Signed | undefined
  withdrawn: readonly string[]
  /** The time of the newest statement, and the greatest time that was seen since. */
  newest: number
  seen: number
}

export const nothing: Reached = { withdrawn: [], newest: 0, seen: 0 }

export function reachedBy(reached: Reached, proof: Signed, now: number): Reached {
  const { proof: held, newest, seen } = reached
  const least = held?.instance === proof.instance ? held.iat : newest
  if (proof.iat <= least) return reached
  const begun = Math.max(proof.iat, now, proof.reason === undefined ? 0 : seen)
  const file = held && held.instance !== proof.instance && isTaken(reached) ? undefined : reached.file
  return { ...reached, proof, file, newest: Math.max(newest, proof.iat), seen: begun }
}

export const withFile = (reached: Reached, file: Signed, now: number): Reached => ({
  ...reached,
  file,
  newest: Math.max(reached.newest, file.iat),
  seen: Math.max(file.iat, now),
})

/** After a seat was given up, nothing that was signed for it counts. */
export function without(reached: Reached, instance: string | undefined): Reached {
  const isHeld = reached.proof?.instance === instance
  const isLost = reached.file?.instance === instance || (isHeld && isTaken(reached))
  return {
    ...reached,
    proof: isHeld ? undefined : reached.proof,
    file: isLost ? undefined : reached.file,
  }
}

/** Whether the server has taken the file away since it was made. */
const isTaken = ({ proof, file }: Reached): boolean =>
  proof !== undefined &&
  file !== undefined &&
  !grants(proof) &&
  proof.iat >= file.iat &&
  (proof.reason !== 'inactive' || proof.instance === file.instance)

const grants = ({ status }: Signed) => status === 'active' || status === 'fallback'

/** What may be used now, the newer first: signed for this computer, not ended, not taken away. */
function good(reached: Reached, { board }: Computer, time: number): Signed[] {
  const { proof, file, withdrawn } = reached
  const taken = isTaken(reached)
  const lease = proof && grants(proof) && (!proof.board || !board || proof.board === board) ? [proof] : []
  const carried = file && !taken && file.board === board && !withdrawn.includes(file.file ?? '') ? [file] : []
  return [...lease, ...carried].filter(({ exp }) => time <= exp).toSorted((one, other) => other.iat - one.iat)
}

/** How far the time that an app stores may be behind the one that it has seen. */
const tolerance = 120

export type Verdict =
  | 'too close to an end'
  | 'nothing'
  | 'not covered'
  | { by: 'lease' | 'file'; until: number }

/** What the state has to be. */
export function verdictOn(reached: Reached, computer: Computer, now: number): Verdict {
  const time = Math.max(reached.seen, now)
  const ends = [reached.proof, reached.file].flatMap((signed) => (signed ? [signed.exp] : []))
  if (ends.some((end) => Math.abs(end - time) <= tolerance)) return 'too close to an end'
  const [first] = good(reached, computer, time)
  if (!first) return 'nothing'
  const { builtAt } = computer
  const isCovered = builtAt === undefined || first.updatesUntil === undefined || builtAt <= first.updatesUntil
  return isCovered ? { by: first.file === undefined ? 'lease' : 'file', until: first.exp } : 'not covered'
}

/** What a state says, in the words of a verdict. A build may also be refused without a lease that says so. */
export const saidBy = (state: State): Exclude<Verdict, 'too close to an end'> => {
  if ('entitlements' in state) return { by: state.by, until: state.until }
  return state.status === 'not_covered' ? 'not covered' : 'nothing'
}

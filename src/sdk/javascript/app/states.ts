import { ownIn } from '../keyset.ts'
import type { EntitlementValue } from '../lease2.ts'
import type { NotCovered } from './updates.ts'

/**
 * Why the license was withdrawn from this device. `withdrawn`: a list that was carried here names its file, without the
 * reason.
 */
export type WithdrawnReason = 'revoked' | 'suspended' | 'reminted' | 'inactive' | 'withdrawn'

/** What was signed for the device: a lease of the server, or a license file that was carried to it. */
export type SignedBy = 'lease' | 'file'

type Allowed = {
  entitlements: readonly string[]
  /** Of the entitlements that are more than flags: a number or text. {@link value} reads them. */
  values: Readonly<Record<string, EntitlementValue>>
}

type Granted = Allowed & {
  by: SignedBy
  /** Until when the app may go on without reaching the server, or without the next file, in Unix seconds. */
  until: number
  /** When the license itself ends, for display; null when it does not. */
  licenseExpiresAt: number | null
  /** Whom it is licensed to, for display; absent where the product does not name them. */
  holder?: { name: string | null; email: string | null }
  /**
   * While the license goes on after its end: until when, as the server has said, or else at least. Like `licenseExpiresAt` for
   * display: what the app may do ends with `until`.
   */
  graceUntil?: number
}

/** What an app shows and allows. There is exactly one at any time. */
export type State = Bare & {
  /** The clock of the device is behind a time that was already seen. That later time is then used. */
  clockSetBack: boolean
}

/** A state apart from the clock. */
export type Bare =
  | { /** The storage has not been read yet. */ status: 'starting' }
  | {
      /** No license, no trial under way, no free tier: ask for a license key, or offer the trial. */
      status: 'unlicensed'
      /** The days of the trial that can be started, if there is one. */
      trialDays?: number
    }
  | ({ status: 'licensed' } & Granted)
  /** The license has ended, and its fallback entitlements stay. */
  | ({ status: 'fallback' } & Granted)
  /** The last attempts to reach the server failed; the stored lease is good `until` its end. */
  | ({ status: 'offline'; license: 'licensed' | 'fallback' } & Granted)
  | { status: 'trial'; until: number }
  | { status: 'free'; trialDays?: number }
  | { status: 'expired'; of: 'license' | 'trial'; at: number; freeTier: boolean }
  | {
      status: 'expired'
      /** `lease`: connecting again may bring the license back. `file`: the next file does. */
      of: SignedBy
      at: number
      /** What was granted until then: whether an app that is running stops in the middle of its work is the vendor's to decide. */
      allowed: Allowed
      /** Whether the app may continue with its free tier. */
      freeTier: boolean
    }
  | { status: 'revoked'; reason: WithdrawnReason; at: number; freeTier: boolean }
  /** The license is good, but the app was built after its updates ended: offer an older build, or to extend the updates. */
  | ({ status: 'not_covered'; freeTier: boolean } & NotCovered)
  /**
   * The license was given to another machine: the storage was copied here, or the machine has changed very much. A validate
   * asks the server for a lease for this one; in place of a file, a new one has to be asked for.
   */
  | { status: 'another_device'; freeTier: boolean }

/** The moment at which the state ends by itself, if it does. */
export const endOf = (state: State): number | undefined => ('until' in state ? state.until : undefined)

/** Whether the license itself is good, and not only its fallback. */
export const isActive = (state: State): state is Extract<State, { licenseExpiresAt: unknown }> =>
  state.status === 'licensed' || (state.status === 'offline' && state.license === 'licensed')

/** Whether an app may use what has this name. */
export const has = (state: State, name: string): boolean =>
  'entitlements' in state && state.entitlements.includes(name)

/** How much of it an app may use: a number or text, or true when it has no value; undefined when it may not use it. */
export const value = (state: State, name: string): EntitlementValue | undefined =>
  'entitlements' in state && has(state, name) ? (ownIn(state.values, name) ?? true) : undefined

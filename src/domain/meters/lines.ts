import type { MeterEvent } from './events.ts'
import type { Period } from './period.ts'
import type { SharesText } from './shares.ts'

export const lineKinds = ['use', 'hold', 'commit', 'allowance', 'credit', 'correction', 'withdrawal'] as const
export type LineKind = (typeof lineKinds)[number]

/** A line of a bill: what was used is the sum of its uses and commits without its corrections. */
export type Line = {
  kind: LineKind
  /** The key of the request that it answers; of a commit the id of its hold. */
  key: string | null
  /** Of a withdrawal, what was left of the credit; null where that was not recorded. */
  amount: string | null
  /** What it was taken from, or given back to; null of a credit. */
  from: SharesText | null
  period: Period | null
  /** Of a hold, of an allowance, and of a credit. */
  endsAt: string | null
  /** Of the hold, of the credit, or of the allowance, which a use may be taken from. */
  subjectId: string | null
  /** Of a meter that licenses share: the one that used it. */
  licenseId: string | null
  usedAt: string | null
  late: boolean
  /** The order number of a credit, or the reason of a correction or a withdrawal. */
  note: string | null
  at: string
}

const nothing = {
  from: null,
  period: null,
  endsAt: null,
  subjectId: null,
  licenseId: null,
  usedAt: null,
  late: false,
  note: null,
}

/** The lines that an event adds. What opens a meter, frees a hold, or tells how a period stands, adds none. */
export function linesOf(event: MeterEvent): Line[] {
  switch (event.type) {
    case 'MeterOpened':
    case 'SharedMeterOpened':
    case 'HoldReleased':
    case 'AllowanceReturned':
    case 'ThresholdReached':
    case 'ThresholdsRearmed':
    case 'PeriodClosed':
      return []
    case 'UsesRecorded': {
      const { uses, at } = event.data
      return uses.map(
        ({ usedAt = null, late = false, licenseId = null, allowance: subjectId = null, ...use }) => {
          const { key, amount, from, period } = use
          return {
            ...{ ...nothing, kind: 'use', key, amount, from, period, subjectId, usedAt, late, licenseId, at },
          }
        },
      )
    }
    case 'UseCorrected': {
      const { key, amount, to: from, period, reason: note, at } = event.data
      return [{ ...nothing, kind: 'correction', key, amount, from, period, note, at }]
    }
    case 'HoldPlaced': {
      const { holdId: subjectId, key, amount, from, period, endsAt, licenseId = null, at } = event.data
      return [{ ...nothing, kind: 'hold', key, amount, from, period, endsAt, subjectId, licenseId, at }]
    }
    case 'AllowanceGranted': {
      const { allowanceId: subjectId, key, amount, from, period, endsAt, licenseId = null, at } = event.data
      return [{ ...nothing, kind: 'allowance', key, amount, from, period, endsAt, subjectId, licenseId, at }]
    }
    case 'HoldCommitted': {
      const { holdId, amount, from, period, licenseId = null, at } = event.data
      const line = {
        ...nothing,
        kind: 'commit',
        key: holdId,
        amount,
        from,
        period,
        subjectId: holdId,
      } as const
      return [{ ...line, licenseId, at }]
    }
    case 'CreditAdded': {
      const { creditId: subjectId, key, amount, endsAt, order: note, at } = event.data
      return [{ ...nothing, kind: 'credit', key, amount, endsAt, subjectId, note, at }]
    }
    case 'CreditWithdrawn': {
      const { creditId: subjectId, reason: note, key = null, left: amount = null, at } = event.data
      return [{ ...nothing, kind: 'withdrawal', key, amount, subjectId, note, at }]
    }
  }
}

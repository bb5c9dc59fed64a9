import type { MeterEvent } from './events.ts'
import type { Period } from './period.ts'
import type { SharesText } from './shares.ts'

export const lineKinds = ['use', 'hold', 'commit', 'credit', 'correction', 'withdrawal'] as const
export type LineKind = (typeof lineKinds)[number]

/** A line of a bill: what a license used is the sum of its uses and commits without its corrections. */
export type Line = {
  kind: LineKind
  /** The key of the request that it answers; of a commit the id of its hold. */
  key: string | null
  /** null of a withdrawal: whatever is left of the credit. */
  amount: string | null
  /** What it was taken from, or given back to; null of a credit. */
  from: SharesText | null
  period: Period | null
  /** Of a hold and of a credit. */
  endsAt: string | null
  /** Of the hold or of the credit. */
  subjectId: string | null
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
  usedAt: null,
  late: false,
  note: null,
}

/** The lines that an event adds. What opens a meter, or frees a hold, adds none. */
export function linesOf(event: MeterEvent): Line[] {
  switch (event.type) {
    case 'MeterOpened':
    case 'HoldReleased':
      return []
    case 'UsesRecorded': {
      const { uses, at } = event.data
      return uses.map(({ key, amount, from, period, usedAt = null, late = false }) => ({
        ...{ ...nothing, kind: 'use', key, amount, from, period, usedAt, late, at },
      }))
    }
    case 'UseCorrected': {
      const { key, amount, to: from, period, reason: note, at } = event.data
      return [{ ...nothing, kind: 'correction', key, amount, from, period, note, at }]
    }
    case 'HoldPlaced': {
      const { holdId: subjectId, key, amount, from, period, endsAt, at } = event.data
      return [{ ...nothing, kind: 'hold', key, amount, from, period, endsAt, subjectId, at }]
    }
    case 'HoldCommitted': {
      const { holdId, amount, from, period, at } = event.data
      return [{ ...nothing, kind: 'commit', key: holdId, amount, from, period, subjectId: holdId, at }]
    }
    case 'CreditAdded': {
      const { creditId: subjectId, key, amount, endsAt, order: note, at } = event.data
      return [{ ...nothing, kind: 'credit', key, amount, endsAt, subjectId, note, at }]
    }
    case 'CreditWithdrawn': {
      const { creditId: subjectId, reason: note, at } = event.data
      return [{ ...nothing, kind: 'withdrawal', key: null, amount: null, subjectId, note, at }]
    }
  }
}

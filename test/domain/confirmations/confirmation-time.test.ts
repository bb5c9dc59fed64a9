/** A confirmation can be decided for ten minutes, and an approval can be used for an hour. */
import { describe, expect, test } from 'vitest'
import {
  confirmationStatusAt,
  secondsLeft,
  secondsToUse,
} from '../../../src/domain/confirmations/confirmation.ts'

const at = '2026-03-01T12:00:00.000Z'
const expiresAt = '2026-03-01T12:10:00.000Z'
const early = '2026-03-01T12:09:59.999Z'
const late = expiresAt
/** An hour after the approval. */
const unused = '2026-03-01T13:00:00.000Z'
const justInTime = '2026-03-01T12:59:59.999Z'

describe('the remaining time', () => {
  const pending = { status: 'pending', expiresAt, decidedAt: null } as const
  const decidedAt = at
  test.each([
    [at, 'pending', 600],
    ['2026-03-01T12:00:00.001Z', 'pending', 600],
    [early, 'pending', 1],
    [late, 'expired', 0],
    ['2026-03-02T12:00:00.000Z', 'expired', 0],
  ] as const)('at %s it is %s with %i seconds left', (now, status, seconds) => {
    expect(confirmationStatusAt(pending, now)).toBe(status)
    expect(secondsLeft(pending, now)).toBe(seconds)
  })
  test.each(['approved', 'denied', 'expired', 'consumed', 'executed'] as const)(
    'one that is %s stays so, and no time is left to decide',
    (status) => {
      expect(confirmationStatusAt({ status, expiresAt, decidedAt }, late)).toBe(status)
      expect(secondsLeft({ status, expiresAt, decidedAt }, at)).toBe(0)
    },
  )
  test.each([
    [at, 'approved', 3600],
    [late, 'approved', 3000],
    [justInTime, 'approved', 1],
    [unused, 'expired', 0],
  ] as const)('at %s an approval is %s with %i seconds left to use it', (now, status, seconds) => {
    const state = { status: 'approved', expiresAt, decidedAt } as const
    expect(confirmationStatusAt(state, now)).toBe(status)
    expect(secondsToUse(state, now)).toBe(seconds)
  })
})

/**
 * A confirmation is decided once, by a person, before it expires. It is consumed once, by the token that made
 * the request and for that request only. It is over when its execution is recorded.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  absentConfirmation,
  type Confirmation,
  type ConfirmationCommand,
  type ConfirmationStatus,
  decideConfirmation,
  evolveConfirmation,
} from '../../../src/domain/confirmations/confirmation.ts'
import type { ConfirmationEvent, GatedRequest } from '../../../src/domain/confirmations/events.ts'
import type { RefusalCode } from '../../../src/domain/refusal.ts'
import { givenOn, outcomeOf } from '../given.ts'

const given = givenOn({ initial: absentConfirmation, decide: decideConfirmation, evolve: evolveConfirmation })

const at = '2026-03-01T12:00:00.000Z'
const expiresAt = '2026-03-01T12:10:00.000Z'
const early = '2026-03-01T12:09:59.999Z'
const late = expiresAt
/** An hour after the approval. */
const unused = '2026-03-01T13:00:00.000Z'
const justInTime = '2026-03-01T12:59:59.999Z'

const requestHash = 'a'.repeat(64)
const request: GatedRequest = {
  confirmationId: 'cnf_1',
  tenantId: 'acme',
  tokenId: 'tok_1',
  operation: 'license.revoke',
  method: 'POST',
  path: '/v1/licenses/{id}/revoke',
  parameters: { id: 'lic_1' },
  requestHash,
  stateHash: 'b'.repeat(64),
  client: { from: { subjectId: 'sub_1', address: 'sealed.1.key.text' }, userAgent: null },
  requestId: 'req_1',
  expiresAt,
}
const by = 'member:mem_1'
const other = 'operator:root'

/** A tenant without an approval rule. */
const rule = { anotherMember: false, requestedBy: 'mem_1' }

const requested: ConfirmationEvent = { type: 'ConfirmationRequested', data: { ...request, at } }
const approved: ConfirmationEvent = { type: 'ConfirmationApproved', data: { by, at } }
const denied: ConfirmationEvent = { type: 'ConfirmationDenied', data: { by, at } }
const withdrawn: ConfirmationEvent = { type: 'ConfirmationWithdrawn', data: { by: other, at } }
const expired: ConfirmationEvent = { type: 'ConfirmationExpired', data: { at: late } }
const consumed: ConfirmationEvent = { type: 'ConfirmationConsumed', data: { at } }
const executed: ConfirmationEvent = {
  type: 'ConfirmationExecuted',
  data: { outcome: 'done', reason: null, at },
}

const histories: Record<
  ConfirmationStatus | 'absent' | 'overdue' | 'unused' | 'withdrawn',
  ConfirmationEvent[]
> = {
  absent: [],
  pending: [requested],
  overdue: [requested],
  approved: [requested, approved],
  denied: [requested, denied],
  withdrawn: [requested, approved, withdrawn],
  unused: [requested, approved],
  expired: [requested, expired],
  consumed: [requested, approved, consumed],
  executed: [requested, approved, consumed, executed],
}
type Stage = keyof typeof histories

const command = {
  request: { type: 'RequestConfirmation', request },
  approve: { type: 'Approve', by: other, rule },
  withdraw: { type: 'Withdraw', by: other },
  deny: { type: 'Deny', by: other },
  expire: { type: 'Expire' },
  consume: { type: 'Consume', tokenId: 'tok_1', requestHash },
  foreign: { type: 'Consume', tokenId: 'tok_2', requestHash },
  mismatched: { type: 'Consume', tokenId: 'tok_1', requestHash: 'c'.repeat(64) },
  record: { type: 'RecordExecution', outcome: 'refused', reason: 'key_type_in_use' },
} as const
type Asked = keyof typeof command

/** The whole table: the result of each command in each stage. `nothing`: it was already true. */
const table: Record<Stage, Record<Asked, ConfirmationEvent['type'] | RefusalCode | 'nothing'>> = {
  absent: {
    request: 'ConfirmationRequested',
    approve: 'confirmation_not_found',
    deny: 'confirmation_not_found',
    withdraw: 'confirmation_not_found',
    expire: 'confirmation_not_found',
    consume: 'confirmation_unknown',
    foreign: 'confirmation_unknown',
    mismatched: 'confirmation_unknown',
    record: 'confirmation_not_found',
  },
  pending: {
    request: 'confirmation_exists',
    approve: 'ConfirmationApproved',
    deny: 'ConfirmationDenied',
    withdraw: 'confirmation_pending',
    expire: 'nothing',
    consume: 'confirmation_pending',
    foreign: 'confirmation_unknown',
    mismatched: 'confirmation_mismatch',
    record: 'confirmation_pending',
  },
  overdue: {
    request: 'confirmation_exists',
    approve: 'confirmation_expired',
    deny: 'confirmation_expired',
    withdraw: 'confirmation_expired',
    expire: 'ConfirmationExpired',
    consume: 'confirmation_expired',
    foreign: 'confirmation_unknown',
    mismatched: 'confirmation_mismatch',
    record: 'confirmation_expired',
  },
  approved: {
    request: 'confirmation_exists',
    approve: 'nothing',
    deny: 'confirmation_approved',
    withdraw: 'ConfirmationWithdrawn',
    expire: 'nothing',
    consume: 'ConfirmationConsumed',
    foreign: 'confirmation_unknown',
    mismatched: 'confirmation_mismatch',
    record: 'confirmation_approved',
  },
  unused: {
    request: 'confirmation_exists',
    approve: 'confirmation_expired',
    deny: 'confirmation_expired',
    withdraw: 'confirmation_expired',
    expire: 'ConfirmationExpired',
    consume: 'confirmation_expired',
    foreign: 'confirmation_unknown',
    mismatched: 'confirmation_mismatch',
    record: 'confirmation_expired',
  },
  withdrawn: {
    request: 'confirmation_exists',
    approve: 'confirmation_denied',
    deny: 'nothing',
    withdraw: 'nothing',
    expire: 'nothing',
    consume: 'confirmation_denied',
    foreign: 'confirmation_unknown',
    mismatched: 'confirmation_mismatch',
    record: 'confirmation_denied',
  },
  denied: {
    request: 'confirmation_exists',
    approve: 'confirmation_denied',
    deny: 'nothing',
    withdraw: 'nothing',
    expire: 'nothing',
    consume: 'confirmation_denied',
    foreign: 'confirmation_unknown',
    mismatched: 'confirmation_mismatch',
    record: 'confirmation_denied',
  },
  expired: {
    request: 'confirmation_exists',
    approve: 'confirmation_expired',
    deny: 'confirmation_expired',
    withdraw: 'confirmation_expired',
    expire: 'nothing',
    consume: 'confirmation_expired',
    foreign: 'confirmation_unknown',
    mismatched: 'confirmation_mismatch',
    record: 'confirmation_expired',
  },
  consumed: {
    request: 'confirmation_exists',
    approve: 'nothing',
    deny: 'confirmation_consumed',
    withdraw: 'confirmation_consumed',
    expire: 'nothing',
    consume: 'confirmation_consumed',
    foreign: 'confirmation_unknown',
    mismatched: 'confirmation_mismatch',
    record: 'ConfirmationExecuted',
  },
  executed: {
    request: 'confirmation_exists',
    approve: 'nothing',
    deny: 'confirmation_consumed',
    withdraw: 'confirmation_consumed',
    expire: 'nothing',
    consume: 'confirmation_consumed',
    foreign: 'confirmation_unknown',
    mismatched: 'confirmation_mismatch',
    record: 'nothing',
  },
}

const cells = (Object.keys(histories) as Stage[]).flatMap((stage) =>
  (Object.keys(command) as Asked[]).map((asked) => ({ stage, asked, comesTo: table[stage][asked] })),
)

test.each(cells)('$asked on one that is $stage: $comesTo', ({ stage, asked, comesTo }) => {
  const state = histories[stage].reduce(evolveConfirmation, absentConfirmation)
  const now = stage === 'overdue' ? late : stage === 'unused' ? unused : early
  const outcome = outcomeOf(() => decideConfirmation(state, { ...command[asked], at: now }))
  const found = 'refusal' in outcome ? outcome.refusal : (outcome.events[0]?.type ?? 'nothing')
  expect(found).toBe(comesTo)
  expect('events' in outcome ? outcome.events.length : 0).toBeLessThanOrEqual(1)
})

describe('what is recorded', () => {
  test('a request is recorded whole', () =>
    given().when({ type: 'RequestConfirmation', request, at }).expectEvents([requested]))
  test('a decision is recorded with who has made it', () => {
    given(requested)
      .when({ type: 'Approve', by: other, rule, at: early })
      .expectEvents([{ type: 'ConfirmationApproved', data: { by: other, at: early } }])
    given(requested)
      .when({ type: 'Deny', by: other, at: early })
      .expectEvents([{ type: 'ConfirmationDenied', data: { by: other, at: early } }])
  })
  test('an execution that the rules refused is recorded with the reason', () =>
    given(requested, approved, consumed)
      .when({ type: 'RecordExecution', outcome: 'refused', reason: 'key_type_in_use', at: late })
      .expectEvents([
        {
          type: 'ConfirmationExecuted',
          data: { outcome: 'refused', reason: 'key_type_in_use', at: late },
        },
      ]))
  test('a use that the rules refuse ends it at once, with the reason', () =>
    given(requested, approved)
      .when({ type: 'Consume', tokenId: 'tok_1', requestHash, refusal: 'license_revoked', at: early })
      .expectEvents([
        { type: 'ConfirmationConsumed', data: { at: early } },
        {
          type: 'ConfirmationExecuted',
          data: { outcome: 'refused', reason: 'license_revoked', at: early },
        },
      ]))
  test('an approval can be used for an hour, and has expired from then on', () => {
    given(requested, approved)
      .when({ type: 'Consume', tokenId: 'tok_1', requestHash, at: justInTime })
      .expectEvents([{ type: 'ConfirmationConsumed', data: { at: justInTime } }])
    given(requested, approved)
      .when({ type: 'Consume', tokenId: 'tok_1', requestHash, at: unused })
      .expectRefusal('confirmation_expired')
    given(requested, approved).when({ type: 'Expire', at: justInTime }).expectEvents([])
    given(requested, approved)
      .when({ type: 'Expire', at: unused })
      .expectEvents([{ type: 'ConfirmationExpired', data: { at: unused } }])
  })
  test('one that was consumed never expires, whenever it is executed', () =>
    given(requested, approved, consumed)
      .when({ type: 'RecordExecution', outcome: 'done', reason: null, at: '2027-03-01T12:00:00.000Z' })
      .expectEvents([
        {
          type: 'ConfirmationExecuted',
          data: { outcome: 'done', reason: null, at: '2027-03-01T12:00:00.000Z' },
        },
      ]))
})

describe('where another member has to approve', () => {
  const approving = (person: string, requestedBy: string | null) =>
    given(requested).when({
      type: 'Approve',
      by: person,
      rule: { anotherMember: true, requestedBy },
      at: early,
    })
  const approvedBy = (person: string): ConfirmationEvent[] => [
    { type: 'ConfirmationApproved', data: { by: person, at: early } },
  ]

  test('the requesting member cannot approve', () =>
    approving('member:mem_1', 'mem_1').expectRefusal('approval_by_another'))
  test('another member can approve', () =>
    approving('member:mem_2', 'mem_1').expectEvents(approvedBy('member:mem_2')))
  test('an operator on the host can approve', () =>
    approving('operator:mem_1', 'mem_1').expectEvents(approvedBy('operator:mem_1')))
  test('every member can approve when no member is the requester', () =>
    approving('member:mem_1', null).expectEvents(approvedBy('member:mem_1')))
  test('the requesting member can still deny, and withdraw', () => {
    given(requested)
      .when({ type: 'Deny', by: 'member:mem_1', at: early })
      .expectEvents([{ type: 'ConfirmationDenied', data: { by: 'member:mem_1', at: early } }])
    given(requested, approved)
      .when({ type: 'Withdraw', by: 'member:mem_1', at: early })
      .expectEvents([{ type: 'ConfirmationWithdrawn', data: { by: 'member:mem_1', at: early } }])
  })
})

describe('for any commands, in any order and at any time', () => {
  const moment = fc
    .integer({ min: 0, max: 6_000_000 })
    .map((ms) => new Date(Date.parse(at) + ms).toISOString())
  const anyCommand = fc
    .tuple(fc.constantFrom(...(Object.keys(command) as Asked[])), moment)
    .map(([asked, now]): ConfirmationCommand => ({ ...command[asked], at: now }))

  function live(commands: readonly ConfirmationCommand[]): ConfirmationEvent[] {
    let state: Confirmation = absentConfirmation
    const log: ConfirmationEvent[] = []
    for (const asked of commands) {
      const outcome = outcomeOf(() => decideConfirmation(state, asked))
      const events = 'events' in outcome ? outcome.events : []
      state = events.reduce(evolveConfirmation, state)
      log.push(...events)
    }
    return log
  }

  test('its history is a prefix of one of the possible ones', () => {
    const paths = [
      'Requested Approved Consumed Executed',
      'Requested Approved Withdrawn',
      'Requested Approved Expired',
      'Requested Denied',
      'Requested Expired',
    ]
    fc.assert(
      fc.property(fc.array(anyCommand, { maxLength: 30 }), (commands) => {
        const path = live(commands)
          .map(({ type }) => type.replace('Confirmation', ''))
          .join(' ')
        expect(paths.some((whole) => whole.startsWith(path))).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('it is decided before its expiry, and recorded as expired only after it', () =>
    fc.assert(
      fc.property(fc.array(anyCommand, { maxLength: 30 }), (commands) => {
        let approvedAt: string | undefined
        for (const { type, data } of live(commands)) {
          if (type === 'ConfirmationApproved') approvedAt = data.at
          if (type === 'ConfirmationApproved' || type === 'ConfirmationDenied') {
            expect(data.at < expiresAt).toBe(true)
          }
          if (type !== 'ConfirmationExpired') continue
          const lateBy = approvedAt === undefined ? 0 : Date.parse(data.at) - Date.parse(approvedAt)
          expect(approvedAt === undefined ? data.at >= expiresAt : lateBy >= 3_600_000).toBe(true)
        }
      }),
      { numRuns: 2000 },
    ))

  test('any sequence of events is applied without an error, and it is absent until it is requested', () =>
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(requested, approved, denied, withdrawn, expired, consumed, executed)),
        (history) => {
          const state = history.reduce(evolveConfirmation, absentConfirmation)
          expect(state.status === 'absent').toBe(!history.includes(requested))
        },
      ),
    ))
})

test('the state holds who decided, when it was used, and the outcome', () => {
  const state = histories.executed.reduce(evolveConfirmation, absentConfirmation)
  expect(state).toStrictEqual({
    ...request,
    status: 'executed',
    createdAt: at,
    decidedBy: by,
    decidedAt: at,
    withdrawnBy: null,
    withdrawnAt: null,
    mailed: [],
    consumedAt: at,
    executedAt: at,
    outcome: 'done',
    reason: null,
  })
})

import { now } from '../keys.ts'
import { claims, time } from '../leases2.ts'
import { leaseOf, refusalOf, settingsOf } from '../signed.ts'
import type { Happening, Story } from '../story.ts'
import { tokenOf } from '../tokens.ts'

const day = 86_400

/** A lease of the second version. @param issuedAt Unix seconds */
export const lease2Of = (issuedAt: number, expiresAt: number, more: object = {}): string =>
  tokenOf({
    ...claims,
    iat: time(issuedAt),
    nbf: time(issuedAt - day),
    exp: time(expiresAt),
    serial: issuedAt * 1_000_000,
    ...more,
  })

/** The answer to an activate or a validate, with a lease of either version. */
export const answerOf = (version: 1 | 2, issuedAt: number, expiresAt: number, status: string) =>
  version === 1
    ? { lease: leaseOf({ issuedAt, expiresAt, status }) }
    : { lease2: lease2Of(issuedAt, expiresAt, { status }) }

const free = { free_tier_enabled: true }
const grants: Readonly<Record<string, 'licensed' | 'fallback' | undefined>> = {
  active: 'licensed',
  fallback: 'fallback',
}

/** Each status of a lease, from before it was signed until after its end, with and without a free tier and a network. */
function* ofOneLease(): Generator<Story> {
  const end = now + 7 * day
  for (const version of [1, 2] as const)
    for (const status of ['active', 'fallback', 'expired', 'suspended', 'of_a_newer_server'])
      for (const isFree of [false, true]) {
        const granted = grants[status]
        const over = granted ? 'expired' : undefined
        const withdrawn = status === 'expired' ? 'expired' : 'revoked'
        const steps: Happening[] = [
          ...(isFree
            ? [{ at: now, step: 'take_settings', answer: free, as: 'fresh', status: 'free' } as const]
            : []),
          {
            at: now,
            step: 'take_proof',
            answer: answerOf(version, now, end, status),
            as: 'fresh',
            status: granted ?? withdrawn,
          },
          { at: now + day, step: 'wait', failing: true, status: granted ? 'offline' : withdrawn },
          { at: now + day, step: 'restart', status: granted ?? withdrawn },
          { at: end, step: 'wait', status: granted ?? withdrawn },
          { at: end + 1, step: 'wait', status: over ?? withdrawn },
          { at: end + 1, step: 'wait', failing: true, status: over ?? withdrawn },
          { at: end - day, step: 'wait', status: over ?? withdrawn },
          { at: now - 2 * day, step: 'restart', status: over ?? withdrawn },
        ]
        yield {
          name: `lease ${version}, ${status}${isFree ? ', with a free tier' : ''}`,
          why: 'it counts until its end, which stays when the clock is set back',
          steps,
        }
      }
}

/** What is offered after something is held, by what each is and when each was signed: the newer counts, or what grants less. */
function* ofTwoProofs(): Generator<Story> {
  const kinds = ['active', 'fallback', 'expired', 'refusal'] as const
  const statusOf = {
    active: 'licensed',
    fallback: 'fallback',
    expired: 'expired',
    refusal: 'revoked',
  } as const
  const end = now + 7 * day
  const answer = (kind: (typeof kinds)[number], issuedAt: number) =>
    kind === 'refusal' ? { refusal: refusalOf({ issuedAt }) } : answerOf(1, issuedAt, end, kind)
  for (const [strictHeld, held] of kinds.entries())
    for (const [strictOffered, offered] of kinds.entries())
      for (const [when, later] of [
        ['older', -1],
        ['of the same second', 0],
        ['newer', 1],
      ] as const) {
        const isTaken = later > 0 || (later === 0 && strictOffered > strictHeld)
        const isSame = later === 0 && strictOffered === strictHeld
        yield {
          name: `${held}, then ${offered}, ${when}`,
          why: 'the newer statement counts; of the same second, the one that grants less',
          steps: [
            { at: now, step: 'take_proof', answer: answer(held, now), as: 'fresh', status: statusOf[held] },
            {
              at: now + 60,
              step: 'take_proof',
              answer: answer(offered, now + later),
              as: isTaken ? 'fresh' : isSame ? 'same' : 'stale',
              status: statusOf[isTaken ? offered : held],
            },
          ],
        }
      }
}

/** Reasons of refusals, known and unknown. */
function* ofRefusals(): Generator<Story> {
  for (const reason of ['revoked', 'suspended', 'reminted', 'inactive', 'of_a_newer_server'])
    for (const isHeld of [false, true])
      yield {
        name: `refused: ${reason}${isHeld ? ', after a lease' : ''}`,
        why: 'a signed refusal withdraws the license at once; a reason that is not known is read as revoked',
        steps: [
          ...(isHeld
            ? [
                {
                  at: now,
                  step: 'take_proof',
                  answer: answerOf(2, now, now + day, 'active'),
                  as: 'fresh',
                  status: 'licensed',
                } as const,
              ]
            : []),
          {
            at: now + 10,
            step: 'take_proof',
            answer: { error: 'refused', reason, refusal: refusalOf({ issuedAt: now + 5, reason }) },
            as: 'fresh',
            status: 'revoked',
          },
          { at: now + 20, step: 'restart', status: 'revoked' },
          {
            at: now + 30,
            step: 'take_proof',
            answer: answerOf(2, now + 25, now + day, 'active'),
            as: 'fresh',
            status: 'licensed',
          },
        ],
      }
}

/** Answers that prove nothing change nothing. */
function* ofDoubts(): Generator<Story> {
  const good = answerOf(1, now, now + day, 'active')
  const doubts: [string, unknown, string, string][] = [
    ['nothing', {}, 'malformed', 'an answer without a lease'],
    ['a page', '<html>', 'malformed', 'the sign-in page of a network'],
    ['null', null, 'malformed', 'JSON, but no answer'],
    ['valid alone', { valid: true }, 'malformed', 'a word that nobody has signed'],
    [
      'an invented refusal',
      { refusal: { ...refusalOf(), signature: '' } },
      'bad_signature',
      'anybody could write it',
    ],
    [
      'a lease of another instance',
      { lease: leaseOf({ issuedAt: now + 5, instanceId: 'ins_other' }) },
      'another_instance',
      'copied from another device',
    ],
    [
      'a refusal of another license',
      { refusal: refusalOf({ issuedAt: now + 5, licenseKeyHash: '0'.repeat(64) }) },
      'another_license',
      'kept from another license of the same person',
    ],
    [
      'a changed lease',
      { lease: { ...leaseOf({ issuedAt: now + 5 }), expiresAt: now + 9 * day } },
      'bad_signature',
      'its end was moved',
    ],
  ]
  for (const [name, answer, as, why] of doubts)
    yield {
      name: `not taken: ${name}`,
      why,
      steps: [
        { at: now, step: 'take_proof', answer: good, as: 'fresh', status: 'licensed' },
        { at: now + 10, step: 'take_proof', answer, as, status: 'licensed' },
        { at: now + day + 1, step: 'take_proof', answer, as, status: 'expired' },
      ],
    }
}

/** What was given up does not come back with an answer that was under way. */
function* ofLeaving(): Generator<Story> {
  const end = now + day
  for (const [when, later, taken] of [
    ['older', -1, false],
    ['of the same second', 0, false],
    ['newer', 1, true],
  ] as const)
    yield {
      name: `left, then an answer that is ${when}`,
      why: 'an answer from before the seat was given up must not bring the license back',
      steps: [
        {
          at: now,
          step: 'take_proof',
          answer: answerOf(2, now, end, 'active'),
          as: 'fresh',
          status: 'licensed',
        },
        { at: now + 5, step: 'leave', status: 'unlicensed' },
        {
          at: now + 6,
          step: 'take_proof',
          answer: answerOf(2, now + later, end, 'active'),
          as: taken ? 'fresh' : 'stale',
          status: taken ? 'licensed' : 'unlicensed',
        },
      ],
    }
  yield {
    name: 'left, then another instance in the same second',
    why: 'only the instance that was given up is refused',
    steps: [
      {
        at: now,
        step: 'take_proof',
        answer: answerOf(1, now, end, 'active'),
        as: 'fresh',
        status: 'licensed',
      },
      { at: now, step: 'leave', status: 'unlicensed' },
      {
        at: now,
        step: 'take_proof',
        instanceId: 'ins_next',
        answer: { lease: leaseOf({ issuedAt: now, expiresAt: end, instanceId: 'ins_next' }) },
        as: 'fresh',
        status: 'licensed',
      },
    ],
  }
  yield {
    name: 'a floating seat is given back',
    why: 'its lease does not count any more, and the license stays for the next start',
    steps: [
      {
        at: now,
        step: 'take_proof',
        answer: { ...answerOf(2, now, end, 'active'), seat: { fence: 4 } },
        as: 'fresh',
        status: 'licensed',
      },
      { at: now + 5, step: 'give_seat_back', status: 'unlicensed' },
      { at: now + 6, step: 'restart', status: 'unlicensed' },
    ],
  }
}

/** Ends, grace and whom it is licensed to are shown; they allow nothing by themselves. */
function* ofDisplay(): Generator<Story> {
  const end = now + 7 * day
  for (const licenseExpiresAt of [null, now - day, now + day])
    for (const grace of [undefined, now + 3 * day])
      for (const version of [1, 2] as const) {
        const told = licenseExpiresAt === null ? null : time(licenseExpiresAt)
        const lease =
          version === 2
            ? { lease2: lease2Of(now, end, { license_expires_at: told }) }
            : answerOf(1, now, end, 'active')
        yield {
          name: `lease ${version} of a license that ends ${told ?? 'never'}${grace === undefined ? '' : ', with grace'}`,
          why: 'a lease counts until its own end, also when the license has ended and goes on in grace',
          steps: [
            {
              at: now,
              step: 'take_proof',
              answer: {
                ...lease,
                license_expires_at: licenseExpiresAt,
                ...(grace !== undefined && { grace_until: grace }),
              },
              as: 'fresh',
              status: 'licensed',
            },
            { at: now + 2 * day, step: 'restart', status: 'licensed' },
          ],
        }
      }
  for (const holder of [
    { name: 'Ada', email: 'ada@acme.example' },
    { name: null, email: 'ada@acme.example' },
    { name: 7 },
    'Ada',
  ])
    yield {
      name: `a lease with the holder ${JSON.stringify(holder)}`,
      why: 'whom it is licensed to is shown where it can be read',
      steps: [
        {
          at: now,
          step: 'take_proof',
          answer: { lease2: lease2Of(now, end, { holder }) },
          as: 'fresh',
          status: 'licensed',
        },
      ],
    }
}

/** Settings beside a lease do not touch it. */
function* besideSettings(): Generator<Story> {
  for (const days of [0, 14])
    yield {
      name: `licensed, and trials of ${days} days`,
      why: 'a license counts over trials and the free tier',
      steps: [
        {
          at: now,
          step: 'take_settings',
          answer: settingsOf({ trial_duration_days: days }),
          as: 'fresh',
          status: 'unlicensed',
        },
        {
          at: now,
          step: 'take_proof',
          answer: answerOf(2, now, now + day, 'active'),
          as: 'fresh',
          status: 'licensed',
        },
        { at: now + 1, step: 'start_trial', status: 'licensed' },
        { at: now + 2, step: 'leave', status: days === 0 ? 'expired' : 'trial' },
      ],
    }
}

export const leaseStories = (): Story[] => [
  ...ofOneLease(),
  ...ofTwoProofs(),
  ...ofRefusals(),
  ...ofDoubts(),
  ...ofLeaving(),
  ...ofDisplay(),
  ...besideSettings(),
]

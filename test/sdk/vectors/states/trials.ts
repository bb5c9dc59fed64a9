import { now } from '../keys.ts'
import { settingsOf } from '../signed.ts'
import type { Happening, Story } from '../story.ts'

const day = 86_400
const signedFor = (days: number, isFree = false, issuedAt = now) =>
  settingsOf({
    trial_duration_days: days,
    free_tier_enabled: isFree,
    issued_at: issuedAt,
    expires_at: issuedAt + day,
  })
const settle = (answer: object, status: Happening['status'], at = now): Happening => ({
  at,
  step: 'take_settings',
  answer,
  as: 'fresh',
  status,
})

/** A trial from its offer to its end, by its length, with and without a free tier. */
function* ofTrials(): Generator<Story> {
  for (const days of [1, 14, 365])
    for (const isFree of [false, true]) {
      const before = isFree ? 'free' : 'unlicensed'
      const after = isFree ? 'free' : 'expired'
      yield {
        name: `a trial of ${days} days${isFree ? ', with a free tier' : ''}`,
        why: 'it runs to the second before its end, also when the clock is set back',
        steps: [
          settle(signedFor(days, isFree), before),
          { at: now + 100, step: 'start_trial', status: 'trial' },
          { at: now + 200, step: 'start_trial', status: 'trial' },
          { at: now + 100 + days * day - 1, step: 'wait', status: 'trial' },
          { at: now + 100 + days * day - 1, step: 'restart', status: 'trial' },
          { at: now + 100 + days * day, step: 'wait', status: after },
          { at: now, step: 'restart', status: after },
        ],
      }
    }
}

/** What the server knows of the trial of a machine counts over what the install has noted. */
function* ofKnownTrials(): Generator<Story> {
  const answers: [string, unknown, Happening['status']][] = [
    ['nothing', {}, 'trial'],
    ['that it was used up', { trial_already_used: true }, 'expired'],
    ['that it was not used up', { trial_already_used: false }, 'trial'],
    ['an earlier start', { trial_started_at: now - 5 * day }, 'trial'],
    ['a start so early that it is over', { trial_started_at: now - 14 * day }, 'expired'],
    ['a start that is no time', { trial_started_at: 'yesterday' }, 'trial'],
    ['a negative start', { trial_started_at: -1 }, 'trial'],
    ['a text', 'used', 'trial'],
  ]
  for (const [name, answer, status] of answers)
    yield {
      name: `the server says of the trial: ${name}`,
      why: 'another install on the same machine may have used it',
      steps: [
        settle(signedFor(14), 'unlicensed'),
        { at: now + 60, step: 'start_trial', status: 'trial' },
        { at: now + 61, step: 'take_trial', answer, status },
        { at: now + 62, step: 'restart', status },
      ],
    }
  yield {
    name: 'the server says something of a trial that was not begun',
    why: 'it changes nothing',
    steps: [
      settle(signedFor(14), 'unlicensed'),
      { at: now, step: 'take_trial', answer: { trial_started_at: now - day }, status: 'unlicensed' },
    ],
  }
}

/** A length that the server has never named. */
function* ofDefaults(): Generator<Story> {
  for (const defaultTrialDays of [undefined, 0, 7])
    for (const named of [undefined, 0, 14]) {
      const days = named ?? defaultTrialDays
      yield {
        name: `default of ${defaultTrialDays ?? 'no'} trial days, and ${named ?? 'none'} named by the server`,
        why: 'the default counts until the server has named a length; 0 is a length',
        defaultTrialDays,
        steps: [
          ...(named === undefined ? [] : [settle(signedFor(named), 'unlicensed')]),
          { at: now + 60, step: 'wait', status: 'unlicensed' },
          { at: now + 60, step: 'start_trial', status: days ? 'trial' : 'expired' },
          { at: now + 60 + 7 * day, step: 'wait', status: days === 14 ? 'trial' : 'expired' },
        ],
      }
    }
}

/** Which settings are taken after which. */
function* ofSettings(): Generator<Story> {
  const open = { free_tier_enabled: true }
  const { signature: _, ...unsigned } = signedFor(30)
  const { trial_duration_days: __, ...withoutLength } = signedFor(30)
  const offers: [string, object, string, boolean, number, string][] = [
    ['newer', signedFor(30, false, now + 5), 'fresh', false, 60, 'it is newer'],
    ['of the same second', signedFor(30), 'fresh', false, 60, 'it is as new'],
    ['older', signedFor(30, false, now - 5), 'stale', false, 60, 'it is older than what is held'],
    ['unsigned, with a length', unsigned, 'unsigned', false, 60, 'a length has to be signed'],
    [
      'signed, its length removed',
      withoutLength,
      'malformed',
      false,
      60,
      'parts of a signature without a length',
    ],
    [
      'changed',
      { ...signedFor(30, false, now + 5), trial_duration_days: 31 },
      'bad_signature',
      false,
      60,
      'its length was changed',
    ],
    ['over', signedFor(30, false, now + 5 - day), 'over', false, 60, 'its signature is no longer valid'],
    [
      'unsigned, while the signed ones are valid',
      open,
      'stale',
      false,
      60,
      'what is signed counts until it ends',
    ],
    [
      'unsigned, after the signed ones are over',
      open,
      'fresh',
      true,
      2 * day,
      'the free tier alone may change then',
    ],
    ['empty', {}, 'malformed', false, 60, 'no settings at all'],
  ]
  for (const [name, answer, as, isFree, later, why] of offers)
    for (const enforceSettings of [false, true]) {
      const isRefused = enforceSettings && answer === open
      yield {
        name: `settings after signed ones: ${name}${enforceSettings ? ', signatures enforced' : ''}`,
        why,
        enforceSettings,
        steps: [
          settle(signedFor(14), 'unlicensed'),
          {
            at: now + later,
            step: 'take_settings',
            answer,
            as: isRefused ? 'unsigned' : as,
            status: isFree && !isRefused ? 'free' : 'unlicensed',
          },
          { at: now + later + 1, step: 'restart', status: isFree && !isRefused ? 'free' : 'unlicensed' },
        ],
      }
    }
}

/** The free tier is switched on and off. */
function* ofFreeTier(): Generator<Story> {
  yield {
    name: 'a free tier that ends',
    why: 'unsigned settings say whether there is one',
    steps: [
      settle({ free_tier_enabled: true }, 'free'),
      settle({ free_tier_enabled: false }, 'unlicensed', now + 1),
      settle({ free_tier_enabled: true, trial_duration_days: undefined }, 'free', now + 2),
    ],
  }
  for (const value of ['true', 1, null])
    yield {
      name: `a free tier of ${JSON.stringify(value)}`,
      why: 'it is true or false, and nothing else',
      steps: [
        {
          at: now,
          step: 'take_settings',
          answer: { free_tier_enabled: value },
          as: 'malformed',
          status: 'unlicensed',
        },
      ],
    }
}

export const trialStories = (): Story[] => [
  ...ofTrials(),
  ...ofKnownTrials(),
  ...ofDefaults(),
  ...ofSettings(),
  ...ofFreeTier(),
]

import { now } from '../keys.ts'
import { device, time } from '../leases2.ts'
import { refusalOf, settingsOf } from '../signed.ts'
import type { Happening, Story } from '../story.ts'
import { answerOf, lease2Of } from './leases.ts'

const day = 86_400
const end = now + 7 * day
const take = (answer: object, status: Happening['status'], at = now): Happening => ({
  at,
  step: 'take_proof',
  answer,
  as: 'fresh',
  status,
})

/** A lease names the machine that it was made for. */
function* ofDevices(): Generator<Story> {
  const { machineHash, components } = device
  const { board, disk, mac } = components
  const other = (name: string) => name.repeat(43)
  const named: [string, object | undefined, boolean, string][] = [
    ['nothing', undefined, true, 'the app said nothing of its machine'],
    ['this machine', { machine_hash: machineHash, components }, true, 'everything is equal'],
    ['its hash alone', { machine_hash: machineHash, components: {} }, true, 'the hash is equal'],
    [
      'its hash and other parts',
      { machine_hash: machineHash, components: { board: other('x'), disk: other('y') } },
      true,
      'the hash is equal',
    ],
    ['another hash and its parts', { machine_hash: other('h'), components }, true, 'its parts are equal'],
    [
      'another hash and two parts of three',
      { machine_hash: other('h'), components: { board, disk, mac: other('z') } },
      true,
      'most of its parts are equal',
    ],
    [
      'no hash and two parts of two',
      { machine_hash: null, components: { board, disk } },
      true,
      'both parts are equal',
    ],
    [
      'another hash and one part of three',
      { machine_hash: other('h'), components: { board, disk: other('y'), mac: other('z') } },
      false,
      'most of its parts differ',
    ],
    [
      'another hash and one part of two',
      { machine_hash: other('h'), components: { board, disk: other('y') } },
      false,
      'half of the parts is not most of them',
    ],
    [
      'another hash and one part of one',
      { machine_hash: other('h'), components: { mac } },
      false,
      'one part alone may be that of many machines',
    ],
    [
      'no hash and one other part',
      { machine_hash: null, components: { board: other('x') } },
      true,
      'too little is known to tell the two apart',
    ],
    [
      'no hash and two other parts',
      { machine_hash: null, components: { board: other('x'), disk: other('y') } },
      false,
      'both parts differ',
    ],
    [
      'no hash and a part that this machine has not',
      { machine_hash: null, components: { tpm: other('x') } },
      true,
      'too little is known to tell the two apart',
    ],
    ['another hash alone', { machine_hash: other('h'), components: {} }, false, 'nothing is equal'],
    [
      'another machine',
      { machine_hash: other('h'), components: { board: other('x'), disk: other('y'), mac: other('z') } },
      false,
      'nothing is equal',
    ],
  ]
  for (const [name, claim, isSame, why] of named)
    for (const knows of [true, false])
      yield {
        name: `a lease for ${name}${knows ? '' : ', on a machine that says nothing of itself'}`,
        why: knows ? why : 'what is not known is not compared',
        ...(knows && { device }),
        steps: [
          take(
            { lease2: lease2Of(now, end, { device: claim }) },
            isSame || !knows ? 'licensed' : 'another_device',
          ),
        ],
      }
}

/** Builds, and until when a license covers them. */
function* ofBuilds(): Generator<Story> {
  const until = now - 10 * day
  for (const [name, builtAt] of [
    ['of no known day', undefined],
    ['before the end of the updates', until - 1],
    ['in the last second of the updates', until],
    ['after the end of the updates', until + 1],
  ] as const) {
    const isOld = builtAt !== undefined && builtAt > until
    const newest = { version: '4.2.0', built_at: until - day, url: 'https://acme.example/4.2.0' }
    const notCovered = {
      error: 'older',
      reason: 'build_not_covered',
      updates_until: until,
      newest_covered_release: newest,
    }
    yield {
      name: `a build ${name}`,
      why: 'the signed end of the updates says whether it is covered',
      builtAt,
      steps: [
        take(
          { lease2: lease2Of(now, end, { updates_until: time(until) }) },
          isOld ? 'not_covered' : 'licensed',
        ),
        {
          at: now + 1,
          step: 'take_not_covered',
          answer: notCovered,
          status: isOld ? 'not_covered' : 'licensed',
        },
        { at: now + 2, step: 'restart', status: isOld ? 'not_covered' : 'licensed' },
        { at: end + 1, step: 'wait', status: isOld ? 'not_covered' : 'expired' },
      ],
    }
    yield {
      name: `a build ${name}, with a lease that covers every build`,
      why: 'what nobody has signed only explains why there is no newer lease',
      builtAt,
      steps: [
        take({ lease2: lease2Of(now, end) }, 'licensed'),
        { at: now + 1, step: 'take_not_covered', answer: notCovered, status: 'licensed' },
        { at: end + 1, step: 'wait', status: isOld ? 'not_covered' : 'expired' },
        take({ lease2: lease2Of(end, end + day) }, 'licensed', end + 2),
        { at: end + 2 + day, step: 'wait', status: 'expired' },
      ],
    }
  }
  const urls: [string, unknown][] = [
    ['a page', 'https://acme.example/4'],
    ['a script', 'javascript:alert(1)'],
    ['a page without TLS', 'http://acme.example/4'],
    ['a number', 4],
  ]
  for (const [name, url] of urls)
    yield {
      name: `the newest covered release has ${name} as its address`,
      why: 'an app may open it, so nothing but a page with TLS is handed on',
      builtAt: now,
      steps: [
        take({ lease2: lease2Of(now, end, { updates_until: time(until) }) }, 'not_covered'),
        {
          at: now + 1,
          step: 'take_not_covered',
          answer: {
            reason: 'build_not_covered',
            updates_until: until,
            newest_covered_release: { version: '4', built_at: until, url },
          },
          status: 'not_covered',
        },
      ],
    }
}

/** Entitlements and their values. */
function* ofEntitlements(): Generator<Story> {
  for (const entitlements of [
    {},
    { export: true },
    { export: false },
    { projects: 25, tier: 'gold' },
    { zero: 0, empty: '', rate: -0.5 },
    { list: [1], object: {}, nothing: null, export: true },
    { constructor: true, toString: 1 },
  ])
    yield {
      name: `entitlements ${JSON.stringify(entitlements)}`,
      why: 'false grants nothing, and a value of an unknown kind is ignored',
      steps: [take({ lease2: lease2Of(now, end, { entitlements }) }, 'licensed')],
    }
}

/** The clock of the device, set forward and back. */
function* ofClocks(): Generator<Story> {
  for (const back of [1, 299, 300, 301, day, 400 * day])
    yield {
      name: `the clock is set back by ${back} seconds`,
      why: 'the later time counts, and it is shown when it is more than a correction',
      steps: [
        take(answerOf(2, now, end, 'active'), 'licensed'),
        { at: now + day, step: 'wait', status: 'licensed' },
        { at: now + day - back, step: 'wait', status: 'licensed' },
        { at: now + day - back, step: 'restart', status: 'licensed' },
      ],
    }
  for (const forward of [day, 8 * day, 3650 * day])
    yield {
      name: `the clock was ${forward / day} days ahead`,
      why: 'a newer lease begins the observation of the clock anew, so that one wrong clock does not end every lease after it',
      steps: [
        take(answerOf(1, now, end, 'active'), 'licensed'),
        { at: now + forward, step: 'wait', status: forward > 7 * day ? 'expired' : 'licensed' },
        { at: now + 60, step: 'wait', status: forward > 7 * day ? 'expired' : 'licensed' },
        take(answerOf(1, now + 60, end, 'active'), 'licensed', now + 60),
        { at: now + 61, step: 'restart', status: 'licensed' },
      ],
    }
  yield {
    name: 'a refusal does not begin the observation anew',
    why: 'it takes a license away, and must not make an old time good again',
    steps: [
      take(answerOf(1, now, end, 'active'), 'licensed'),
      { at: now + 5 * day, step: 'wait', status: 'licensed' },
      take({ refusal: refusalOf({ issuedAt: now + 60 }) }, 'revoked', now + 60),
      { at: now + 61, step: 'wait', status: 'revoked' },
    ],
  }
  yield {
    name: 'an install whose clock is behind the server',
    why: 'the time of what was signed counts from then on',
    steps: [
      take(answerOf(2, now, now + day, 'active'), 'licensed', now - 3600),
      { at: now - 3600 + day, step: 'wait', status: 'licensed' },
      { at: now + day + 1, step: 'wait', status: 'expired' },
    ],
  }
  yield {
    name: 'a trial under a clock that was ahead',
    why: 'without a license, newer settings begin the observation anew',
    steps: [
      { at: now + 900 * day, step: 'wait', status: 'unlicensed' },
      { at: now, step: 'take_settings', answer: settingsOf(), as: 'fresh', status: 'unlicensed' },
      { at: now + 60, step: 'start_trial', status: 'trial' },
      { at: now + 60 + 13 * day, step: 'restart', status: 'trial' },
      { at: now + 60 + 14 * day, step: 'wait', status: 'expired' },
    ],
  }
}

export const machineStories = (): Story[] => [
  ...ofDevices(),
  ...ofBuilds(),
  ...ofEntitlements(),
  ...ofClocks(),
]

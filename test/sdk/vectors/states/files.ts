import { instanceId, now } from '../keys.ts'
import { device, time } from '../leases2.ts'
import { refusalOf } from '../signed.ts'
import { deviceKey, type Happening, type Story } from '../story.ts'
import { tokenOf } from '../tokens.ts'
import { lease2Of } from './leases.ts'

const day = 86_400
const end = now + 30 * day
const nonce = '00112233445566778899aabbccddeeff'

/** A license file. @param issuedAt Unix seconds */
const fileOf = (issuedAt: number, expiresAt: number, more: object = {}): string =>
  lease2Of(issuedAt, expiresAt, { file: 'fil_1', nonce, ...more })

const withdrawnOf = (issuedAt: number, files: readonly string[], more: object = {}): string =>
  tokenOf({ iat: time(issuedAt), serial: issuedAt * 1_000_000, files, ...more }, { says: 'withdrawn1' })

const ask = (at: number): Happening => ({ at, step: 'ask_for_file', nonce, status: 'unlicensed' })
const carry = (at: number, token: string, as: string, status: Happening['status']): Happening => ({
  at,
  step: 'take_file',
  token,
  as,
  status,
})

/** A file from its request to its end. */
function* ofOneFile(): Generator<Story> {
  for (const [status, state] of [
    ['active', 'licensed'],
    ['fallback', 'fallback'],
  ] as const)
    yield {
      name: `a license file, ${status}`,
      why: 'it counts to its end without a network, and is not ended by a clock that is set back',
      device,
      steps: [
        ask(now),
        carry(now + 60, fileOf(now, end, { status }), 'fresh', state),
        carry(now + 61, fileOf(now, end, { status }), 'same', state),
        { at: now + day, step: 'wait', failing: true, status: state },
        { at: now + day, step: 'restart', status: state },
        { at: end, step: 'wait', status: state },
        { at: end + 1, step: 'wait', status: 'expired' },
        { at: now, step: 'restart', status: 'expired' },
      ],
    }
}

/** What is no answer to the last request of this device. */
function* ofDoubts(): Generator<Story> {
  const other = { machine_hash: 'o'.repeat(43), components: { board: 'x'.repeat(43), disk: 'y'.repeat(43) } }
  const offers: [string, string, string, string][] = [
    ['another nonce', fileOf(now, end, { nonce: 'f'.repeat(32) }), 'not_asked', 'it answers another request'],
    [
      'another license key',
      fileOf(now, end, { license_key_hash: '0'.repeat(64) }),
      'not_asked',
      'the request had another key',
    ],
    [
      'another machine',
      fileOf(now, end, { device: other }),
      'another_device',
      'it was made for another machine',
    ],
    ['no machine', fileOf(now, end, { device: undefined }), 'another_device', 'a file is for one machine'],
    ['a lease', lease2Of(now, end), 'malformed', 'a lease answers no request'],
    ['before its time', fileOf(now + 3 * day, end), 'not_yet', 'the clock of the machine is before it'],
    ['after its end', fileOf(now - 40 * day, now - 10 * day), 'over', 'it has ended'],
    ['cut off', fileOf(now, end).slice(0, -20), 'malformed', 'a part of it was lost on the way'],
    ['empty', '', 'malformed', 'there is nothing in it'],
  ]
  for (const [name, token, as, why] of offers)
    yield {
      name: `no license file: ${name}`,
      why,
      device,
      steps: [
        ask(now),
        carry(now, token, as, 'unlicensed'),
        carry(now, fileOf(now, end), 'fresh', 'licensed'),
      ],
    }
  yield {
    name: 'a file that was not asked for',
    why: 'without a request there is no answer',
    device,
    steps: [carry(now, fileOf(now, end), 'not_asked', 'unlicensed')],
  }
  yield {
    name: 'the same request answered twice',
    why: 'a request is answered once: the second answer was made for a copy of the storage',
    device,
    steps: [
      ask(now),
      carry(now, fileOf(now, end), 'fresh', 'licensed'),
      carry(now, fileOf(now + 5, end + 5, { file: 'fil_2' }), 'not_asked', 'licensed'),
    ],
  }
}

/** A machine that says nothing of itself is known by the key in its storage. */
function* ofUnknownMachines(): Generator<Story> {
  for (const [name, machine_hash, as] of [
    ['its own key', deviceKey, 'fresh'],
    ['another key', 'A'.repeat(43), 'another_device'],
  ] as const)
    yield {
      name: `a machine without an identity, and a file for ${name}`,
      why: 'a container has no id, but its storage has a key',
      steps: [
        ask(now),
        carry(
          now,
          fileOf(now, end, { device: { machine_hash, components: {} } }),
          as,
          as === 'fresh' ? 'licensed' : 'unlicensed',
        ),
      ],
    }
}

/** Lists of withdrawn files. */
function* ofLists(): Generator<Story> {
  const lists: [string, string, string, Happening['status'], string][] = [
    [
      'that names it',
      withdrawnOf(now + 5, ['fil_0', 'fil_1']),
      'fresh',
      'revoked',
      'the file must not be used any more',
    ],
    [
      'that names another',
      withdrawnOf(now + 5, ['fil_2']),
      'fresh',
      'licensed',
      'another file was withdrawn',
    ],
    ['that is empty', withdrawnOf(now + 5, []), 'fresh', 'licensed', 'no file was withdrawn'],
    [
      'without files',
      withdrawnOf(now + 5, [], { files: undefined }),
      'bad_signature',
      'licensed',
      'it is no list, and was not signed as a file',
    ],
  ]
  for (const [name, token, as, status, why] of lists)
    yield {
      name: `a list ${name}`,
      why,
      device,
      steps: [
        ask(now),
        carry(now, fileOf(now, end), 'fresh', 'licensed'),
        carry(now + 10, token, as, status),
        { at: now + 11, step: 'restart', status },
      ],
    }
  yield {
    name: 'an older list after a newer one',
    why: 'what was withdrawn does not come back with an older list',
    device,
    steps: [
      ask(now),
      carry(now, fileOf(now, end), 'fresh', 'licensed'),
      carry(now + 10, withdrawnOf(now + 9, ['fil_1']), 'fresh', 'revoked'),
      carry(now + 11, withdrawnOf(now + 8, []), 'outdated', 'revoked'),
      carry(now + 12, withdrawnOf(now + 12, []), 'fresh', 'licensed'),
    ],
  }
}

/** A device that has both a lease and a file. */
function* besideLeases(): Generator<Story> {
  const later = [
    ['older', -1],
    ['of the same second', 0],
    ['newer', 1],
  ] as const
  const online: [string, (at: number) => object, (isNewer: boolean) => Happening['status']][] = [
    ['an active lease', (at) => ({ lease2: lease2Of(at, now + day) }), () => 'licensed'],
    [
      'a lease in fallback',
      (at) => ({ lease2: lease2Of(at, now + day, { status: 'fallback' }) }),
      (isNewer) => (isNewer ? 'fallback' : 'licensed'),
    ],
    [
      'an expired license',
      (at) => ({ lease2: lease2Of(at, now + day, { status: 'expired' }) }),
      (isNewer) => (isNewer ? 'expired' : 'licensed'),
    ],
    [
      'a suspended license',
      (at) => ({ lease2: lease2Of(at, now + day, { status: 'suspended' }) }),
      (isNewer) => (isNewer ? 'revoked' : 'licensed'),
    ],
    [
      'a revoked license',
      (at) => ({ refusal: refusalOf({ issuedAt: at }) }),
      (isNewer) => (isNewer ? 'revoked' : 'licensed'),
    ],
    [
      'a freed seat',
      (at) => ({ refusal: refusalOf({ issuedAt: at, reason: 'inactive' }) }),
      (isNewer) => (isNewer ? 'revoked' : 'licensed'),
    ],
  ]
  for (const [name, answer, statusOf] of online)
    for (const [when, by] of later)
      yield {
        name: `a file, then ${name}, ${when}`,
        why: 'a newer statement of the server counts over the file, an older one does not',
        device,
        steps: [
          ask(now - 5),
          carry(now, fileOf(now, end), 'fresh', 'licensed'),
          {
            at: now + 10,
            step: 'take_proof',
            answer: answer(now + by),
            // What is older than the newest that was signed for the device is not taken without a lease of its own.
            as: by < 0 ? 'stale' : 'fresh',
            status: statusOf(by >= 0),
          },
        ],
      }
  yield {
    name: 'a lease that ends before the file',
    why: 'the file is still good',
    device,
    steps: [
      ask(now),
      carry(now, fileOf(now, end), 'fresh', 'licensed'),
      {
        at: now + 10,
        step: 'take_proof',
        answer: { lease2: lease2Of(now + 10, now + day) },
        as: 'fresh',
        status: 'licensed',
      },
      { at: now + 2 * day, step: 'wait', status: 'licensed' },
      { at: end + 1, step: 'wait', status: 'expired' },
    ],
  }
  yield {
    name: 'the seat of another instance is freed',
    why: 'it is not the seat of the file',
    device,
    steps: [
      ask(now),
      carry(now, fileOf(now, end), 'fresh', 'licensed'),
      {
        at: now + 10,
        step: 'take_proof',
        instanceId: 'ins_other',
        answer: { refusal: refusalOf({ issuedAt: now + 10, reason: 'inactive', instanceId: 'ins_other' }) },
        as: 'fresh',
        status: 'licensed',
      },
    ],
  }
}

/** A file that was given back. */
function* ofReleases(): Generator<Story> {
  yield {
    name: 'a file is given back',
    why: 'it and older ones are not used again, a newer one is',
    device,
    steps: [
      ask(now),
      carry(now, fileOf(now, end), 'fresh', 'licensed'),
      { at: now + 10, step: 'leave', instanceId, status: 'unlicensed' },
      { ...ask(now + 11) },
      carry(now + 12, fileOf(now, end), 'outdated', 'unlicensed'),
      carry(now + 13, fileOf(now + 12, end), 'fresh', 'licensed'),
    ],
  }
  yield {
    name: 'another instance is given up',
    why: 'the file is of this one',
    device,
    steps: [
      ask(now),
      carry(now, fileOf(now, end), 'fresh', 'licensed'),
      { at: now + 10, step: 'leave', instanceId: 'ins_other', status: 'licensed' },
    ],
  }
}

export const fileStories = (): Story[] => [
  ...ofOneFile(),
  ...ofDoubts(),
  ...ofUnknownMachines(),
  ...ofLists(),
  ...besideLeases(),
  ...ofReleases(),
]

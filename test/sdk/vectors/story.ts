import {
  type Facts,
  factsFrom,
  newFacts,
  type State,
  stateOf,
  textOf,
} from '../../../src/sdk/javascript/app/index.ts'
import { newOfflineFacts } from '../../../src/sdk/javascript/app/offline/facts.ts'
import { takeCarried } from '../../../src/sdk/javascript/app/offline/take.ts'
import {
  beginTrial,
  leave,
  notice,
  takeNotCovered,
  takeProof,
  takeSettings,
  takeTrial,
  withoutSeat,
} from '../../../src/sdk/javascript/app/take.ts'
import { publicKeyOf } from '../../../src/sdk/javascript/ed25519.ts'
import { licenseKeyHash } from '../../../src/sdk/javascript/index.ts'
import { base64url } from '../../../src/sdk/javascript/paseto.ts'
import { instanceId, keyset, licenseKey, place } from './keys.ts'

/** What an app knows besides what it has stored. */
type Circumstances = {
  device?: { machineHash: string | null; components: Readonly<Record<string, string>> } | undefined
  /** In Unix seconds. */
  builtAt?: number | undefined
  defaultTrialDays?: number | undefined
  enforceSettings?: boolean | undefined
}

type Step =
  /** Nothing happens but the time. */
  | { step: 'wait' }
  /** The app is ended and started: everything is read from its storage and verified again. */
  | { step: 'restart' }
  /** The lease or the refusal in an answer to activate or validate. */
  | { step: 'take_proof'; answer: unknown; licenseKey?: string; instanceId?: string }
  /** The settings in an answer. */
  | { step: 'take_settings'; answer: unknown }
  | { step: 'start_trial' }
  /** What an answer to keyless says of the trial. */
  | { step: 'take_trial'; answer: unknown }
  /** An answer that the build is not covered. */
  | { step: 'take_not_covered'; answer: unknown }
  /** The device asks for a license file. */
  | { step: 'ask_for_file'; nonce: string; licenseKey?: string }
  /** A license file, or a list of withdrawn files, that was carried to the device. */
  | { step: 'take_file'; token: string }
  /** The license is forgotten on this device, or its file is given back. */
  | { step: 'leave'; instanceId?: string }
  /** The floating seat is given back, and the license stays. */
  | { step: 'give_seat_back' }

/** A step, when it happens, and what is expected after it. */
export type Happening = Step & {
  /** Unix seconds by the clock of the device. */
  at: number
  /** Whether the last attempt to reach the server has failed. */
  failing?: boolean
  /** What becomes of what was to be taken: `fresh`, `same`, `stale`, or why it is not taken. */
  as?: string
  /** The status that a person expects, who knows the rules and not the code. */
  status: State['status']
}

export type Story = Circumstances & { name: string; why: string; steps: readonly Happening[] }

/** The key that the device signs its requests with, which tells a machine that says nothing of itself from others. */
export const seed = '5'.repeat(64)
export const deviceKey = base64url(publicKeyOf(Buffer.from(seed, 'hex')))

/** What becomes of an install in a story: after each step, the state and what it allows. */
export function play({ steps, device, builtAt, defaultTrialDays, enforceSettings = false }: Story) {
  let facts = newFacts('install', keyset.keys)
  return steps.map((one) => {
    const taken = take(facts, one, { device, enforceSettings })
    facts = notice(taken.facts, one.at)
    const { failing = false } = one
    const state = stateOf(facts, one.at, { failing, device, builtAt, defaultTrialDays })
    return { as: taken.as, state: JSON.parse(JSON.stringify(state)) as State }
  })
}

type Taken = { facts: Facts; as?: string }

const outcome = (facts: Facts, taken: { facts: Facts; as: string } | { doubt: string }): Taken =>
  'doubt' in taken ? { facts, as: taken.doubt } : taken

function take(
  facts: Facts,
  one: Happening,
  { device, enforceSettings }: { device: Circumstances['device']; enforceSettings: boolean },
): Taken {
  const { at } = one
  const withOffline = {
    ...facts,
    offline: facts.offline ?? { ...newOfflineFacts(), seed, deviceKey },
  }
  switch (one.step) {
    case 'wait':
      return { facts }
    case 'restart':
      return { facts: factsFrom(textOf(facts), place, keyset.keys) ?? newFacts('none') }
    case 'take_proof': {
      const held = { key: one.licenseKey ?? licenseKey, instanceId: one.instanceId ?? instanceId }
      return outcome(facts, takeProof(facts, one.answer, { ...held, relay: undefined }, place, at))
    }
    case 'take_settings':
      return outcome(facts, takeSettings(facts, one.answer, place, at, enforceSettings))
    case 'start_trial':
      return { facts: beginTrial(facts, at) }
    case 'take_trial':
      return { facts: takeTrial(facts, one.answer) }
    case 'take_not_covered':
      return { facts: takeNotCovered(facts, one.answer) }
    case 'ask_for_file': {
      const asked = { nonce: one.nonce, licenseKeyHash: licenseKeyHash(one.licenseKey ?? licenseKey) }
      return { facts: { ...withOffline, offline: { ...withOffline.offline, asked } } }
    }
    case 'take_file':
      return outcome(facts, takeCarried(withOffline, one.token, { place, device }, at))
    case 'leave':
      return { facts: leave(facts, one.instanceId ?? instanceId) }
    case 'give_seat_back':
      return { facts: withoutSeat(facts) }
  }
}

/** A story with what the SDK makes of it. @throws Error where that is not what a person expects */
export function told(story: Story) {
  const played = play(story)
  const steps = story.steps.map(({ status, as, ...step }, index) => {
    const { as: became, state } = played[index] ?? {}
    if (state?.status !== status || became !== as)
      throw new Error(
        `${story.name}, step ${index + 1} (${step.step}): ${status}, ${as} expected, and not ${JSON.stringify(state)}, ${became}`,
      )
    return { ...step, ...(as !== undefined && { as }), state }
  })
  return { ...story, steps }
}

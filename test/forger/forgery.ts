import fc from 'fast-check'
import {
  add,
  bendCheckpoint,
  coverAgain,
  mix,
  mixLines,
  ownLog,
  remove,
  rename,
  rewrite,
} from './alter-files.ts'
import {
  addGenuine,
  addWithheld,
  bendProof,
  cut,
  inventProved,
  inventWithheld,
  repeat,
  replaceProof,
  replaceValue,
  swap,
  withhold,
} from './alter-lines.ts'
import { bendBytes, respell } from './alter-text.ts'
import { type Finish, finish, finishes, isSigned } from './finish.ts'
import type { Genuine } from './genuine.ts'
import { hasOldEventsOnly, isGenuine } from './law.ts'
import { type Packing, pack, packings } from './pack.ts'
import { randomOf } from './random.ts'
import {
  type Alteration,
  type Altered,
  beginWith,
  pairedNames,
  pairsIn,
  type Verdict,
  type Work,
} from './work.ts'

const alterations = {
  replaceValue,
  replaceProof,
  withhold,
  inventWithheld,
  inventProved,
  cut,
  repeat,
  swap,
  addGenuine,
  addWithheld,
  bendProof,
  respell,
  bendBytes,
  rename,
  add,
  remove,
  rewrite,
  mix,
  mixLines,
  coverAgain,
  ownLog,
  bendCheckpoint,
} satisfies Record<string, Alteration>

type AlterationName = keyof typeof alterations
const alterationNames = Object.keys(alterations) as AlterationName[]

/** What the forger does, in an order that shrinks to less. */
export type Plan = {
  base: number
  steps: { name: AlterationName; seed: number }[]
  finish: Finish
  packing: Packing
  seed: number
  /** Whether the reader knows the vendor's signing key. */
  knowsVendor: boolean
}

const seed = fc.nat(0x7fffffff)

export const plans: fc.Arbitrary<Plan> = fc.record({
  base: fc.nat(100),
  steps: fc.array(fc.record({ name: fc.constantFrom(...alterationNames), seed }), {
    minLength: 0,
    maxLength: 4,
  }),
  // The ones that a verifier accepts in part leave the most to try.
  finish: fc.oneof(
    fc.constantFrom(...finishes),
    fc.constantFrom(
      'sign without the stream of signing keys',
      'sign as another tenant',
      'sign another license',
    ),
  ),
  packing: fc.constantFrom(...packings),
  seed,
  knowsVendor: fc.constantFrom(true, false, false),
})

/** An archive as the forger made it, and what a truthful verifier may answer. */
export type Forgery = {
  work: Work
  zip: Buffer
  verdict: Verdict | 'genuine'
  touched: Set<string>
  did: string
}

/** Carries a plan out. The verdict is that of the alterations that are still there at the end. */
export function forge(genuine: Genuine, plan: Plan): Forgery {
  const names = [...genuine.archives.keys()]
  // Half of the time the license that has only old events: of any other one, a known signer answers for all.
  const base = plan.base % 2 === 0 ? 'imported as before' : (names[plan.base % names.length] ?? '')
  const work = beginWith(genuine, base)
  const done: Altered[] = []
  for (const { name, seed: own } of plan.steps) {
    const altered = alterations[name](work, randomOf(own))
    if (altered) done.push(altered)
  }
  const random = randomOf(plan.seed)
  done.push(finish(work, plan.finish, random))
  const { zip, ...packed } = pack(work.files, plan.packing, random)
  done.push(packed)
  const touched = new Set(done.flatMap((altered) => altered.touched))
  return {
    work,
    zip,
    verdict: verdictOf(work, zip, done, plan),
    touched,
    did: JSON.stringify({ ...plan, base }),
  }
}

function verdictOf(
  work: Work,
  zip: Buffer,
  done: readonly Altered[],
  { knowsVendor }: Plan,
): Forgery['verdict'] {
  if ([...work.genuine.archives.values()].some((archive) => archive.equals(zip))) return 'genuine'
  const left = done.filter(({ remains }) => remains?.(work) ?? true)
  if (left.some(({ verdict }) => verdict === 'refused')) return 'refused'
  if (isGenuine(work)) return 'genuine'
  if (isGenuineButSignature(work)) return 'same'
  if (!isSigned(work)) return 'refused'
  // Without the vendor's key, only archives of old events are accepted in part, and those that another tenant answers for.
  const isOfTenant = pairedNames(work).some((name) =>
    pairsIn(work, name).some(({ event }) => event.includes(`signing-${work.genuine.hostile.tenantId}`)),
  )
  return !knowsVendor && (hasOldEventsOnly(work) || isOfTenant) ? 'partly' : 'refused'
}

const isGenuineButSignature = ({ files, genuine, base }: Work): boolean =>
  files.has('signature.json') &&
  isGenuine({
    genuine,
    files: new Map([
      ...[...files].filter(([name]) => name !== 'signature.json'),
      ['signature.json', beginWith(genuine, base).files.get('signature.json') ?? Buffer.alloc(0)],
    ]),
  })

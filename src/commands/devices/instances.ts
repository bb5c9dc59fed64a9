import type {
  FoundInstance,
  InstanceLookupParams,
  InstanceLookupResult,
} from '../../../projections/licenses/instances.ts'
import { borrowing } from '../../domain/licenses/borrowing.ts'
import type { IssueFile } from '../../domain/licenses/files.ts'
import { claimOn, seatOf } from '../../domain/licenses/floating.ts'
import { type IssuedLicense, type LicenseCommand, licenses } from '../../domain/licenses/license.ts'
import type { DeviceClaim } from '../../domain/licenses/marks.ts'
import { seatsFor } from '../../domain/licenses/named.ts'
import type { SeatFile } from '../../domain/licenses/seat-files.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Plan } from '../../domain/tenants/events.ts'
import type { Ports } from '../../ports.ts'
import type { DeviceRequest } from '../../signing/device-statements.ts'
import type { SaidOfMachine } from '../../vault/device-hashing.ts'
import { type Admit, seating } from '../cross-stream/plan-capacity.ts'
import { stateOf } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { requireIssued } from './devices.ts'
import { fileOf } from './files.ts'
import { type FloatingSeat, type Taking, takeSeat } from './floating.ts'
import { waiterOf } from './waiting.ts'

type Instance = {
  platform: string | null
  plan: Plan
  atLeast: number | null
  builtAt: string | null
  /** With which the device borrows its seat; absent for one that only activates. */
  borrowing?: Borrowing | undefined
}

/** The request of a device for a license file, and how long it asks to keep its seat without a network. */
export type Borrowing = { request: DeviceRequest; seconds: number }

/** The question for an activation. */
type ActivationParams = InstanceLookupParams & { instance: { claim: DeviceClaim & { name: string } } }

/**
 * Adds to a question by what the machine is recognized, hashed as the license's devices are, and asks again if the license
 * was found: the keys are known only then.
 */
export async function findWithMachine(
  ports: Ports<'deviceHashing' | 'findInstance'>,
  question: ActivationParams,
  saidOn: (license: IssuedLicense) => SaidOfMachine | undefined,
): Promise<{ result: InstanceLookupResult; question: ActivationParams }> {
  const result = await ports.findInstance(question)
  const said = result.kind === 'license' ? saidOn(result.license) : undefined
  if (said === undefined || result.kind !== 'license') return { result, question }
  const identities = await ports.deviceHashing.identitiesOf(result.license, said)
  const again = { ...question, instance: { claim: { ...question.instance.claim, identities } } }
  // Without a device that was hashed there is no other seat to find.
  if (result.license.deviceSubjects.length === 0) return { result, question: again }
  return { result: await ports.findInstance(again), question: again }
}

/** An app's seat on a license; `floating` is undefined for one that lasts until it is given back. */
export type SeatTaken = {
  instanceId: string
  license: IssuedLicense
  /** Whether two machines with one hash were noticed in the seat. */
  isInTwoPlaces: boolean
  floating: FloatingSeat | undefined
  /** The file that a device borrows its seat with; undefined for one that only activates. */
  file: { seat: Seat; file: SeatFile } | undefined
}

/**
 * Gives an app a seat on the license that was found for it, as {@link takeSeat} does. A device that is {@link recognized} keeps
 * its seat and its instance id.
 * @throws Refusal `license_revoked`, `license_expired`, `build_not_covered`, `license_reminted`, `seat_limit_reached`,
 *   `plan_limit`, `seat_lost`, `assigned_to_another`, and of one that borrows, what `fileIssued` refuses
 */
export function activateInstance(
  ports: Ports<'db' | 'execute' | 'findInstance' | 'newId' | 'now' | 'planCapacity' | 'seatEnds'>,
  found: FoundInstance,
  question: ActivationParams,
  instance: Instance,
  origin: Origin,
): Promise<SeatTaken> {
  return takeSeat(
    ports,
    found,
    { waiter: waiterOf(question.instance.claim), origin },
    (taking) => seatInstance(ports, found, question, { ...instance, ...taking }, origin),
    ({ license, instanceId }) =>
      [...license.seats.values()].find((each) => each.instanceId === instanceId && each.status === 'active'),
  )
}

async function seatInstance(
  ports: Ports<'execute' | 'findInstance' | 'newId' | 'now' | 'planCapacity'>,
  found: FoundInstance,
  question: ActivationParams,
  { platform, plan, atLeast, builtAt, borrowing: lent, ranOut, isStale }: Instance & Taking,
  origin: Origin,
): Promise<Omit<SeatTaken, 'floating'>> {
  const at = momentOf(ports)
  const newId = ports.newId('ins')
  const {
    tenantId,
    instance: { claim },
  } = question
  const asked = { ...question, others: ranOut.map(({ deviceId }) => deviceId) }
  const { personId, deviceMails: tell } = found
  const device = { instanceId: newId, platform, claim, atLeast, builtAt, ranOut, personId, tell, at }
  const command = lent
    ? fileCommand(lent, { ...device, fileId: ports.newId('fil') }, found.license)
    : ({ type: 'ActivateInstance', ...device } as const)
  const { before, state, events } = await seating(ports, { tenantId, plan }, (admit, proof, isAgain) =>
    changeFound(
      ports,
      { found, question: asked, origin, at, admit, proof, isStale: isStale || isAgain },
      command,
    ),
  )
  const kept =
    before.status === 'issued'
      ? seatOf(seatsFor(before, personId), claimOn(before, claim), atLeast)
      : undefined
  const taken = events.some(({ type }) => type === 'DeviceActivated')
  return {
    instanceId: taken || !kept ? newId : kept.instanceId,
    license: requireIssued(state),
    file: lent && fileOf(state, lent.request.nonce),
    isInTwoPlaces: events.some(({ type }) => type === 'DeviceInTwoPlaces'),
  }
}

/** Asks for no longer than the license lends its seats. @throws Refusal `borrowing_off` */
function fileCommand(
  { request: { deviceKey, nonce, counter }, seconds }: Borrowing,
  device: Omit<IssueFile, 'type' | 'request' | 'seconds' | 'perSeatPerYear'>,
  license: IssuedLicense,
): IssueFile {
  const allowed = borrowing(license)
  if (!allowed) throw new Refusal('borrowing_off')
  return {
    type: 'IssueFile',
    ...device,
    request: { deviceKey, nonce, counter },
    seconds: Math.min(seconds, allowed.maxDays * 86_400),
    perSeatPerYear: Infinity,
  }
}

/**
 * Frees the seat of the instance that was found; without an active seat nothing changes.
 * @throws Refusal `seat_lost` for a fence that is not the seat's, `assigned_to_another` for the seat of another person
 */
export async function deactivateInstance(
  ports: Ports<'execute' | 'findInstance' | 'now'>,
  found: FoundInstance,
  { deviceId, fence }: { deviceId: string; fence: number | null },
  question: InstanceLookupParams,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const change = { found, question, origin, at }
  const { personId } = found
  await changeFound(ports, change, { type: 'DeactivateDevice', deviceId, fence, personId, at })
}

type Change = {
  found: FoundInstance
  question: InstanceLookupParams
  origin: Origin
  at: string
  admit?: Admit
  proof?: (() => Promise<void>) | undefined
  /** Whether the license that was found may be outdated. */
  isStale?: boolean
}

/** Decides first on the license that was found, so that an activation reads the stores once. */
function changeFound(
  ports: Ports<'execute' | 'findInstance'>,
  { found, question, origin, at, admit, proof, isStale = false }: Change,
  command: LicenseCommand,
) {
  return ports.execute(licenses, found.license.licenseId, command, causeOf(origin, at), {
    loaded: isStale ? undefined : stateOf(found),
    read: async () => {
      const again = await ports.findInstance(question)
      // The license was reminted meanwhile: the key of the request is no longer valid.
      if (again.kind !== 'license') throw new Refusal('license_reminted')
      return stateOf(again)
    },
    admit,
    proof,
  })
}

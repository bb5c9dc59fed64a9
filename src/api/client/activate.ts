import type { z } from 'zod'
import type { FoundInstance, InstanceLookupResult } from '../../../projections/licenses/instances.ts'
import {
  activateInstance,
  type Borrowing,
  findWithMachine,
  type SeatTaken,
} from '../../commands/devices/instances.ts'
import { momentOf } from '../../commands/origin.ts'
import { readKey, type TypedKey } from '../../credentials/license-key.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import type { DeviceClaim } from '../../domain/licenses/marks.ts'
import { statusAt } from '../../domain/licenses/status.ts'
import { Refusal } from '../../domain/refusal.ts'
import { licenseStream } from '../../domain/streams.ts'
import { buildIn } from '../../http/licenses/builds.ts'
import { seatShown } from '../../http/licenses/seats.ts'
import { invalid, Problem, unavailable } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { readRequest } from '../../signing/device-statements.ts'
import { hasChanged } from '../../usage/device-telemetry.ts'
import type { SaidOfMachine } from '../../vault/device-hashing.ts'
import { type Build, notCoveredAnswer, updatesShown } from '../../verdicts/not-covered.ts'
import { reasonOfRefusal } from '../../verdicts/refused.ts'
import { clientIn, clientOriginOf } from './admit.ts'
import { answerPreflight } from './edge.ts'
import { expiryIn } from './expiry.ts'
import { fileText, type Held, leaseFor, requireLeases } from './lease.ts'
import type { ClientPorts } from './ports.ts'
import {
  type AppCall,
  noSuchLicense,
  notCoveredWords,
  recordRefused,
  recordUnknownKey,
  refuse,
} from './refusals.ts'
import {
  activateIn,
  activateOut,
  activateRefusal,
  clientPlace,
  machineIn,
  telemetryFrom,
  withLimits,
} from './schemas.ts'
import type { SettingsRequest } from './settings.ts'

const path = '/:tenantId/:productId/activate'

const description =
  'The same device means an active instance with the same `free_tier_instance_id` or with the sent `instance_id`, else with ' +
  'the same `machine_hash`, else with enough equal components of `device`, else with the same `instance_name` if neither ' +
  'has any of the others. A device that identifies itself for the first time takes over the seat that has only its name. ' +
  'A license that has fallen back can be activated too, with a lease of status `fallback`.'

/** An app activates its device, which takes a seat of the license. */
export function activateRoute(app: ZodApp, ports: ClientPorts): void {
  answerPreflight(app, path)
  app.post(
    path,
    {
      config: {
        client: 'activate',
        refusedWhileSuspended: true,
        noDryRun: 'whether a seat is free is only certain once it is taken; validate changes nothing',
      },
      schema: {
        operationId: 'activateInstance',
        tags: ['Client'],
        summary: 'Activate the device that the app runs on; repeating it takes no second seat',
        description,
        params: clientPlace,
        body: activateIn,
        response: {
          200: answer('The device has a seat', activateOut),
          ...errorsWith(activateRefusal, 402, 404, 422),
          ...withLimits(errorsWith(errorBody, 400, 401, 403)),
        },
      },
    },
    async (request) => {
      const {
        license_key,
        instance_name: name,
        free_tier_instance_id,
        instance_id,
        user_id,
        lease_version: version,
        receipt,
        ...reported
      } = request.body
      const client = clientIn(request)
      const origin = clientOriginOf(request)
      const { tenantId, productId, plan } = client
      const key = readKey(license_key)
      const installId = free_tier_instance_id ?? null
      const telemetry = telemetryFrom(reported)
      const device = { id: installId ?? name, name }
      const call: AppCall = { client, call: 'activate', key: license_key, device, telemetry }
      if (key === undefined) {
        recordUnknownKey(ports, call)
        throw noSuchLicense()
      }
      const said = machineIn(reported)
      const saidOn = saidFor(said, user_id)
      const claim = { instanceId: instance_id ?? null, installId, name, identities: [] }
      const { found, question } = await findToActivate(ports, call, key, { claim, saidOn })
      const { licenseId } = found.license
      const borrowing = borrowingIn(client, key, reported)
      const asking = { client, origin, log: request.log }
      await requireLeases(ports, asking)
      const build = buildIn(reported)
      const instance = {
        platform: telemetry.platform,
        plan,
        atLeast: client.product.componentsAtLeast,
        builtAt: build.builtAt,
        borrowing,
      }
      const activation = activateInstance(ports, found, question, instance, origin)
      const { instanceId, license, isInTwoPlaces, floating, file } = await activation.catch(
        (error: unknown) => refuseFound(ports, call, found, build, error),
      )
      if (isInTwoPlaces) recordRefused(ports, call, licenseId, 'in_two_places')
      if (installId !== null) ports.installs.convert({ tenantId, productId, instanceId: installId })
      ports.usage.count(tenantId, productId, 'activations')
      ports.sightings.note({ tenantId, productId, licenseId, deviceId: instanceId }, request)
      if (hasChanged(telemetry, undefined, ports.now())) {
        ports.telemetry.record({ instanceId, licenseId }, telemetry)
      }
      const held = { licenseId, keyHash: key.keyHash, instanceId, version, device: said, floating }
      const lent = borrowing && file && { ...file, request: borrowing.request }
      return {
        ...(await activatedAnswer(ports, asking, { ...found, license }, { ...held, lent })),
        ...(receipt && { receipt: await receiptOf(ports, found) }),
      }
    },
  )
}

/**
 * What the app asks to borrow its seat with; undefined when it only activates.
 * @throws Problem 400 for one of both fields alone, 422 for a request that was not made for this license key
 */
function borrowingIn(
  place: { tenantId: string; productId: string },
  { keyHash }: TypedKey,
  {
    borrow_seconds: seconds,
    borrow_request: text,
  }: Pick<z.infer<typeof activateIn>, 'borrow_seconds' | 'borrow_request'>,
): Borrowing | undefined {
  if (seconds === undefined && text === undefined) return undefined
  if (seconds === undefined || text === undefined)
    throw invalid('a seat is borrowed with borrow_seconds and borrow_request; send both or neither')
  const request = readRequest(text, place)
  if (!request) return refuse(new Refusal('file_request_unreadable'))
  if (request.keyHash !== keyHash) return refuse(new Refusal('file_request_of_another_license'))
  return { request, seconds }
}

type SaidOn = (license: IssuedLicense) => SaidOfMachine | undefined

/**
 * By what a seat of a license is recognized: the machine, or the user where seats are of users.
 * @throws Problem 422 without a user where one is needed
 */
const saidFor =
  (machine: SaidOfMachine | undefined, userId: string | undefined): SaidOn =>
  ({ floating }) => {
    if (floating?.scope !== 'user') return machine
    if (userId === undefined) {
      throw new Problem(422, 'invalid_request', 'seats of this license are of users: send `user_id`')
    }
    return { machineHash: userId, components: {} }
  }

/** @throws Problem as {@link requireFound}; what refuses the call is recorded */
async function findToActivate(
  ports: ClientPorts,
  call: AppCall,
  key: TypedKey,
  { claim, saidOn }: { claim: DeviceClaim & { name: string }; saidOn: SaidOn },
) {
  const { tenantId, productId } = call.client
  const hashes = await ports.keyHashing.hashesOf(tenantId, key)
  const asked = { tenantId, productId, ...hashes, instance: { claim } }
  const { result, question } = await findWithMachine(ports, asked, saidOn)
  if (result.kind === 'no license') recordUnknownKey(ports, call)
  if (result.kind === 'old key') recordRefused(ports, call, result.licenseId, 'reminted')
  return { found: requireFound(result), question }
}

/** Records what refuses an activation, and says for a build that is not covered which one is. @throws Problem, or the error */
async function refuseFound(
  ports: ClientPorts,
  call: AppCall,
  { license: { licenseId, updatesUntil } }: FoundInstance,
  { channel }: Build,
  error: unknown,
): Promise<never> {
  const reason = error instanceof Refusal ? reasonOfRefusal(error.code) : undefined
  if (reason !== undefined) recordRefused(ports, call, licenseId, reason)
  if (reason !== 'build_not_covered' || updatesUntil === null) return refuse(error)
  const details = { reason, ...(await notCoveredAnswer(ports, call.client, updatesUntil, channel)) }
  throw new Problem(422, 'invalid_request', notCoveredWords, {}, details, reason)
}

async function activatedAnswer(
  ports: ClientPorts,
  asking: SettingsRequest,
  found: FoundInstance,
  { lent, ...held }: Omit<Held, 'status'> & { lent: Lent | undefined },
) {
  const now = momentOf(ports)
  const status = statusAt(found.license, now)
  return {
    activated: true as const,
    instance_id: held.instanceId,
    ...expiryIn(status, found.license, now),
    ...seatShown(held.instanceId, held.floating),
    ...updatesShown(found.license.updatesUntil),
    ...(await leaseFor(ports, asking, found, { ...held, status }, now)),
    ...(lent && { license_file: await fileText(ports, asking, { ...found, ...lent }, lent.request) }),
  }
}

/** The license file with which a device has borrowed its seat, and its request. */
type Lent = NonNullable<SeatTaken['file']> & Pick<Borrowing, 'request'>

/** The receipt of the event that minted or imported a license; null when it is withheld, too. */
async function receiptOf({ receipts }: Ports<'receipts'>, { license: { licenseId } }: FoundInstance) {
  const receipt = await receipts.waitFor({ stream: licenseStream(licenseId), revision: 0 })
  return receipt === undefined || receipt === 'withheld' ? null : receipt
}

/** @throws Problem 404 for an unknown key, 422 for a reminted one, 503 when its license cannot be read */
export function requireFound(found: InstanceLookupResult): FoundInstance {
  if (found.kind === 'no license') throw noSuchLicense()
  if (found.kind === 'old key') return refuse(new Refusal('license_reminted'))
  if (found.uncertain) throw unavailable('the state of this license cannot be read right now; try again')
  return found
}

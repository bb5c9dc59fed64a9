import type { RuntimeLookupResult } from '../../../projections/licenses/runtime.ts'
import { activateDevice, deactivateDevice } from '../../commands/devices/devices.ts'
import type { FloatingSeat } from '../../commands/devices/floating.ts'
import { momentOf } from '../../commands/origin.ts'
import { readKey } from '../../credentials/license-key.ts'
import { Refusal } from '../../domain/refusal.ts'
import { type Authority, type Caller, callerIn } from '../../http/authenticate.ts'
import { runOriginOf, runPorts } from '../../http/idempotency.ts'
import { metersShown } from '../../http/licenses/asked-meters.ts'
import { buildIn } from '../../http/licenses/builds.ts'
import { seatShown, waitingShown } from '../../http/licenses/seats.ts'
import { answer } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { refuseAllButPost } from '../../http/wrong-method.ts'
import type { Ports } from '../../ports.ts'
import {
  isSeating,
  type RefusedReason,
  type RuntimeStatus,
  unknownKey,
  type Verdict,
  verdictOn,
  withSeatKept,
} from '../../verdicts/answer.ts'
import { metersAsked } from '../../verdicts/metered.ts'
import { type NotCovered, notCoveredAnswer, updatesShown } from '../../verdicts/not-covered.ts'
import { reasonOfRefusal, statusOfRefusal } from '../../verdicts/refused.ts'
import { createFindLicense, type FindLicense } from './find-license.ts'
import { heartbeatRoute } from './heartbeat.ts'
import { meterRoutes } from './meters.ts'
import {
  activateIn,
  activateOut,
  deactivateIn,
  deactivateOut,
  runtimeErrors,
  validateIn,
  validateOut,
} from './schemas.ts'
import { type AppIn, type Input, recordRefusal, verdictFor } from './verdict.ts'

/** What the routes of the runtime interface use. */
export type RuntimePorts = Ports<
  | 'counting'
  | 'db'
  | 'execute'
  | 'findForRuntime'
  | 'findForValidate'
  | 'findMetered'
  | 'findToken'
  | 'keyHashing'
  | 'newId'
  | 'now'
  | 'planCapacity'
  | 'randomBytes'
  | 'refusals'
  | 'seatEnds'
  | 'sightings'
  | 'usage'
>

/**
 * The runtime interface: a vendor's own server validates its customers' keys. A rejected license is still a 200.
 */
export function runtimeRoutes(app: ZodApp, ports: RuntimePorts, authority: Authority): void {
  const findLicense = createFindLicense(ports, authority)
  validateRoute(app, ports, authority, findLicense)
  heartbeatRoute(app, ports, authority, findLicense)
  activateRoute(app, ports)
  deactivateRoute(app, ports)
  meterRoutes(app, ports)
  for (const call of ['activate', 'validate', 'heartbeat', 'deactivate'])
    refuseAllButPost(app, `/v1/licenses/${call}`)
}

/** @returns undefined without a lookup when the check character shows that the key was never issued */
async function find(ports: Ports<'findForRuntime' | 'keyHashing'>, caller: Caller, input: Input) {
  const key = readKey(input.license_key)
  if (key === undefined) return undefined
  const question = {
    tenantId: caller.tenantId,
    productId: input.product_id,
    ...(await ports.keyHashing.hashesOf(caller.tenantId, key)),
    deviceId: input.device_id ?? '',
  }
  return { question, result: await ports.findForRuntime(question) }
}

function validateRoute(
  app: ZodApp,
  ports: Ports<
    | 'counting'
    | 'db'
    | 'findForValidate'
    | 'findToken'
    | 'keyHashing'
    | 'now'
    | 'refusals'
    | 'seatEnds'
    | 'sightings'
    | 'usage'
  >,
  authority: Authority,
  findLicense: FindLicense,
): void {
  app.post(
    '/v1/licenses/validate',
    {
      config: {
        scope: 'licenses:runtime',
        admitsItself: true,
        idempotencyKey: 'ignored',
        noRequestTimeout: true,
        noDryRun: 'it changes nothing but counts',
      },
      schema: {
        operationId: 'validateLicense',
        tags: ['Runtime'],
        summary: 'Validate a license key on a device',
        description:
          'Reads the authoritative state: once a revocation or expiry was acknowledged, the key is never valid again.',
        body: validateIn,
        response: { 200: answer('The result', validateOut), ...runtimeErrors() },
      },
    },
    async (request, reply) => {
      const { product_id: productId, device_id } = request.body
      const asking = { authority, findLicense, reply }
      const { tenantId, licenseId, verdict, floating } = await verdictFor(
        ports,
        asking,
        'validate',
        request.body,
      )
      const valid = verdict.status === 'active'
      const updates = updatesIn(ports, { tenantId, productId }, request.body, verdict)
      const { meters: asked } = request.body
      const meters =
        valid && licenseId !== undefined && asked
          ? await metersAsked(ports, { tenantId, licenseId }, asked, momentOf(ports))
          : undefined
      return {
        valid,
        ...shown(verdict),
        ...graceIn(verdict),
        device_id: device_id ?? null,
        ...seatShown(device_id ?? '', floating),
        ...(!valid && { reason: verdict.reason ?? verdict.status }),
        ...(updates && (await updates)),
        ...metersShown(meters),
      }
    },
  )
}

/** The updates of the license in an answer: none where it covers every build. Only a refusal because of them takes a query. */
function updatesIn(
  ports: Ports<'db'>,
  place: { tenantId: string; productId: string },
  input: AppIn,
  { updatesUntil, reason }: Verdict,
): Partial<NotCovered> | Promise<NotCovered> | undefined {
  if (updatesUntil === null) return undefined
  if (reason !== 'build_not_covered') return updatesShown(updatesUntil)
  return notCoveredAnswer(ports, place, updatesUntil, buildIn(input).channel)
}

function activateRoute(app: ZodApp, ports: RuntimePorts): void {
  app.post(
    '/v1/licenses/activate',
    {
      config: {
        scope: 'licenses:runtime',
        refusedWhileSuspended: true,
        noDryRun: 'whether a seat is free is only certain once it is taken; validate changes nothing',
      },
      schema: {
        operationId: 'activateDevice',
        tags: ['Runtime'],
        summary: 'Activate a device; repeating the same device_id takes no second seat',
        description:
          'A license that has fallen back is activated with `status: fallback` and its fallback ' +
          'entitlements.',
        body: activateIn,
        response: { 200: answer('Whether the device has a seat', activateOut), ...runtimeErrors() },
      },
    },
    async (request) => {
      const caller = callerIn(request)
      const { product_id, device_id, name = device_id } = request.body
      const found = await find(ports, caller, request.body)
      const own = runPorts(request, ports)
      const now = momentOf(own)
      let floating: FloatingSeat | undefined
      let verdict = found ? verdictOn(found.result, false, now) : unknownKey(now)
      // A revoked license is answered as fast as an unknown one, without further checks.
      const refused =
        found && isSeating(verdict.status)
          ? await refusalOf(found.result, async (license) => {
              const device = { name, plan: caller.plan, builtAt: buildIn(request.body).builtAt }
              const after = await activateDevice(own, license, found.question, device, runOriginOf(request))
              // The activation may have started its term.
              if (license.license.startsWith)
                verdict = verdictOn({ ...license, license: after.license }, false, now)
              floating = after.floating
              if (after.license.floating) verdict = withSeatKept(verdict, after.license.floating, now)
            })
          : undefined
      const status = (refused && statusOfRefusal(refused.code)) ?? verdict.status
      const activated = isSeating(status)
      const reason = (refused && reasonOfRefusal(refused.code)) ?? verdict.reason ?? status
      if (activated) {
        ports.usage.count(caller.tenantId, product_id, 'activations')
        if (found?.result.kind === 'license')
          ports.sightings.note({ ...found.question, licenseId: found.result.licenseId }, request)
      } else recordRefusal(ports, caller.tenantId, 'activate', request.body, found?.result, reason)
      const granting = activated ? verdict : { ...verdict, ...grantsNothing }
      const told = withoutTerms(granting, status)
      const answered = { activated, ...shown(told), status, device_id, ...seatShown(device_id, floating) }
      const place = { tenantId: caller.tenantId, productId: product_id }
      const updates = await updatesIn(ports, place, request.body, { ...told, ...isNotCovered(reason) })
      return {
        ...answered,
        ...(activated ? graceIn(told) : { reason, ...waitingShown(refused) }),
        ...updates,
      }
    },
  )
}

/** The verdict's reason of an activation that the rules refused. */
const isNotCovered = (reason: RefusedReason): Pick<Verdict, 'reason'> =>
  reason === 'build_not_covered' ? { reason } : {}

/** What of a verdict the answer of every call has, under the names of the interface. */
const shown = ({ status, expiresAt, entitlements, values, revalidateAfter }: Verdict) => ({
  status,
  expires_at: expiresAt,
  entitlements,
  ...(values && { entitlement_values: values }),
  revalidate_after: revalidateAfter,
})

/** What a refused activation has in place of what the license grants. */
const grantsNothing = { entitlements: [], values: undefined }

/** What a valid key past its expiry answers more. */
const graceIn = ({ graceUntil }: Verdict) =>
  graceUntil === undefined ? {} : ({ grace: true, grace_until: graceUntil } as const)

/** A license that was revoked or reminted during this request shows no more than one that was found so. */
function withoutTerms(verdict: Verdict, status: RuntimeStatus): Verdict {
  return status === 'revoked' || status === 'reminted'
    ? { ...verdict, expiresAt: null, updatesUntil: null }
    : verdict
}

function deactivateRoute(app: ZodApp, ports: RuntimePorts): void {
  app.post(
    '/v1/licenses/deactivate',
    {
      config: { scope: 'licenses:runtime', noDryRun: 'it gives up the seat of its own device' },
      schema: {
        operationId: 'deactivateDevice',
        tags: ['Runtime'],
        summary: 'Deactivate a device; a device without a seat gets the same response',
        description:
          'Frees its seat for another device. A key that no license has gets `deactivated: false` with the reason.',
        body: deactivateIn,
        response: { 200: answer('Whether the device has no seat', deactivateOut), ...runtimeErrors(409) },
      },
    },
    async (request) => {
      const caller = callerIn(request)
      const { fence = null } = request.body
      const found = await find(ports, caller, request.body)
      const own = runPorts(request, ports)
      const now = momentOf(own)
      const verdict = found ? verdictOn(found.result, false, now) : unknownKey(now)
      const refused =
        found &&
        (await refusalOf(found.result, (license) =>
          deactivateDevice(own, license, found.question, fence, runOriginOf(request)),
        ))
      if (found?.result.kind !== 'license' || refused) {
        return { deactivated: false, reason: (refused && reasonOfRefusal(refused.code)) ?? verdict.status }
      }
      ports.usage.count(caller.tenantId, request.body.product_id, 'deactivations')
      return { deactivated: true }
    },
  )
}

/** Runs the command on the license, if one was found. A refusal that is a status is returned and not thrown. */
async function refusalOf(
  result: RuntimeLookupResult,
  command: (license: Extract<RuntimeLookupResult, { kind: 'license' }>) => Promise<void>,
): Promise<Refusal | undefined> {
  if (result.kind !== 'license') return undefined
  try {
    await command(result)
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal) || statusOfRefusal(error.code) === undefined) throw error
    return error
  }
}

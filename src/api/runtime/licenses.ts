import type { FastifyReply } from 'fastify'
import type { KeyLookupResult, RuntimeLookupResult } from '../../../projections/licenses/runtime.ts'
import { activateDevice, deactivateDevice } from '../../commands/devices/devices.ts'
import { type FloatingSeat, keepSeat } from '../../commands/devices/floating.ts'
import { momentOf } from '../../commands/origin.ts'
import { readKey } from '../../credentials/license-key.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import { type Authority, admitAs, type Caller, callerIn, tokenHashIn } from '../../http/authenticate.ts'
import { runOriginOf, runPorts } from '../../http/idempotency.ts'
import { buildIn } from '../../http/licenses/builds.ts'
import { seatShown } from '../../http/licenses/seats.ts'
import { answer } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { refuseAllButPost } from '../../http/wrong-method.ts'
import type { Ports } from '../../ports.ts'
import type { CallName } from '../../usage/refusals.ts'
import {
  isSeating,
  type RefusedReason,
  type RuntimeStatus,
  reasonOfRefusal,
  statusOfRefusal,
  unknownKey,
  type Verdict,
  verdictOn,
  withSeatKept,
  withSeatLost,
} from '../../verdicts/answer.ts'
import { type NotCovered, notCoveredAnswer, updatesShown } from '../../verdicts/not-covered.ts'
import { createFindLicense, type FindLicense } from './find-license.ts'
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
  | 'usage'
>

/**
 * The runtime interface: a vendor's own server validates its customers' keys. A rejected license is still a 200.
 */
export function runtimeRoutes(app: ZodApp, ports: RuntimePorts, authority: Authority): void {
  validateRoute(app, ports, authority)
  activateRoute(app, ports)
  deactivateRoute(app, ports)
  meterRoutes(app, ports)
  for (const call of ['activate', 'validate', 'deactivate']) refuseAllButPost(app, `/v1/licenses/${call}`)
}

type Input = { product_id: string; license_key: string; device_id?: string | undefined }

/** What the caller says of the app. */
type AppIn = Parameters<typeof buildIn>[0] & { app_version?: string | undefined }

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
    'db' | 'findForValidate' | 'findToken' | 'keyHashing' | 'now' | 'refusals' | 'seatEnds' | 'usage'
  >,
  authority: Authority,
): void {
  const findLicense = createFindLicense(ports, authority)
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
      const { tenantId, verdict, floating } = await verdictFor(
        ports,
        authority,
        findLicense,
        reply,
        request.body,
      )
      const valid = verdict.status === 'active'
      const updates = updatesIn(ports, { tenantId, productId }, request.body, verdict)
      return {
        valid,
        ...shown(verdict),
        ...graceIn(verdict),
        device_id: device_id ?? null,
        ...seatShown(device_id ?? '', floating),
        ...(!valid && { reason: verdict.reason ?? verdict.status }),
        ...(updates && (await updates)),
      }
    },
  )
}

/** Authenticates the caller, finds the status of the key, and keeps the floating seat of the device. */
async function verdictFor(
  ports: Ports<'findToken' | 'now' | 'refusals' | 'seatEnds' | 'usage'>,
  authority: Authority,
  findLicense: FindLicense,
  reply: FastifyReply,
  input: Input & AppIn & { fence?: number | undefined },
): Promise<{ tenantId: string } & OfSeat> {
  const { product_id: productId, license_key, device_id } = input
  const now = momentOf(ports)
  const tokenHash = tokenHashIn(reply.request)
  const key = readKey(license_key)
  if (key === undefined) {
    const caller = await admitAs(authority, reply, tokenHash, await ports.findToken(tokenHash), now)
    const verdict = unknownKey(now)
    recordRefusal(ports, caller.tenantId, 'validate', input, undefined, verdict.status)
    return { tenantId: caller.tenantId, verdict, floating: undefined }
  }
  const question = { tokenHash, productId, deviceId: device_id ?? '' }
  const { tenantId, result } = await findLicense(reply, key, question, now)
  const standing = verdictOn(result, device_id !== undefined, now, buildIn(input).builtAt)
  const { verdict, floating } = await seatKept(ports, standing, result, input, now)
  const valid = verdict.status === 'active'
  ports.usage.count(tenantId, productId, valid ? 'validations' : 'rejected')
  if (!valid) recordRefusal(ports, tenantId, 'validate', input, result, verdict.reason ?? verdict.status)
  return { tenantId, verdict, floating }
}

type OfSeat = { verdict: Verdict; floating: FloatingSeat | undefined }

/** Keeps the floating seat of a device whose license is good; of another, the seat runs out. Other seats cost nothing here. */
async function seatKept(
  ports: Ports<'seatEnds'>,
  verdict: Verdict,
  result: KeyLookupResult,
  { device_id: deviceId, fence: named }: { device_id?: string | undefined; fence?: number | undefined },
  now: string,
): Promise<OfSeat> {
  const isKept = result.kind === 'license' && deviceId !== undefined && isSeating(verdict.status)
  if (!isKept || result.license.floating === null || result.fence === null)
    return { verdict, floating: undefined }
  const {
    licenseId,
    license: { floating },
    fence,
  } = result
  const kept = await keepSeat(ports, { licenseId, floating }, { deviceId, fence }, named)
  return {
    verdict: kept ? withSeatKept(verdict, floating, now) : withSeatLost(verdict),
    floating: kept,
  }
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
      const code =
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
      const status = (code && statusOfRefusal(code)) ?? verdict.status
      const activated = isSeating(status)
      const reason = (code && reasonOfRefusal(code)) ?? verdict.reason ?? status
      if (activated) ports.usage.count(caller.tenantId, product_id, 'activations')
      else recordRefusal(ports, caller.tenantId, 'activate', request.body, found?.result, reason)
      const granting = activated ? verdict : { ...verdict, ...grantsNothing }
      const told = withoutTerms(granting, status)
      const answered = { activated, ...shown(told), status, device_id, ...seatShown(device_id, floating) }
      const place = { tenantId: caller.tenantId, productId: product_id }
      const updates = await updatesIn(ports, place, request.body, { ...told, ...isNotCovered(reason) })
      return { ...answered, ...(activated ? graceIn(told) : { reason }), ...updates }
    },
  )
}

/** @param found undefined for a key that cannot exist */
function recordRefusal(
  { refusals }: Ports<'refusals'>,
  tenantId: string,
  call: CallName,
  input: Input & { name?: string | undefined; app_version?: string | undefined },
  found: KeyLookupResult | undefined,
  reason: RefusedReason,
): void {
  const refused = { tenantId, productId: input.product_id, call, interface: 'runtime' } as const
  if (found && 'licenseId' in found) {
    const app = { appVersion: input.app_version ?? null, sdkVersion: null, platform: null }
    const device = { id: input.device_id ?? '', name: input.name ?? null, ...app }
    refusals.record(refused, found.licenseId, reason, device)
  } else refusals.recordUnknownKey(refused, input.license_key)
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
        return { deactivated: false, reason: (refused && reasonOfRefusal(refused)) ?? verdict.status }
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
): Promise<RefusalCode | undefined> {
  if (result.kind !== 'license') return undefined
  try {
    await command(result)
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal) || statusOfRefusal(error.code) === undefined) throw error
    return error.code
  }
}

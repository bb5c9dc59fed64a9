import { z } from 'zod'
import { findMetering } from '../../../projections/meters/licenses.ts'
import { type AllowanceAnswer, grantAllowance } from '../../commands/meters/allowances.ts'
import { meterOfLicense, type UsableMeter } from '../../commands/meters/meters.ts'
import { momentOf } from '../../commands/origin.ts'
import { unixSeconds } from '../../domain/licenses/expiry.ts'
import { isCovered } from '../../domain/licenses/updates.ts'
import { Refusal } from '../../domain/refusal.ts'
import { buildIn } from '../../http/licenses/builds.ts'
import {
  allowanceId,
  amountOut,
  keyedFrom,
  nothingLeft,
  standingShape,
  standingShown,
  useShape,
} from '../../http/licenses/meters.ts'
import { Problem } from '../../http/problem.ts'
import { answer, errorBody, errorsWith, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { type ClientAuthority, clientOriginOf } from './admit.ts'
import { answerPreflight } from './edge.ts'
import { leaseFor, requireLeases } from './lease.ts'
import type { ClientPorts } from './ports.ts'
import { clientProblemOf } from './refusals.ts'
import { activateRefusal, clientPlace, machineIn, validateIn, withLimits } from './schemas.ts'
import type { SettingsRequest } from './settings.ts'
import { findOnInstance, seatKept, type Verdict, verdictOn } from './verdict.ts'

const path = '/:tenantId/:productId/allowance'

const allowanceIn = validateIn.omit({ lease_version: true, meters: true }).extend({
  ...useShape,
  amount: useShape.amount.meta({ description: 'How much to keep for the device' }),
  idempotency_key: text(200).meta({
    description: 'Names this request under its meter: send it again, and the same allowance is answered',
    example: 'allowance-17',
  }),
  seconds: z
    .int()
    .min(60)
    .max(31 * 86_400)
    .meta({
      description:
        'How long the device wants to spend it: up to 31 days. It ends with the period, and with the credits that it is taken from, at the latest',
      example: 604_800,
    }),
})

const allowanceOut = z.object({
  granted: z.boolean().meta({ description: 'Whether the amount is kept for the device', example: true }),
  reason: z
    .enum(['meter_exhausted', 'no_such_meter', 'allowance_limit_reached', 'allowance_over'])
    .optional()
    .meta({
      description:
        'Why it is not: not so much is left, the key type has no such meter, five are kept for the device already, or that of this ' +
        '`idempotency_key` is spent or over. Absent when it is',
      example: 'meter_exhausted',
    }),
  allowance: z
    .object({
      id: allowanceId,
      amount: amountOut.meta({ description: 'How much the device may spend' }),
      ends_at: z.int().meta({
        description: 'Until when the device may spend it, by its own clock, in Unix seconds',
        example: 1_795_858_200,
      }),
    })
    .optional()
    .meta({ description: 'The allowance, as `lease2` says it. Absent unless it is granted' }),
  lease2: z.string().optional().meta({
    description: 'A lease of the second version with the claim `allowance`. Absent unless it is granted',
    example: 'v4.public.eyJpYXQiOiIyMDI2LTExLTI3VDEwOjAwOjAwWiJ9…',
  }),
  ...standingShape,
})

/** A device asks for an amount to spend without a network. */
export function allowanceRoute(app: ZodApp, ports: ClientPorts, authority: ClientAuthority): void {
  answerPreflight(app, path)
  app.post(
    path,
    {
      config: {
        client: 'allowance',
        admitsItself: true,
        refusedWhileSuspended: true,
        noDryRun: 'whether there is enough is only certain once it is kept; validate says how meters stand',
      },
      schema: {
        operationId: 'allowInstance',
        tags: ['Client'],
        summary: 'Keep an amount of a meter for this device to spend without a network',
        description:
          'What the device spends is reported with `uses`, up to seven days after the end of the allowance. What it gives back there is free at ' +
          'once; what is left, seven days after the end.',
        params: clientPlace,
        body: allowanceIn,
        response: {
          200: answer('Whether the amount is kept', allowanceOut),
          ...errorsWith(activateRefusal, 404, 422),
          ...withLimits(errorsWith(errorBody, 400, 401, 403)),
        },
      },
    },
    async (request, reply) => {
      const now = momentOf(ports)
      const { body } = request
      const { client, keyHash, result } = await findOnInstance(ports, authority, reply, body, now)
      const verdict = await seatKept(ports, verdictOn(result, now), body.fence)
      if ('problem' in verdict) throw verdict.problem
      requireActive(verdict, body)
      const asking = { client, origin: clientOriginOf(request), log: request.log }
      const metered = await meterOf(ports, asking, verdict, body.meter)
      if (!metered) return { granted: false, reason: 'no_such_meter' as const, ...nothingLeft(body.meter) }
      return grantedTo(ports, asking, { ...verdict, keyHash, metered }, body, now)
    },
  )
}

/** @throws Problem 422 */
function requireActive({ status, found }: Verdict, body: Parameters<typeof buildIn>[0]): void {
  if (status !== 'active') {
    const message = `the license may not be used now (${status}); validate it to see why`
    throw new Problem(
      422,
      'invalid_request',
      message,
      {},
      { reason: status === 'fallback' ? 'expired' : status },
    )
  }
  const problem = isCovered(found.license, buildIn(body).builtAt)
    ? undefined
    : clientProblemOf('build_not_covered')
  if (problem) throw problem
}

async function meterOf(
  { db }: ClientPorts,
  { client: { tenantId } }: SettingsRequest,
  { found: { licenseId } }: Verdict,
  meter: string,
): Promise<UsableMeter | undefined> {
  const metering = await findMetering(db, tenantId, licenseId)
  return metering && meterOfLicense(metering, meter)
}

/** The lease is signed last: what is recorded before is answered again when the same request is sent again. */
async function grantedTo(
  ports: ClientPorts,
  asking: SettingsRequest,
  { status, found, floating, keyHash, metered }: Verdict & { keyHash: string; metered: UsableMeter },
  body: z.output<typeof allowanceIn>,
  now: string,
) {
  const { instance_id: instanceId, meter, amount, seconds } = body
  await requireLeases(ports, asking)
  const wanted = { ...keyedFrom(body), seconds, instanceId }
  const granted = await unlessTooMany(grantAllowance(ports, metered, wanted, asking.origin))
  if (!granted) return { granted: false, reason: 'allowance_limit_reached' as const, ...nothingLeft(meter) }
  const standing = standingShown(meter, granted.standing)
  const { allowance } = granted
  if ('reason' in allowance) return { granted: false, reason: allowance.reason, ...standing }
  const held = { licenseId: found.licenseId, keyHash, instanceId, status, version: 2 as const, floating }
  const said = { ...held, device: machineIn(body), allowance: { ...allowance, meter, amount } }
  const lease = await leaseFor(ports, asking, found, said, now)
  const ends_at = unixSeconds(allowance.endsAt)
  return { granted: true, allowance: { id: allowance.allowanceId, amount, ends_at }, ...lease, ...standing }
}

async function unlessTooMany(granting: Promise<AllowanceAnswer>): Promise<AllowanceAnswer | undefined> {
  try {
    return await granting
  } catch (error) {
    if (error instanceof Refusal && error.code === 'allowance_limit_reached') return undefined
    throw error
  }
}

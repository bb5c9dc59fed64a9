import { z } from 'zod'
import { unixSeconds } from '../../domain/licenses/expiry.ts'
import { amountOf, amountText } from '../../domain/meters/amount.ts'
import type { standing, UseAnswer } from '../../domain/meters/decide.ts'
import { Slug } from '../../domain/values.ts'
import { invalid } from '../problem.ts'
import { momentOut, text } from '../schemas.ts'

export const meterName = Slug.meta({
  description: 'The id of the meter, as the key type has it',
  example: 'api-calls',
})

/** An amount, and more than nothing: of `0.000…`, one digit after the point is not 0. */
const positive =
  /^(?:[1-9]\d{0,11}(?:\.\d{1,6})?|0\.(?:[1-9]\d{0,5}|0[1-9]\d{0,4}|00[1-9]\d{0,3}|000[1-9]\d{0,2}|0000[1-9]\d?|00000[1-9]))$/

const amountRule =
  'must be a decimal number as a string, more than 0, with up to 12 digits before the point and 6 after it'

export const amountIn = z.string().regex(positive, amountRule).meta({
  description:
    'How much, as a decimal number in a string with up to 6 places: as a JSON number it could lose digits',
  example: '1.5',
})

export const amountOut = z.string().meta({ description: 'A decimal number', example: '1.5' })

const useKey = text(200).meta({
  description:
    'Names this request under its meter. It counts once, however often it is sent, in whatever processes it arrives',
  example: 'render-7f3a-0042',
})

/** What is asked of a meter. */
export const useShape = { meter: meterName, amount: amountIn, idempotency_key: useKey }

export const usedAtShape = {
  used_at: z.int().min(0).optional().meta({
    description:
      'When it was used, in Unix seconds, for a use that is reported late: at most 35 days ago. Now when absent',
    example: 1_795_253_400,
  }),
}

export const holdId = text(200).meta({
  description: 'The id of the hold',
  example: 'hld_06f5w3k8hx7vq2m4n9t1r0s5zc.lic_06f5w3k8hx7vq2m4n9t1r0s5zc.tokens',
})

export const allowanceId = text(200).meta({
  description: 'The id of the allowance',
  example: 'alw_06f5w3k8hx7vq2m4n9t1r0s5zc.lic_06f5w3k8hx7vq2m4n9t1r0s5zc.tokens',
})

export const allowancesOut = z
  .array(
    z.object({
      allowanceId,
      instanceId: z.string().meta({
        description: 'The device that may spend it without a network',
        example: 'ins_06f5w3k8hx7vq2m4n9t1r0s5zc',
      }),
      left: amountOut.meta({
        description: 'What is kept of it, as far as the device has reported',
        example: '100',
      }),
      endsAt: momentOut.meta({
        description: 'Until when the device may spend it',
        example: '2026-11-30T00:00:00.000Z',
      }),
      keptUntil: momentOut.meta({
        description: 'Until when it is kept for reports of the device',
        example: '2026-12-07T00:00:00.000Z',
      }),
    }),
  )
  .meta({ description: 'What is kept for devices to spend without a network' })

export const secondsIn = z.int().min(1).max(86_400).meta({
  description: 'How long the hold lasts, unless it is committed or released before: up to a day',
  example: 600,
})

const oldestMs = 35 * 86_400_000
/** How far the clock of a device may be ahead. */
const aheadMs = 5 * 60_000

/** @throws Problem 400 for a time that is too long ago, or ahead */
export function usedAtFrom(seconds: number | undefined, now: Date): string | undefined {
  if (seconds === undefined) return undefined
  const age = now.getTime() - seconds * 1000
  if (age > oldestMs)
    throw invalid('used_at is more than 35 days ago; correct what was used with the management API instead')
  if (age < -aheadMs) throw invalid('used_at lies ahead; set the clock of the device, or leave used_at out')
  return new Date(seconds * 1000).toISOString()
}

/** When a device has used what it reports. A clock that is ahead must not keep its journal from being counted: then it is now. */
export const reportedAtFrom = (seconds: number | undefined, now: Date): string | undefined =>
  seconds === undefined || seconds * 1000 > now.getTime() ? undefined : new Date(seconds * 1000).toISOString()

/** How the period of a meter stands, in the answer to a use or a hold. */
export const standingShape = {
  meter: z.string().meta({ description: 'The meter', example: 'api-calls' }),
  remaining: amountOut.meta({
    description: 'What is left in the period and of the credits, without what would be beyond it',
    example: '9998.5',
  }),
  overage: amountOut.meta({ description: 'How much was used beyond it in the period', example: '0' }),
  resets_at: z.int().nullable().meta({
    description: 'When the period ends, in Unix seconds; null while nothing is known to end it',
    example: 1_796_083_200,
  }),
}

export const allowedUse = z
  .boolean()
  .meta({ description: 'Whether it is counted; if not, nothing is', example: true })

/** What an answer to a use says of its meter. */
export const usedShape = {
  ...standingShape,
  late: z.literal(true).optional().meta({
    description:
      'true when a use that was reported late counts in the present period, since its own was closed or had no room',
  }),
}

export const standingShown = (
  meter: string,
  { remaining, overage, resetsAt }: ReturnType<typeof standing>,
) => ({
  meter,
  remaining: amountText(remaining),
  overage: amountText(overage),
  resets_at: resetsAt === null ? null : unixSeconds(resetsAt),
})

export const usedShown = (meter: string, used: UseAnswer) => ({
  ...standingShown(meter, used),
  ...(used.allowed && used.late && { late: true as const }),
})

/** Where nothing can be used. */
export const nothingLeft = (meter: string) => ({ meter, remaining: '0', overage: '0', resets_at: null })

/** A request as commands take it. */
export const keyedFrom = ({ idempotency_key: key, amount }: { idempotency_key: string; amount: string }) => ({
  key,
  amount: amountOf(amount),
})

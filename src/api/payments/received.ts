import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { withTimeout } from '../../async/timeout.ts'
import { isId } from '../../credentials/id.ts'
import type { Provider } from '../../domain/integrations/provider.ts'
import { type Problem, invalid } from '../../http/problem.ts'
import { faultOf, inOneLine, withBuyer } from '../../payments/acceptable.ts'
import type { Incoming } from '../../payments/payment-provider.ts'
import type { Ports } from '../../ports.ts'
import type { ReceivedOutcome } from '../../sales/advance.ts'
import { type SalePorts, receiveNotification } from '../../sales/receive.ts'
import type { VerifiedNotification } from '../../sales/verify.ts'
import { recordRefused, recordVerified } from '../../usage/arrivals.ts'
import { recordIgnoredTest } from '../../usage/ignored-tests.ts'

/** What the routes of all providers share: how a notification is received, and how it is answered. */
export const received = z.object({
  received: z.literal(true),
  duplicate: z
    .literal(true)
    .optional()
    .meta({ description: 'The sale already had its license; absent otherwise' }),
  parked: z
    .literal(true)
    .optional()
    .meta({ description: 'The sale is parked until it is known what to issue; absent otherwise' }),
})
export const common = { tags: ['Notifications'], security: [] }
/**
 * A provider on a slow connection may take its time, as long as bytes arrive. No sale is refused because of what a vendor or a
 * provider has added to the address.
 */
export const config = {
  slowBody: true,
  foreignQuery: 'always',
  repeatable: true,
  noDryRun: 'a notification is sent by a payment provider',
} as const
/** A subscription of many items is long; the signature is checked before anything is built of the body. */
export const bodyLimit = 1_048_576
export const nothing = { description: 'The notification has no effect' }
export const tenantPath = z.object({ tenantId: z.string() })

export const tenantIn = ({ params }: FastifyRequest): string => {
  const { tenantId } = params as { tenantId?: unknown }
  return typeof tenantId === 'string' ? tenantId : ''
}

export function incomingOf({ body, headers }: FastifyRequest): Incoming {
  const header = (name: string) => {
    const value = headers[name]
    return typeof value === 'string' ? value : ''
  }
  return { raw: Buffer.isBuffer(body) ? body : Buffer.alloc(0), header }
}

/** The least patient provider gives up after five seconds. After a 503 a provider retries. */
const answerWithinMs = 4000

/**
 * Answers in time even while a store is down. The work may still complete; then the repeated notification has no
 * effect.
 * @returns undefined for notifications that have no effect
 */
export async function receive(
  ports: SalePorts,
  provider: Provider,
  verify: () => Promise<VerifiedNotification>,
  request: FastifyRequest,
): Promise<ReceivedOutcome | undefined> {
  const work = verify().then(async (verified) => {
    await recordArrival(ports, provider, verified)
    return recordNotification(ports, provider, verified, request)
  })
  return withTimeout(work, answerWithinMs)
}

/** For the member who sets the provider up. Our own test purchases are no notifications of the provider. */
async function recordArrival(
  { db, now }: Ports<'db' | 'now'>,
  provider: Provider,
  { tenantId, translated }: VerifiedNotification,
): Promise<void> {
  const isOwnTest = translated.type === 'sold' && isId('tp', translated.saleId)
  if (!isOwnTest) await recordVerified(db, tenantId, provider, now())
}

/** Records that a notification could not be verified. @throws Problem always, the given one */
export async function refuse(
  { db, now }: Ports<'db' | 'now'>,
  tenantId: string,
  provider: Provider,
  problem: Problem,
): Promise<never> {
  await recordRefused(db, tenantId, provider, now())
  throw problem
}

async function recordNotification(
  ports: SalePorts,
  provider: Provider,
  { tenantId, translated, paymentNamed }: VerifiedNotification,
  request: FastifyRequest,
): Promise<ReceivedOutcome | undefined> {
  switch (translated.type) {
    case 'ignored':
      if (translated.testId !== undefined) await recordTest(ports, tenantId, provider, translated.testId)
      return undefined
    case 'incomplete':
      throw invalid('Missing required fields')
    default: {
      const fault = faultOf(translated)
      if (fault !== undefined) throw invalid(`Unusable notification: ${fault}`)
      const raw = incomingOf(request).raw.toString('utf8')
      const origin = { requestId: request.id, actor: `provider:${provider}` }
      if (paymentNamed) await receiveNotification(ports, tenantId, paymentNamed, raw, origin)
      return receiveNotification(ports, tenantId, withBuyer(inOneLine(translated)), raw, origin)
    }
  }
}

/** Only Gumroad marks tests that have no effect, whatever the test mode of the tenant. */
const recordTest = (
  { db, now }: Ports<'db' | 'now'>,
  tenantId: string,
  provider: Provider,
  notificationId: string,
) =>
  recordIgnoredTest(
    db,
    tenantId,
    { provider, notificationId, kind: 'test', reason: 'gumroad_test', detail: null },
    now(),
  )

/** Only Gumroad's response contains the license key: other providers log responses. */
export function acknowledge(reply: FastifyReply, outcome: ReceivedOutcome | undefined) {
  if (outcome === undefined || outcome.outcome === 'ignored') return reply.code(204).send()
  return {
    received: true as const,
    ...(outcome.outcome === 'duplicate' && { duplicate: true as const }),
    ...(outcome.outcome === 'parked' && { parked: true as const }),
  }
}

import fc from 'fast-check'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { listEndpoints } from '../../projections/webhooks.ts'
import { askRedelivery, recordAttempt, recordInterruption } from '../../src/commands/deliveries.ts'
import { recordBounce } from '../../src/commands/mail-senders.ts'
import { advanceReplay, requestReplay } from '../../src/commands/replays.ts'
import { changeEndpoint } from '../../src/commands/webhook-endpoints.ts'
import type { AttemptResult } from '../../src/domain/deliveries/delivery.ts'
import { maxEndpoints } from '../../src/domain/webhooks/endpoint.ts'
import { scheduleDeliveries } from '../../src/reactions/deliveries.ts'
import { addTestEndpoint, sellLicense } from '../harness/dispatch.ts'
import { beginning, commandLicense, origin, type TestLedger } from '../harness/ledger.ts'

/** A step of deliveries to a webhook. */
export type DeliveryStep =
  | {
      do:
        | 'sell license'
        | 'use license'
        | 'schedule pending'
        | 'redeliver'
        | 'hurry'
        | 'add endpoint'
        | 'pause endpoint'
        | 'replay'
        | 'bounce'
    }
  | { do: 'attempt delivery'; outcome: AttemptResult['outcome'] | 'unknown' }

export const anyDeliveryStep: fc.Arbitrary<DeliveryStep> = fc.oneof(
  fc.record({
    do: fc.constantFrom(
      'sell license' as const,
      'use license' as const,
      'schedule pending' as const,
      'redeliver' as const,
      'hurry' as const,
      'add endpoint' as const,
      'pause endpoint' as const,
      'replay' as const,
      'bounce' as const,
    ),
  }),
  fc.record({
    do: fc.constant('attempt delivery' as const),
    outcome: fc.constantFrom(
      'delivered' as const,
      'failed' as const,
      'unwanted' as const,
      'unknown' as const,
    ),
  }),
)

const results: Record<AttemptResult['outcome'], AttemptResult> = {
  delivered: { outcome: 'delivered', status: 204, excerpt: null },
  failed: { outcome: 'failed', error: 'status', status: 500, excerpt: '"\\ {} é 💻' },
  unwanted: { outcome: 'unwanted' },
}

export function deliveryStepRunner(ledger: TestLedger, tenantId: string) {
  const { ports } = ledger
  const { poll } = scheduleDeliveries(ports, ({ error }) => {
    throw error
  })
  const first = async (status: 'pending' | 'delivered', order: 'newest' | 'oldest' = 'newest') =>
    (await listDeliveries(ports.db, tenantId, { status }, { after: undefined, limit: 1, order })).items[0]
  let sold: string | undefined
  let devices = 0

  return async (step: DeliveryStep): Promise<unknown> => {
    switch (step.do) {
      case 'sell license':
        sold = (await sellLicense(ledger, tenantId)).licenseId
        return
      case 'use license':
        return sold !== undefined && use(ledger, sold, `device-${++devices}`)
      case 'schedule pending':
        return poll()
      case 'attempt delivery': {
        // The oldest ends its place, the newest has others before it.
        const delivery = await first('pending', step.outcome === 'delivered' ? 'oldest' : 'newest')
        if (!delivery) return
        const { rows } = await ports.db.query<{ revision: number }>(
          'select revision from deliveries where delivery_id = $1',
          [delivery.deliveryId],
        )
        const entry = { delivery, revision: rows[0]?.revision ?? 0 }
        const startedAt = ports.now().toISOString()
        if (step.outcome === 'unknown') return recordInterruption(ports, entry, startedAt, origin)
        const made = { startedAt, durationMs: 12, result: results[step.outcome] }
        return recordAttempt(ports, entry, made, origin)
      }
      case 'add endpoint': {
        const present = await listEndpoints(ports.db, tenantId)
        if (present.length < maxEndpoints)
          return addTestEndpoint(ledger, tenantId, 'https://public.example.com/other')
        return
      }
      case 'pause endpoint': {
        const endpoint = (await listEndpoints(ports.db, tenantId)).at(-1)
        if (!endpoint) return
        const { endpointId, pausedAt } = endpoint
        const change = { paused: pausedAt === null, description: 'Fulfillment' }
        return changeEndpoint(ports, tenantId, endpointId, change, ports.newId('req'), origin)
      }
      case 'bounce': {
        const [mail] = (
          await listDeliveries(ports.db, tenantId, { channel: 'mail' }, { after: undefined, limit: 1 })
        ).items
        const bounce = {
          kind: 'permanent',
          sender: 'postmark',
          notificationId: ports.newId('req'),
          status: null,
        } as const
        return mail && recordBounce(ports, tenantId, mail.deliveryId, bounce, origin)
      }
      case 'replay':
        return replay(ledger, tenantId)
      case 'hurry': {
        const delivery = await first('pending')
        return delivery && askRedelivery(ports, tenantId, delivery.deliveryId, origin)
      }
      case 'redeliver': {
        const delivery = await first('delivered')
        return delivery && askRedelivery(ports, tenantId, delivery.deliveryId, origin)
      }
    }
  }
}

/** Takes a seat and gives it back: two more events of a license. */
async function use(ledger: TestLedger, licenseId: string, deviceId: string): Promise<void> {
  const at = ledger.ports.now().toISOString()
  const more = { instanceId: `ins_${deviceId}`, installId: null, name: 'Laptop', platform: null }
  await commandLicense(ledger, licenseId, { type: 'ActivateDevice', deviceId, ...more, at })
  await commandLicense(ledger, licenseId, { type: 'DeactivateDevice', deviceId, at })
}

/** Repeats every delivery of one endpoint, as far as it may at once. */
async function replay({ ports }: TestLedger, tenantId: string): Promise<void> {
  const endpoint = (await listEndpoints(ports.db, tenantId)).at(-1)
  if (!endpoint) return
  const { endpointId } = endpoint
  const asked = { from: beginning, to: undefined, events: undefined, endpointId, only: 'all' } as const
  const begun = await requestReplay(ports, tenantId, asked, ports.newId('whr'), origin)
  await advanceReplay(ports, begun, origin)
}

/** Every kind of step; the last one leaves a pending delivery. */
export const everyDeliveryStep: readonly DeliveryStep[] = [
  { do: 'add endpoint' },
  { do: 'sell license' },
  { do: 'use license' },
  { do: 'schedule pending' },
  { do: 'attempt delivery', outcome: 'unknown' },
  { do: 'attempt delivery', outcome: 'failed' },
  { do: 'attempt delivery', outcome: 'delivered' },
  { do: 'bounce' },
  { do: 'redeliver' },
  { do: 'hurry' },
  { do: 'replay' },
  { do: 'pause endpoint' },
  { do: 'attempt delivery', outcome: 'unwanted' },
  { do: 'sell license' },
]

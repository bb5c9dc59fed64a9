import fc from 'fast-check'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { askRedelivery, recordAttempt } from '../../src/commands/deliveries/deliveries.ts'
import type { AttemptResult } from '../../src/domain/deliveries/delivery.ts'
import { scheduleDeliveries } from '../../src/processes/deliveries.ts'
import { sellLicense } from '../harness/dispatch.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'

/** A step of deliveries to a webhook. */
export type DeliveryStep =
  | { do: 'sell license' | 'schedule pending' | 'redeliver' }
  | { do: 'attempt delivery'; outcome: AttemptResult['outcome'] }

export const anyDeliveryStep: fc.Arbitrary<DeliveryStep> = fc.oneof(
  fc.record({
    do: fc.constantFrom('sell license' as const, 'schedule pending' as const, 'redeliver' as const),
  }),
  fc.record({
    do: fc.constant('attempt delivery' as const),
    outcome: fc.constantFrom('delivered' as const, 'failed' as const, 'unwanted' as const),
  }),
)

const results: Record<AttemptResult['outcome'], AttemptResult> = {
  delivered: { outcome: 'delivered', status: 204, excerpt: null },
  failed: { outcome: 'failed', error: 'status', status: 500, excerpt: '"\\ {} é 💻' },
  unwanted: { outcome: 'unwanted' },
}

export function deliveryStepRunner(ledger: TestLedger, tenantId: string) {
  const { services } = ledger
  const { poll } = scheduleDeliveries(services, ({ error }) => {
    throw error
  })
  const first = async (status: 'pending' | 'delivered') =>
    (await listDeliveries(services.db, tenantId, { status }, { after: undefined, limit: 1 })).items[0]

  return async (step: DeliveryStep): Promise<unknown> => {
    switch (step.do) {
      case 'sell license':
        return sellLicense(ledger, tenantId)
      case 'schedule pending':
        return poll()
      case 'attempt delivery': {
        const delivery = await first('pending')
        if (!delivery) return
        const { rows } = await services.db.query<{ revision: number }>(
          'select revision from deliveries where delivery_id = $1',
          [delivery.deliveryId],
        )
        const startedAt = services.now().toISOString()
        const made = { startedAt, durationMs: 12, result: results[step.outcome] }
        return recordAttempt(services, { delivery, revision: rows[0]?.revision ?? 0 }, made, origin)
      }
      case 'redeliver': {
        const delivery = await first('delivered')
        return delivery && askRedelivery(services, tenantId, delivery.deliveryId, origin)
      }
    }
  }
}

/** Every kind of step; the last one leaves a pending delivery. */
export const everyDeliveryStep: readonly DeliveryStep[] = [
  { do: 'sell license' },
  { do: 'schedule pending' },
  { do: 'attempt delivery', outcome: 'failed' },
  { do: 'attempt delivery', outcome: 'delivered' },
  { do: 'redeliver' },
  { do: 'attempt delivery', outcome: 'unwanted' },
  { do: 'sell license' },
]

import fc from 'fast-check'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { askRedelivery, recordAttempt } from '../../src/commands/deliveries/deliveries.ts'
import type { AttemptResult } from '../../src/domain/deliveries/delivery.ts'
import { scheduleDeliveries } from '../../src/processes/deliveries.ts'
import { sellLicense } from '../harness/dispatch.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'

/** What becomes of what is owed to a webhook. */
export type DeliveryStep =
  | { do: 'buy' | 'schedule what is pending' | 'deliver again' }
  | { do: 'try to deliver'; outcome: AttemptResult['outcome'] }

export const anyDeliveryStep: fc.Arbitrary<DeliveryStep> = fc.oneof(
  fc.record({
    do: fc.constantFrom('buy' as const, 'schedule what is pending' as const, 'deliver again' as const),
  }),
  fc.record({
    do: fc.constant('try to deliver' as const),
    outcome: fc.constantFrom('delivered' as const, 'failed' as const, 'unwanted' as const),
  }),
)

const results: Record<AttemptResult['outcome'], AttemptResult> = {
  delivered: { outcome: 'delivered', status: 204, excerpt: null },
  failed: { outcome: 'failed', error: 'status', status: 500, excerpt: '"\\ {} é 💻' },
  unwanted: { outcome: 'unwanted' },
}

export function liveAsDeliveries(ledger: TestLedger, tenantId: string) {
  const { services } = ledger
  const { poll } = scheduleDeliveries(services, ({ error }) => {
    throw error
  })
  const first = async (status: 'pending' | 'delivered') =>
    (await listDeliveries(services.db, tenantId, { status }, { after: undefined, limit: 1 })).items[0]

  return async (step: DeliveryStep): Promise<unknown> => {
    switch (step.do) {
      case 'buy':
        return sellLicense(ledger, tenantId)
      case 'schedule what is pending':
        return poll()
      case 'try to deliver': {
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
      case 'deliver again': {
        const delivery = await first('delivered')
        return delivery && askRedelivery(services, tenantId, delivery.deliveryId, origin)
      }
    }
  }
}

/** One of everything, with something left that is owed. */
export const deliveriesLife: readonly DeliveryStep[] = [
  { do: 'buy' },
  { do: 'schedule what is pending' },
  { do: 'try to deliver', outcome: 'failed' },
  { do: 'try to deliver', outcome: 'delivered' },
  { do: 'deliver again' },
  { do: 'try to deliver', outcome: 'unwanted' },
  { do: 'buy' },
]

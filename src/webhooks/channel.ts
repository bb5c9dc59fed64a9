import type { AttemptResult, KnownDelivery } from '../domain/deliveries/delivery.ts'

/**
 * A way in which deliveries leave. It makes one try, for no longer than it is meant to take, and says what came of it.
 * Retries, the schedule and the record of each try are the dispatcher's. What it throws is no try: the delivery stays
 * due, and is given again a little later.
 */
export type DeliveryChannel = {
  deliver(delivery: KnownDelivery): Promise<AttemptResult>
}

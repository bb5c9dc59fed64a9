import type { AttemptResult, KnownDelivery } from '../domain/deliveries/delivery.ts'

/**
 * A way to send deliveries. It makes one attempt within its own time limit and returns the result. The
 * dispatcher records it, and `src/domain/deliveries/delivery.ts` decides when to try again. An exception is not a result: the delivery stays due, and is
 * handed out again a little later. Nor is `held`: the receiver does not want it for the time being.
 */
export type DeliveryChannel = {
  /** @param begin awaited right before anything is sent, so that no attempt is made that is not known */
  deliver(delivery: KnownDelivery, begin: () => Promise<void>): Promise<AttemptResult | { outcome: 'held' }>
}

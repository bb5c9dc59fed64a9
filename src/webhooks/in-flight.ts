import type { DueAttempt, Receiver } from '../../projections/deliveries/due.ts'

/**
 * The limit of published attempts per receiver, so that a slow one does not use up the slots of others. After
 * a failure the limit is lower until an attempt succeeds.
 */
export const maxOfEach = 32
const maxOfFailing = 2

const nameOf = ({ channel, tenantId, endpointId }: Receiver): string =>
  `${channel} ${tenantId} ${endpointId ?? ''}`

export type InFlight = ReturnType<typeof createInFlight>

/** The published attempts that are not known to be done, by receiver. */
export function createInFlight(lostAfterMs: number) {
  const jobs = new Map<string, { receiver: string; lostAt: number }>()
  const receivers = new Map<
    string,
    Receiver & { deliveryIds: Set<string>; hasMoreDue: boolean; isFailing: boolean }
  >()

  function receiverOf({ channel, tenantId, endpointId }: Receiver) {
    const name = nameOf({ channel, tenantId, endpointId })
    const known = receivers.get(name) ?? {
      channel,
      tenantId,
      endpointId,
      deliveryIds: new Set<string>(),
      hasMoreDue: false,
      isFailing: false,
    }
    receivers.set(name, known)
    return known
  }

  function done(deliveryId: string, failed: boolean | undefined): void {
    const job = jobs.get(deliveryId)
    const receiver = job && receivers.get(job.receiver)
    if (!receiver) return
    jobs.delete(deliveryId)
    receiver.deliveryIds.delete(deliveryId)
    if (failed !== undefined) receiver.isFailing = failed
    if (receiver.deliveryIds.size === 0 && !receiver.hasMoreDue && !receiver.isFailing) {
      receivers.delete(nameOf(receiver))
    }
  }

  return {
    /** Whether it may be published now; if not, its receiver is queried again when it has a free slot. */
    admit(job: DueAttempt): boolean {
      if (jobs.has(job.deliveryId)) return false
      const receiver = receiverOf(job)
      const most = receiver.isFailing ? maxOfFailing : maxOfEach
      if (receiver.deliveryIds.size >= most) {
        receiver.hasMoreDue = true
        return false
      }
      receiver.deliveryIds.add(job.deliveryId)
      jobs.set(job.deliveryId, { receiver: nameOf(job), lostAt: performance.now() + lostAfterMs })
      return true
    },
    done,
    /** Whether its receiver has further due attempts. */
    hasMore: (deliveryId: string): boolean =>
      receivers.get(jobs.get(deliveryId)?.receiver ?? '')?.hasMoreDue ?? false,
    /** Receivers with further due attempts and at least half of their slots free. */
    withFreeSlots: (): Receiver[] =>
      [...receivers.values()].filter(
        ({ hasMoreDue, isFailing, deliveryIds }) =>
          hasMoreDue && deliveryIds.size <= (isFailing ? maxOfFailing : maxOfEach) / 2,
      ),
    of: (some: readonly Receiver[]): string[] =>
      some.flatMap((receiver) => [...(receivers.get(nameOf(receiver))?.deliveryIds ?? [])]),
    /** Receivers without a due attempt in the answer have no further ones. */
    noteFound(polled: readonly Receiver[], due: readonly DueAttempt[]): void {
      const more = new Set(due.map(nameOf))
      for (const receiver of polled) {
        const known = receivers.get(nameOf(receiver))
        if (known && !more.has(nameOf(receiver))) known.hasMoreDue = false
      }
    },
    forgetLost(): void {
      for (const [deliveryId, { lostAt }] of jobs)
        if (lostAt <= performance.now()) done(deliveryId, undefined)
    },
  }
}

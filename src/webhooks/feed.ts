import type { DueAttempt } from '../../projections/deliveries/due.ts'

/** Makes one try. When it throws, the job is handed out again a little later. */
export type Handler = (job: DueAttempt) => Promise<void>

/**
 * Carries tries that are due to whoever makes them. It may hand out a job twice and may lose any at any time: what is
 * due stands in a read model, and is published again until it is recorded as done.
 */
export type DispatchFeed = {
  /** A job that was published already and is not done yet is not handed out a second time. */
  publish(jobs: readonly DueAttempt[]): Promise<void>
  /** Hands out jobs, so many at a time, until the signal aborts; those that are being handled are waited for. */
  consume(handler: Handler, atOnce: number, signal: AbortSignal): Promise<void>
}

/** By which a job is told from every other one, also from the next try of the same delivery. */
export const jobName = ({ deliveryId, attempt }: DueAttempt): string => `${deliveryId}.${attempt}`

import type { DueAttempt } from '../../projections/deliveries/due.ts'

/** Makes one attempt. If it throws, the job is handed out again a little later. */
export type Handler = (job: DueAttempt) => Promise<void>

/**
 * Carries due attempts to the processes that make them. It may hand out a job twice and may lose jobs: what
 * is due is in a read model, and is published again until it is recorded as done.
 */
export type DispatchFeed = {
  /** A job that was published already and is not done is not handed out a second time. */
  publish(jobs: readonly DueAttempt[]): Promise<void>
  /** Hands out jobs, at most `atOnce` concurrently, until the signal aborts; running ones are awaited. */
  consume(handler: Handler, atOnce: number, signal: AbortSignal): Promise<void>
}

/** A unique name of a job, different for each attempt of a delivery. */
export const jobName = ({ deliveryId, attempt }: DueAttempt): string => `${deliveryId}.${attempt}`

import type { LicenseEvent } from './events.ts'

/** The reason that a person gave. */
export type Why = { reason?: string | null | undefined }

/** The event, and why it was made if its person said so. */
export const withReason = (event: LicenseEvent, { reason, at }: Why & { at: string }): LicenseEvent[] =>
  reason ? [event, { type: 'ReasonGiven', data: { reason, at } }] : [event]

import { z } from 'zod'

export const LoadKind = z.enum([
  'validate',
  'heartbeat',
  'mint',
  'activate',
  'deactivate',
  'mixed',
  'consume-one',
  'consume-many',
])
export type LoadKind = z.infer<typeof LoadKind>

/** The options of one run of the open-loop load. */
export const LoadOptions = z.object({
  url: z.string(),
  token: z.string(),
  kind: LoadKind,
  perSecond: z.number(),
  seconds: z.number(),
  /** The number of imported licenses. */
  licenses: z.int(),
  /** With callers, each sends its next call when the last one was answered, and `perSecond` is the result. */
  callers: z.int().optional(),
  /** The license to start with, different for each run. */
  offset: z.int(),
})
export type LoadOptions = z.infer<typeof LoadOptions>

export const LoadMeasured = z.object({
  calls: z.int(),
  failed: z.int(),
  failure: z.string(),
  p50Ms: z.number(),
  p95Ms: z.number(),
  p99Ms: z.number(),
  p999Ms: z.number(),
  perSecond: z.number(),
})
export type LoadMeasured = z.infer<typeof LoadMeasured>

/** The key of an imported license, derived from its number. */
export const loadedKeyOf = (license: number): string => `bench license number ${license}`

/** The device of every license, also in a log that `fill.ts` has filled. */
export const loadedDeviceId = 'device-1'

/** The product of the licenses. */
export const loadedProductId = 'bench-app'

import { z } from 'zod'

export const LoadKind = z.enum(['validate', 'mint', 'activate', 'deactivate', 'mixed'])
export type LoadKind = z.infer<typeof LoadKind>

/** What one run of the open-loop load is to do. */
export const LoadOptions = z.object({
  url: z.string(),
  token: z.string(),
  kind: LoadKind,
  perSecond: z.number(),
  seconds: z.number(),
  /** How many licenses were imported. */
  licenses: z.int(),
  /** Where to begin among them: other runs take other ones. */
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
})
export type LoadMeasured = z.infer<typeof LoadMeasured>

/** The key of an imported license; every process of the bench can make it from the number. */
export const loadedKeyOf = (license: number): string => `bench license number ${license}`

/** The device that every license has, in a log that `fill.ts` fills as well. */
export const loadedDeviceId = 'device-1'

/** The product that the licenses are of. */
export const loadedProductId = 'bench-app'

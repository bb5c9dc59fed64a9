import { z } from 'zod'
import { Moment, text } from '../values.ts'

/** A channel of releases, such as `stable` or `beta`. */
export const ReleaseChannel = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,31}$/, 'must be up to 32 lowercase letters, digits and . _ -')

/** An address that apps show to people. */
export const ReleaseUrl = z
  .url({ protocol: /^https$/, error: 'must begin with https://' })
  .max(500)
  .refine((url) => !/[^\x21-\x7e]/.test(url), 'must have no spaces and only ASCII characters')

/** A build of a product that was given to customers. */
export const Release = z.strictObject({
  version: text(64),
  builtAt: Moment,
  channel: ReleaseChannel,
  url: ReleaseUrl.nullable(),
})
export type Release = z.infer<typeof Release>

export const maxReleases = 1000

/** The releases in one order, newest first, whatever order they were sent in. */
export const releasesInOrder = (releases: readonly Release[]): Release[] =>
  releases.toSorted(
    (a, b) => compare(b.builtAt, a.builtAt) || compare(a.version, b.version) || compare(a.channel, b.channel),
  )

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

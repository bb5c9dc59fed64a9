import { findNewestRelease } from '../../projections/products/releases.ts'
import { unixSeconds } from '../domain/licenses/expiry.ts'
import type { Ports } from '../ports.ts'

/** What an app says of its build. */
export type Build = {
  /** In the format of the log; null when it is not known. */
  builtAt: string | null
  /** The channel that it gets its releases from; null for any. */
  channel: string | null
}

/** What the answer to a build that is not covered says: until when builds are, and which is the newest of them. */
export type NotCovered = {
  /** In Unix seconds. */
  updates_until: number
  /** Absent when the product lists none. */
  newest_covered_release?: { version: string; built_at: number; url: string | null }
}

/** The end of a license's updates in an answer; nothing where the license covers every build. */
export const updatesShown = (updatesUntil: string | null): { updates_until?: number } =>
  updatesUntil === null ? {} : { updates_until: unixSeconds(updatesUntil) }

/** Reads the newest release that a license covers. Only for a build that it does not cover: it takes a query. */
export async function notCoveredAnswer(
  { db }: Ports<'db'>,
  { tenantId, productId }: { tenantId: string; productId: string },
  updatesUntil: string,
  channel: string | null,
): Promise<NotCovered> {
  const release = await findNewestRelease(db, tenantId, productId, { until: updatesUntil, channel })
  return {
    updates_until: unixSeconds(updatesUntil),
    ...(release && {
      newest_covered_release: {
        version: release.version,
        built_at: unixSeconds(release.builtAt),
        url: release.url,
      },
    }),
  }
}

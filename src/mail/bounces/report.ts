import { z } from 'zod'
import { isId } from '../../credentials/id.ts'
import type { Bounce } from '../../domain/deliveries/events.ts'

/** What a sender tells of one mail, in our terms. */
export type BounceReport = Omit<Bounce, 'sender' | 'at'> & { deliveryId: string }

/** A notification that may be used, with what it tells; `refused` when it is not from the sender. */
export type Verified = { reports: BounceReport[] } | 'refused'

/** A notification that is from the sender, and tells nothing of a mail of ours. */
export const nothing: Verified = { reports: [] }

/** Text that may be absent or of another type, which is as if it were absent. */
export const text = z.string().optional().catch(undefined)

type Told = {
  kind: Bounce['kind'] | undefined
  notificationId: string | undefined
  status?: string | undefined
  /** Where the id of the mail may stand. */
  ids: readonly (string | undefined)[]
}

/** One report, or none where the sender tells of something else or of no mail of ours. */
export function reportOf({ kind, notificationId, status, ids }: Told): BounceReport[] {
  const deliveryId = ids.map((id) => deliveryIdIn(id ?? '')).find((id) => id !== undefined)
  if (kind === undefined || !notificationId || notificationId.length > 200 || deliveryId === undefined)
    return []
  const isStatus = status !== undefined && /^[245]\.\d{1,3}\.\d{1,3}$/.test(status)
  return [{ deliveryId, kind, notificationId, status: isStatus ? status : null }]
}

/** An id alone, or a `Message-ID` as we write it. */
function deliveryIdIn(given: string): string | undefined {
  const [id = ''] = given.replace(/^</, '').split('@')
  return isId('whd', id) ? id : undefined
}

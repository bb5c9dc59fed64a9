import { timingSafeEqual } from 'node:crypto'
import { signatureHeaders } from './signature.ts'

/** A delivery as it arrived: header names in lower case. */
export type Arrived = { headers: Readonly<Record<string, string | undefined>>; body: string }

/** Whether each of the two schemes vouches for it; undefined for one whose headers are not there. */
export type Verdict = { own: boolean | undefined; standard: boolean | undefined }

const toleranceSeconds = 300

/** Checks a delivery as a receiver does. One that is older or younger than five minutes is vouched for by nobody. */
export function verifyDelivery(secret: string, { headers, body }: Arrived, now: Date): Verdict {
  const own = headers['x-service-signature']
  const standard = headers['webhook-signature']
  const id = headers['webhook-id'] ?? ''
  const signedAt = (timestamp: number) => {
    if (Math.abs(now.getTime() / 1000 - timestamp) > toleranceSeconds) return undefined
    return signatureHeaders([secret], { id, timestamp, body })
  }
  return {
    own: own === undefined ? undefined : isAmong(own, signedAt(stampIn(own))?.['x-service-signature'], ','),
    standard:
      standard === undefined
        ? undefined
        : isAmong(standard, signedAt(Number(headers['webhook-timestamp']))?.['webhook-signature'], ' '),
  }
}

/** Neither may be wrong, and one must be there. */
export const isVerified = ({ own, standard }: Verdict): boolean =>
  own !== false && standard !== false && (own ?? standard) !== undefined

const stampIn = (header: string): number => Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(header)?.[1])

/** Whether one of the signatures that were sent is the last of the ones expected. */
function isAmong(sent: string, expected: string | undefined, separator: string): boolean {
  const wanted = Buffer.from(expected?.split(separator).at(-1) ?? '')
  if (wanted.length === 0) return false
  return sent.split(separator).some((signature) => {
    const given = Buffer.from(signature)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}

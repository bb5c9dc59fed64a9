import { timingSafeEqual } from 'node:crypto'
import { signatureHeaders } from './signature.ts'

/** A received delivery, with header names in lower case. */
export type Arrived = { headers: Readonly<Record<string, string | undefined>>; body: string }

/** Whether the signature of each scheme is valid; undefined without its headers. */
export type Verdict = { own: boolean | undefined; standard: boolean | undefined }

const toleranceSeconds = 300

/** Verifies a delivery as a receiver does. A timestamp more than five minutes from now is not valid. */
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

/** Whether at least one signature is there and none is wrong. */
export const isVerified = ({ own, standard }: Verdict): boolean =>
  own !== false && standard !== false && (own ?? standard) !== undefined

const stampIn = (header: string): number => Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(header)?.[1])

/** Whether one of the sent signatures is the last of the expected ones. */
function isAmong(sent: string, expected: string | undefined, separator: string): boolean {
  const wanted = Buffer.from(expected?.split(separator).at(-1) ?? '')
  if (wanted.length === 0) return false
  return sent.split(separator).some((signature) => {
    const given = Buffer.from(signature)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}

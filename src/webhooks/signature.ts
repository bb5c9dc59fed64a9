import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

/** The signed data: the id of the delivery, the second of the attempt, and the body as sent. */
export type Signed = { id: string; timestamp: number; body: string }

/** The headers that authenticate a delivery and its time. */
export type SignatureHeaders = {
  'x-service-signature': string
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

/**
 * Signs a delivery by both schemes, with each secret: during a rotation there are two, and a receiver that
 * knows one of them accepts.
 *
 * | header                | signed with             | over                       | written as                 |
 * | --------------------- | ----------------------- | -------------------------- | -------------------------- |
 * | `X-Service-Signature` | the secret's whole text | `<timestamp>.<body>`       | `t=<timestamp>,v1=<hex>`   |
 * | `webhook-signature`   | the bytes it encodes    | `<id>.<timestamp>.<body>`  | `v1,<base64>`              |
 *
 * @param secrets `whsec_…`, the newest first
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signatureHeaders(
  secrets: readonly string[],
  { id, timestamp, body }: Signed,
): SignatureHeaders {
  const own = secrets.map((secret) => `v1=${hmac(secret, `${timestamp}.${body}`).digest('hex')}`)
  const standard = secrets.map((secret) => {
    const key = createSecretKey(secret.slice('whsec_'.length), 'base64')
    return `v1,${hmac(key, `${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'x-service-signature': [`t=${timestamp}`, ...own].join(','),
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  }
}

const hmac = (key: string | KeyObject, text: string) => createHmac('sha256', key).update(text)

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

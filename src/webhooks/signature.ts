import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

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

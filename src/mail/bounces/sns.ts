import { createPublicKey, verify } from 'node:crypto'
import { z } from 'zod'
import type { GuardedFetch } from '../../access/openid/fetch.ts'

/** Reads a page of Amazon SNS. @throws ProviderUnreachable when it does not answer */
export type ReadFromSns = (url: string) => Promise<string>

const Message = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string(),
  TopicArn: z.string(),
  Message: z.string(),
  Timestamp: z.string(),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string(),
  SigningCertURL: z.string(),
  Subject: z.string().optional(),
  SubscribeURL: z.string().optional(),
  Token: z.string().optional(),
})

/** A message of Amazon SNS, with which it notifies, or asks whether it may. */
export const SnsMessage = Message
export type SnsMessage = z.infer<typeof Message>

/**
 * Reads what Amazon SNS serves, and nothing else. Certificates are kept: one signs for a long time.
 */
export function createSnsReader(fetch: GuardedFetch): ReadFromSns {
  const certificates = new Map<string, string>()
  return async (url) => {
    const known = certificates.get(url)
    if (known !== undefined) return known
    const response = await fetch(url, { method: 'GET', headers: {} })
    const body = await response.text()
    if (response.ok && url.endsWith('.pem')) {
      if (certificates.size >= mostCertificates) certificates.clear()
      certificates.set(url, body)
    }
    return body
  }
}

const mostCertificates = 100

/** Whether a URL is one of Amazon SNS itself. A bucket or a server of somebody else's at Amazon has another host. */
export function isOfSns(text: string): boolean {
  const url = URL.parse(text)
  return (
    url?.protocol === 'https:' &&
    url.port === '' &&
    url.username === '' &&
    url.password === '' &&
    /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(?:\.cn)?$/.test(url.host)
  )
}

/** The fields that are signed, in their order; those that are absent are left out. */
const signedFields = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
} as const

/**
 * Whether Amazon SNS signed a message. The certificate must be one that it serves under its own host.
 * @see https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
export async function isSignedBySns(message: SnsMessage, read: ReadFromSns): Promise<boolean> {
  const { Type, SignatureVersion, Signature, SigningCertURL } = message
  if (!isOfSns(SigningCertURL) || !SigningCertURL.endsWith('.pem')) return false
  const fields = signedFields[Type === 'Notification' ? Type : 'SubscriptionConfirmation']
  const signed = fields
    .flatMap((field) => {
      const value = message[field]
      return value === undefined ? [] : [`${field}\n${value}\n`]
    })
    .join('')
  const certificate = await read(SigningCertURL)
  try {
    const algorithm = SignatureVersion === '1' ? 'sha1' : 'sha256'
    const signature = Buffer.from(Signature, 'base64')
    return verify(algorithm, Buffer.from(signed), createPublicKey(certificate), signature)
  } catch {
    return false
  }
}

import { z } from 'zod'

/** The services that send mails for a vendor, and tell of those that bounced. */
export const MailSender = z.enum(['postmark', 'sendgrid', 'mailgun', 'amazon_ses', 'resend'])
export type MailSender = z.infer<typeof MailSender>

/** How a mail that a server had accepted failed, or was not wanted. */
export const BounceKind = z.enum([
  /** The address takes no mail: it does not exist, or the sender no longer sends to it. */
  'permanent',
  /** It did not arrive for now: a full mailbox, a server that is down or refuses it at the moment. */
  'transient',
  /** The customer marked it as spam. */
  'complaint',
])
export type BounceKind = z.infer<typeof BounceKind>

type Described = {
  name: string
  /** What the vendor enters for it; null for nothing. */
  key: { label: string; example: string; is: (key: string) => boolean; must: string } | null
}

const isBase64 = (key: string): boolean => /^[A-Za-z0-9+/]+={0,2}$/.test(key)

/** What each sender is called, and what its notifications are verified with. */
export const mailSenders = {
  postmark: { name: 'Postmark', key: null },
  sendgrid: {
    name: 'SendGrid',
    key: {
      label: 'Verification key',
      example: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE…',
      // The beginning of every public key on the curve P-256.
      is: (key) =>
        isBase64(key) && key.length === 124 && key.startsWith('MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE'),
      must: 'must be the verification key of the signed event webhook; copy it from its security features',
    },
  },
  mailgun: {
    name: 'Mailgun',
    key: {
      label: 'HTTP webhook signing key',
      example: '3f9a0c5d7e1b48269d0c7a5e4b1f2d68',
      is: (key) => /^[!-~]{16,200}$/.test(key),
      must: 'must be the HTTP webhook signing key; copy it from the API security page',
    },
  },
  amazon_ses: {
    name: 'Amazon SES',
    key: {
      label: 'ARN of the SNS topic',
      example: 'arn:aws:sns:eu-central-1:123456789012:bounces',
      is: (key) => /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w.-]{1,256}$/.test(key),
      must: 'must be the ARN of the SNS topic that gets the notifications, such as arn:aws:sns:eu-central-1:123456789012:bounces',
    },
  },
  resend: {
    name: 'Resend',
    key: {
      label: 'Signing secret',
      example: 'whsec_…',
      is: (key) => key.startsWith('whsec_') && key.length >= 30 && isBase64(key.slice('whsec_'.length)),
      must: 'must be the signing secret of the webhook, which begins with whsec_; copy it from the page of the webhook',
    },
  },
} as const satisfies Record<MailSender, Described>

/** What is wrong with the key that a vendor enters for a sender, and what to do about it; undefined if nothing is. */
export function senderKeyProblem(sender: MailSender, key: string | null): string | undefined {
  const { name, key: wanted }: Described = mailSenders[sender]
  if (wanted === null) return key === null ? undefined : `must be left out: ${name} signs nothing`
  return key !== null && wanted.is(key) ? undefined : wanted.must
}

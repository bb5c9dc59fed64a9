import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { MailSender } from '../../src/domain/mails/senders.ts'

/** A notification as a sender posts it. */
export type Posted = { raw: string; headers?: Record<string, string> }

/** A sender as the tests play it: how it tells of a mail by its id, with the headers that it got, and signs that. */
export type PlayedSender = {
  key: string | null
  /** @param id the sender's own id of the notification */
  tells: (kind: 'permanent' | 'transient' | 'complaint', mail: SentMail, id: string) => Posted
  /** Signs the same with another key; undefined for a sender that signs nothing. */
  forges?: (posted: Posted) => Posted
}

/** A mail as the mail server took it: its headers by their lower-case names. */
export type SentMail = { headers: Record<string, string> }

/** The headers of a raw mail, unfolded. */
export function headersOf(raw: string): Record<string, string> {
  const [head = ''] = raw.split('\r\n\r\n')
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}

const listed = ({ headers }: SentMail) => Object.entries(headers).map(([name, value]) => ({ name, value }))
const own = (json = '{}') => JSON.parse(json) as Record<string, unknown>

const postmark: PlayedSender = {
  key: null,
  tells: (kind, { headers }, id) => ({
    raw: JSON.stringify({
      RecordType: kind === 'complaint' ? 'SpamComplaint' : 'Bounce',
      MessageStream: 'outbound',
      ID: Number(id),
      Type: { permanent: 'HardBounce', transient: 'SoftBounce', complaint: 'SpamComplaint' }[kind],
      MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
      Details: 'smtp;550 5.1.1 no such user <ada@example.com>',
      Email: 'ada@example.com',
      BouncedAt: '2026-03-01T12:00:00Z',
      Inactive: kind !== 'transient',
      Metadata: { delivery: headers['x-pm-metadata-delivery'] },
    }),
  }),
}

const sendGridKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const signedBySendGrid = (raw: string, { privateKey } = sendGridKeys): Posted => ({
  raw,
  headers: {
    'x-twilio-email-event-webhook-timestamp': '1772366400',
    'x-twilio-email-event-webhook-signature': sign(
      'sha256',
      Buffer.from(`1772366400${raw}`),
      privateKey,
    ).toString('base64'),
  },
})
const sendgrid: PlayedSender = {
  key: sendGridKeys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  tells: (kind, { headers }, id) =>
    signedBySendGrid(
      JSON.stringify([
        { email: 'ada@example.com', event: 'processed', sg_event_id: `p${id}`, timestamp: 1_772_366_400 },
        {
          email: 'ada@example.com',
          event: kind === 'complaint' ? 'spamreport' : 'bounce',
          ...(kind !== 'complaint' && {
            type: kind === 'transient' ? 'blocked' : 'bounce',
            status: '5.1.1',
            reason: '550 5.1.1 <ada@example.com>: no such user',
          }),
          sg_event_id: id,
          'smtp-id': headers['message-id'],
          timestamp: 1_772_366_400,
          ...(own(headers['x-smtpapi']).unique_args as object),
        },
      ]),
    ),
  forges: ({ raw }) => signedBySendGrid(raw, generateKeyPairSync('ec', { namedCurve: 'P-256' })),
}

const mailgunKey = '3f9a0c5d7e1b48269d0c7a5e4b1f2d68'
const mailgunSignature = (token: string, key = mailgunKey) => ({
  timestamp: '1772366400',
  token,
  signature: createHmac('sha256', key).update(`1772366400${token}`).digest('hex'),
})
const mailgun: PlayedSender = {
  key: mailgunKey,
  tells: (kind, { headers }, id) => ({
    raw: JSON.stringify({
      signature: mailgunSignature(id),
      'event-data': {
        event: kind === 'complaint' ? 'complained' : 'failed',
        ...(kind !== 'complaint' && { severity: kind === 'transient' ? 'temporary' : 'permanent' }),
        recipient: 'ada@example.com',
        'delivery-status': { code: 550, 'enhanced-code': '5.1.1', message: 'no such user' },
        'user-variables': own(headers['x-mailgun-variables']),
        message: { headers: { 'message-id': headers['message-id']?.replace(/[<>]/g, '') } },
      },
    }),
  }),
  forges: ({ raw }) => ({
    raw: JSON.stringify({ ...own(raw), signature: mailgunSignature('42', 'another key of sixteen') }),
  }),
}

const resendSecret = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const signedByResend = (raw: string, id: string, secret = resendSecret): Posted => {
  const timestamp = '1772366400'
  const mac = createHmac('sha256', Buffer.from(secret, 'base64')).update(`${id}.${timestamp}.${raw}`)
  return {
    raw,
    headers: {
      'svix-id': id,
      'svix-timestamp': timestamp,
      'svix-signature': `v1,AAAA v1,${mac.digest('base64')}`,
    },
  }
}
const resend: PlayedSender = {
  key: `whsec_${resendSecret}`,
  tells: (kind, mail, id) =>
    signedByResend(
      JSON.stringify({
        type: kind === 'complaint' ? 'email.complained' : 'email.bounced',
        created_at: '2026-03-01T12:00:00.000Z',
        data: {
          ...(kind !== 'complaint' && {
            bounce: {
              message: 'no such user',
              type: kind === 'transient' ? 'Transient' : 'Permanent',
              subType: 'General',
            },
          }),
          email_id: '56761188-7520-42d8-8898-ff6fc54ce618',
          headers: listed(mail),
          to: ['ada@example.com'],
        },
      }),
      id,
    ),
  forges: ({ raw }) => signedByResend(raw, '42', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'),
}

export const topic = 'arn:aws:sns:eu-central-1:123456789012:bounces'
export const certificateUrl = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0a1b2c.pem'
const snsKeys = generateKeyPairSync('rsa', { modulusLength: 2048 })
/** What the tests serve as the certificate. */
export const certificate = snsKeys.publicKey.export({ format: 'pem', type: 'spki' }).toString()

/** Signs a message as Amazon SNS does. */
export function signedBySns(fields: Record<string, string>, { privateKey } = snsKeys): Posted {
  const message = { Timestamp: '2026-03-01T12:00:00.000Z', TopicArn: topic, ...fields }
  const names = Object.keys(message).sort()
  const text = names.map((name) => `${name}\n${(message as Record<string, string>)[name]}\n`).join('')
  return {
    raw: JSON.stringify({
      ...message,
      SignatureVersion: '2',
      Signature: sign('sha256', Buffer.from(text), privateKey).toString('base64'),
      SigningCertURL: certificateUrl,
    }),
    headers: { 'content-type': 'text/plain; charset=UTF-8' },
  }
}
const amazonSes: PlayedSender = {
  key: topic,
  tells: (kind, mail, id) =>
    signedBySns({
      Type: 'Notification',
      MessageId: `m${id}`,
      Message: JSON.stringify({
        notificationType: kind === 'complaint' ? 'Complaint' : 'Bounce',
        ...(kind === 'complaint'
          ? { complaint: { feedbackId: id, complainedRecipients: [{ emailAddress: 'ada@example.com' }] } }
          : {
              bounce: {
                feedbackId: id,
                bounceType: kind === 'transient' ? 'Transient' : 'Permanent',
                bouncedRecipients: [{ emailAddress: 'ada@example.com', status: '5.1.1' }],
              },
            }),
        mail: { messageId: '0102', destination: ['ada@example.com'], headers: listed(mail) },
      }),
    }),
  forges: ({ raw }) => {
    const { SignatureVersion: _, Signature: __, SigningCertURL: ___, ...fields } = own(raw)
    return signedBySns(fields as Record<string, string>, generateKeyPairSync('rsa', { modulusLength: 2048 }))
  },
}

/** Every sender, played. */
export const playedSenders: Record<MailSender, PlayedSender> = {
  postmark,
  sendgrid,
  mailgun,
  amazon_ses: amazonSes,
  resend,
}

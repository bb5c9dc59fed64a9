import { TimeoutError, withTimeout } from '../async/timeout.ts'
import { logoSource } from '../domain/mails/content.ts'
import type { Correspondent } from '../domain/mails/template.ts'
import type { PortalLogo } from '../domain/portal/events.ts'
import { idHeaders } from './id-headers.ts'
import type { Mailer, MailProblem, OutgoingMail, Sending } from './mailer.ts'

/** The time limit of a whole attempt, and of each wait within it. */
const attemptMs = 15_000
const maxOfAnswer = 1024

/**
 * Sends mails through a mail server, a few at a time. @param url `smtp://…` or `smtps://…`, with credentials
 */
export function createSmtpMailer(url: string): Mailer {
  let transport: ReturnType<typeof connect> | undefined
  return {
    async send(mail) {
      try {
        transport ??= connect(url)
        const sent = await (await transport).sendMail({
          ...messageOf(mail),
          signal: AbortSignal.timeout(attemptMs),
        })
        return { taken: true, status: statusIn(sent.response), answer: shortened(sent.response) }
      } catch (error) {
        return failureOf(error)
      }
    },
    async close() {
      ;(await transport)?.close()
    },
  }
}

/**
 * Connects to a mail server and authenticates, without sending a mail.
 * @param url as for {@link createSmtpMailer}
 */
export async function verifySmtp(url: string, timeLimitMs: number): Promise<Sending> {
  const transport = await connect(url, timeLimitMs)
  try {
    await withTimeout(transport.verify(), timeLimitMs)
    return { taken: true, status: null, answer: '' }
  } catch (error) {
    if (error instanceof TimeoutError) return { taken: false, problem: 'timeout', status: null, answer: null }
    return failureOf(error)
  } finally {
    transport.close()
  }
}

/** Loaded with the first mail: most processes send none. */
async function connect(url: string, limitMs = attemptMs) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    pool: true,
    maxConnections: 4,
    // A mail may have been accepted before its connection broke; the next attempt repeats it and records the
    // result.
    maxRequeues: 0,
    connectionTimeout: limitMs,
    greetingTimeout: limitMs,
    socketTimeout: limitMs,
    dnsTimeout: limitMs,
    // A template is only text; it must not include files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** Addresses are objects, so that none is parsed as a list of several. */
function messageOf({
  deliveryId,
  from,
  to,
  replyTo,
  subject,
  text,
  html,
  logo,
  attachments = [],
}: OutgoingMail) {
  return {
    // The same in every attempt, so that a mailbox can recognize a repeated mail.
    messageId: `<${deliveryId}@${from.email.split('@').at(-1)}>`,
    from: addressOf(from),
    to: [addressOf(to)],
    ...(replyTo !== null && { replyTo: [addressOf({ name: null, email: replyTo })] }),
    subject,
    text,
    ...(html !== null && { html }),
    headers: { 'Auto-Submitted': 'auto-generated', ...idHeaders(deliveryId) },
    attachments: [
      ...(logo ? [inlineLogo(logo)] : []),
      ...attachments.map(({ name, content }) => ({
        filename: name,
        content,
        contentType: 'application/json',
      })),
    ],
  }
}

/** Shown within the HTML, and by most mail programs not listed as a file. */
const inlineLogo = ({ type, data }: PortalLogo) => ({
  filename: `logo.${type.slice('image/'.length)}`,
  content: Buffer.from(data, 'base64'),
  contentType: type,
  cid: logoSource.slice('cid:'.length),
  contentDisposition: 'inline' as const,
})

const addressOf = ({ name, email }: Correspondent) => ({ name: name ?? '', address: email })

const problems: Record<string, MailProblem> = {
  EENVELOPE: 'refused',
  EMESSAGE: 'refused',
  EAUTH: 'authentication',
  ENOAUTH: 'authentication',
  ETLS: 'tls',
  EREQUIRETLS: 'tls',
  EDNS: 'name',
  ETIMEDOUT: 'timeout',
  EABORT: 'timeout',
  ECONNECTION: 'connection',
  ESOCKET: 'connection',
  EPROTOCOL: 'connection',
}

/** Describes a failure without the error's message, which may quote the mail. */
function failureOf(error: unknown): Sending {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const response = error instanceof Error && 'response' in error ? error.response : undefined
  const answer = typeof response === 'string' ? shortened(response) : null
  const status = answer === null ? null : statusIn(answer)
  return { taken: false, problem: problems[code] ?? 'internal', status, answer }
}

/** `250 2.0.0 OK` */
function statusIn(response: string): number | null {
  const code = /^[2-5]\d\d/.exec(response)?.[0]
  return code === undefined ? null : Number(code)
}

const shortened = (response: string): string => response.slice(0, maxOfAnswer)
